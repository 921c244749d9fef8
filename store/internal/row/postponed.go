package row

// Postponed lists jobs with a requested start that were put off because an overdue job was on their
// nodes, in the order of their numbers. If there are none, there is no row.
type Postponed struct {
	Tried uint64 // the invalidation at which they were last examined
	Jobs  []PostponedJob
}

// PostponedJob is such a job.
type PostponedJob struct {
	Job    uint64
	Wanted int64 // its requested start
}

const postponedVersion = 1

func postponedFields(f *Fields, p *Postponed) {
	f.Version(postponedVersion)
	Uint(f, "tried", &p.Tried)
	for i := range Items(f, "jobs", &p.Jobs) {
		Uint(f, "job", &p.Jobs[i].Job)
		f.At("wanted", &p.Jobs[i].Wanted, Wish)
		f.Next()
	}
}

// EncodePostponed returns the row.
func EncodePostponed(p *Postponed) []byte { return encode(postponedFields, p) }

// DecodePostponed reads it.
func DecodePostponed(payload []byte) (*Postponed, error) {
	return decode(Meta, postponedFields, KeyPostponed, payload)
}
