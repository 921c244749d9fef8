package row

import (
	"math"

	"github.com/placectl/placectl/placer/preempt"
)

const preemptVersion = 1

// EncodePreempt is the row of a rule about whose jobs make way for whose. Its key is the
// rule as text.
func EncodePreempt(r *preempt.Rule) []byte {
	e := encoder{}
	e.byte(preemptVersion)
	e.byte(byte(r.How))
	for _, n := range []int64{r.Grace, r.MinRun, int64(r.AtMost)} {
		e.int(n)
	}
	return e.b
}

// DecodePreempt reads it.
func DecodePreempt(key, payload []byte) (*preempt.Rule, error) {
	d := decoder{b: payload}
	d.byte()
	r, err := preempt.Parse(string(key))
	if err != nil || r.String() != string(key) {
		d.bad, r = true, new(preempt.Rule)
	}
	r.How, r.Grace, r.MinRun = preempt.How(d.byte()), d.int(), d.int()
	atMost := d.int()
	r.AtMost = int(atMost)
	d.bad = d.bad || r.How > preempt.Cancel || r.Grace < preempt.OwnGrace || r.MinRun < 0 || atMost < 0 || atMost > math.MaxInt32
	return r, d.done(Preempts, key)
}
