package row

import (
	"math"

	"github.com/placectl/placectl/placer/preempt"
)

const preemptVersion = 1

func preemptFields(f *Fields, r *preempt.Rule) {
	f.Version(preemptVersion)
	switch f.dir {
	case writing:
	case reading:
		said, err := preempt.Parse(string(f.key))
		if err != nil || said.String() != string(f.key) {
			f.bad, said = true, new(preempt.Rule)
		}
		*r = *said
	default: // its key as fields
		termFields(f, "over", &r.Over)
		termFields(f, "under", &r.Under)
		f.fact("soft", &r.Soft)
	}
	Byte(f, "how", &r.How)
	Int(f, "grace", &r.Grace)
	Int(f, "minRun", &r.MinRun)
	Int(f, "atMost", &r.AtMost)
	f.Must(r.How <= preempt.Cancel && r.Grace >= preempt.OwnGrace && r.MinRun >= 0 && r.AtMost >= 0 && r.AtMost <= math.MaxInt32)
}

func termFields(f *Fields, name string, key *preempt.Key) {
	for i := range Items(f, name, (*[]preempt.Term)(key)) {
		f.Text("kind", &(*key)[i].Kind)
		f.Text("name", &(*key)[i].Name)
		f.Next()
	}
}

// EncodePreempt returns the row of a preemption rule. Its key is the rule as text.
func EncodePreempt(r *preempt.Rule) []byte { return encode(preemptFields, r) }

// DecodePreempt reads it.
func DecodePreempt(key, payload []byte) (*preempt.Rule, error) {
	return decode(Preempts, preemptFields, key, payload)
}
