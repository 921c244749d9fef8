package row

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/subject"
)

// LimitKey returns the key of a rule.
func LimitKey(r *limits.Rule) []byte {
	key := append(LimitPrefix(r.Key), r.Measure.String()...)
	if r.Soft {
		key = append(key, softSuffix...)
	}
	return key
}

// softSuffix ends the key of a soft rule. There may be a hard rule beside it. On disk; must
// not change.
const softSuffix = "\x00soft"

// LimitPrefix returns the prefix of the keys of the rules with a key.
func LimitPrefix(key subject.Key) []byte { return append([]byte(key.String()), 0) }

func limitFields(f *Fields, r *limits.Rule) {
	f.Version(1)
	switch f.dir {
	case writing:
	case reading:
		f.Must(limitOfKey(f.key, r))
	default: // its key as fields
		keyFields(f, "key", &r.Key)
		f.Text("measure.resource", &r.Measure.Resource)
		Byte(f, "measure.form", &r.Measure.Form)
		f.fact("soft", &r.Soft)
	}
	Int(f, "max", &r.Max)
	f.Bound(r.Max >= 0 && r.Max <= r.Measure.Most())
}

func limitOfKey(key []byte, r *limits.Rule) bool {
	head, soft := bytes.CutSuffix(key, []byte(softSuffix))
	of, measure, found := bytes.Cut(head, []byte{0})
	var err error
	if r.Key, err = subject.Shared.ParseKey(string(of)); err == nil {
		r.Measure, err = limits.ParseMeasure(string(measure))
	}
	r.Soft = soft
	return err == nil && found
}

func keyFields(f *Fields, name string, key *subject.Key) {
	for i := range Items(f, name, (*[]subject.Subject)(key)) {
		subjectFields(f, &(*key)[i])
		f.Next()
	}
}

func subjectFields(f *Fields, s *subject.Subject) {
	Byte(f, "kind", &s.Kind)
	f.Text("name", &s.Name)
}

// LimitRow is the row of a rule.
var LimitRow = Kind[limits.Rule]{Limits, limitFields}

// LimitSumRow is the row of a rule's count for a subject.
var LimitSumRow = Kind[int64]{LimitSums, numberFields}

// limitPrefix begins the keys of what rules count in Holdings. On disk; must not change.
const limitPrefix = "limit:"

// LimitHoldings returns the prefix of the keys of all that rules count in Holdings.
func LimitHoldings() []byte { return []byte(limitPrefix) }

// LimitCounter returns the name of a rule's counter for a subject. HoldingKey makes its keys
// in Holdings. In LimitSums the name is the key.
func LimitCounter(a *limits.Applied) string {
	return limitPrefix + a.Rule.String() + "\x01" + a.Whom
}

// LimitCounterOf returns the rule's name and the subject that it counts for.
func LimitCounterOf(counter string) (rule, whom string, ok bool) {
	head, whom, found := strings.Cut(counter, "\x01")
	rule, is := strings.CutPrefix(head, limitPrefix)
	return rule, whom, found && is
}

// holderOf returns the owner of a key of Holdings.
func holderOf(key []byte) (owner uint64, ok bool) {
	if at := len(key) - 9; at > 0 && key[at] == 0 {
		return binary.BigEndian.Uint64(key[at+1:]), true
	}
	return 0, false
}

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

// ClaimRow is the row of a claim.
var ClaimRow = Kind[Claim]{Claims, claimFields}
