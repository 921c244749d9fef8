package row

// PastRun holds what forecasts learn from an ended job that is no longer in the file.
type PastRun struct {
	Job        uint64
	User, Name string
	Asked      int64 // its walltime in seconds
	Size       int64 // its cpus
	End        int64
	Ran        int64 // seconds
}

func pastRunFields(f *Fields, p *PastRun) {
	f.Version(1)
	KeyPart(f, "job", 0, 8, 8, &p.Job)
	f.Text("user", &p.User)
	f.Text("name", &p.Name)
	Int(f, "asked", &p.Asked)
	Int(f, "size", &p.Size)
	f.At("end", &p.End, Past)
	Int(f, "ran", &p.Ran)
	f.Must(p.Asked > 0 && p.Ran >= 0)
}

// EncodePastRun returns the row of a past run.
func EncodePastRun(p *PastRun) []byte { return encode(pastRunFields, p) }

// DecodePastRun reads it.
func DecodePastRun(key, payload []byte) (*PastRun, error) {
	return decode(PastRuns, pastRunFields, key, payload)
}
