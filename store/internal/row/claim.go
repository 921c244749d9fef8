package row

import "github.com/placectl/placectl/placer/limits"

// Claim keeps room in limits for a job that a limit holds back, from the earliest start that
// the jobs before it leave.
type Claim struct {
	Job        uint64
	Start, End int64
	Slid       int // how often cycles have put it off
	Held       []ClaimHeld
}

// ClaimHeld is how much of a counter it keeps.
type ClaimHeld struct {
	Counter string // as in LimitSums
	Amount  int64
}

// Holder returns what the claim keeps of one of its counters.
func (c *Claim) Holder(h ClaimHeld) limits.Holder {
	return limits.Holder{Owner: JobOwner(c.Job), Start: c.Start, End: c.End, Amount: h.Amount, Claim: true}
}

func claimFields(f *Fields, c *Claim) {
	f.Version(1)
	KeyPart(f, "job", 0, 8, 8, &c.Job)
	f.At("start", &c.Start, Begins)
	f.At("end", &c.End, Ends)
	Uint(f, "slid", &c.Slid)
	for i := range Items(f, "held", &c.Held) {
		h := &c.Held[i]
		f.Text("counter", &h.Counter)
		Int(f, "amount", &h.Amount)
		if f.dir == reading {
			_, _, rule := LimitCounterOf(h.Counter)
			f.Must(rule && h.Amount > 0 && h.Amount <= limits.MaxAmount)
		}
		f.Next()
	}
	f.Must(c.Start < c.End)
}

// EncodeClaim returns the row of a claim.
func EncodeClaim(c *Claim) []byte { return encode(claimFields, c) }

// DecodeClaim reads it.
func DecodeClaim(key, payload []byte) (*Claim, error) {
	return decode(Claims, claimFields, key, payload)
}
