package row

import "github.com/placectl/placectl/placer/limits"

// Claim is the time for which a job that a limit keeps has room kept in limits: from the
// earliest start that the jobs before it leave.
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

// Holder is what the claim keeps of one of its counters.
func (c *Claim) Holder(h ClaimHeld) limits.Holder {
	return limits.Holder{Owner: JobOwner(c.Job), Start: c.Start, End: c.End, Amount: h.Amount, Claim: true}
}

// EncodeClaim is the row of a claim.
func EncodeClaim(c *Claim) []byte {
	e := encoder{}
	e.byte(1)
	e.int(c.Start)
	e.int(c.End)
	e.uint(uint64(c.Slid))
	e.uint(uint64(len(c.Held)))
	for _, h := range c.Held {
		e.string(h.Counter)
		e.int(h.Amount)
	}
	return e.b
}

// DecodeClaim reads it.
func DecodeClaim(key, payload []byte) (*Claim, error) {
	d := decoder{b: payload}
	d.byte()
	c := &Claim{Start: d.int(), End: d.int(), Slid: int(d.uint())}
	for range d.count() {
		h := ClaimHeld{d.string(), d.int()}
		_, _, rule := LimitCounterOf(h.Counter)
		d.bad = d.bad || !rule || h.Amount <= 0 || h.Amount > limits.MaxAmount
		c.Held = append(c.Held, h)
	}
	if d.bad = d.bad || len(key) != 8 || c.Start >= c.End; !d.bad {
		c.Job = Number64(key)
	}
	return c, d.done(Claims, key)
}
