package row

import "testing"

// TestCauseOf: the cause of an outcome has the outcome's word.
func TestCauseOf(t *testing.T) {
	for o := range Outcome(len(outcomeNames)) {
		if got := CauseOf(o).String(); got != outcomeNames[o] {
			t.Errorf("the cause of outcome %q is %q", outcomeNames[o], got)
		}
	}
}
