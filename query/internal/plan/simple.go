package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/values"
)

// simpleComparison is a comparison of a column with a constant as what is decided in loops
// where the column is in memory; nil where it is something else. Both sides have been read,
// and are compared under an affinity.
func simpleComparison(op string, a, b exec.Code, affinity values.Affinity, collate values.Collation) []exec.Comparison {
	if !a.Column {
		a, b = b, a
		if to := mirrored[op]; to != "" {
			op = to
		}
	}
	v, ok := b.ConstantOf()
	if !ok || b.Sub || !a.Column || v.IsNull() {
		return nil
	}
	holds := outcomes[op]
	switch v = affinity.Apply(v); {
	case v.Kind() != values.Text && affinity != values.TextAffinity:
		return []exec.Comparison{{Slot: a.Slot, Column: a.Col, Holds: *holds, With: v}}
	case v.Kind() != values.Text:
		return nil
	}
	return simpleText(a, affinity, func(text string) bool {
		return holds[sign(values.Compare(values.String(text), v, collate))+1]
	})
}

// simpleText is a condition on the texts of a column that is not converted for it.
func simpleText(a exec.Code, affinity values.Affinity, holds func(string) bool) []exec.Comparison {
	if !a.Column || affinity.Numeric() {
		return nil
	}
	return []exec.Comparison{{Slot: a.Slot, Column: a.Col, Text: holds}}
}
