package row

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/placectl/placectl/placer/limits"
)

// LimitKey is the key of a rule, LimitPrefix how those of all rules with a key begin.
func LimitKey(r *limits.Rule) []byte {
	key := append(LimitPrefix(r.Key), r.Measure.String()...)
	if r.Soft {
		key = append(key, softSuffix...)
	}
	return key
}

// softSuffix ends the key of a soft rule, beside which there may be a hard one. On disk; must
// not change.
const softSuffix = "\x00soft"

// LimitPrefix is how the keys of the rules with a key begin.
func LimitPrefix(key limits.Key) []byte { return append([]byte(key.String()), 0) }

// EncodeLimit is the row of a rule.
func EncodeLimit(r *limits.Rule) []byte {
	e := encoder{}
	e.byte(1)
	e.int(r.Max)
	return e.b
}

// DecodeLimit reads it.
func DecodeLimit(key, payload []byte) (*limits.Rule, error) {
	d := decoder{b: payload}
	d.byte()
	r := &limits.Rule{Max: d.int()}
	head, soft := bytes.CutSuffix(key, []byte(softSuffix))
	of, measure, found := bytes.Cut(head, []byte{0})
	var err error
	if r.Key, err = limits.ParseKey(string(of)); err == nil {
		r.Measure, err = limits.ParseMeasure(string(measure))
	}
	if err != nil || !found || r.Max < 0 || r.Max > limits.MaxAmount {
		return nil, fmt.Errorf("%w: limit %q", ErrDamaged, key)
	}
	r.Soft = soft
	return r, d.done(Limits, key)
}

// EncodeLimitSum is the row of how much a rule counts for somebody.
func EncodeLimitSum(n int64) []byte {
	e := encoder{}
	e.byte(1)
	e.int(n)
	return e.b
}

// DecodeLimitSum reads it.
func DecodeLimitSum(key, payload []byte) (int64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.int()
	return n, d.done(LimitSums, key)
}

// limitPrefix begins what rules count in Holdings. On disk; must not change.
const limitPrefix = "limit:"

// LimitHoldings is how the keys of all that rules count in Holdings begin.
func LimitHoldings() []byte { return []byte(limitPrefix) }

// LimitCounter is the counter of what a rule counts for somebody: its key in Holdings is
// HoldingKey's, that in LimitSums its text.
func LimitCounter(a *limits.Applied) string {
	return limitPrefix + a.Rule.String() + "\x01" + a.Whom
}

// LimitCounterOf finds the rule's name and whom it is counted for.
func LimitCounterOf(counter string) (rule, whom string, ok bool) {
	head, whom, found := strings.Cut(counter, "\x01")
	rule, is := strings.CutPrefix(head, limitPrefix)
	return rule, whom, found && is
}

// holderOf is the owner of a key of Holdings.
func holderOf(key []byte) (owner uint64, ok bool) {
	if at := len(key) - 9; at > 0 && key[at] == 0 {
		return binary.BigEndian.Uint64(key[at+1:]), true
	}
	return 0, false
}
