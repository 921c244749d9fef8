package placer

import (
	"fmt"
	"testing"

	"github.com/placectl/placectl/index"
)

// TestWholeRequestInSet: a placement set is for requests that it could hold whole,
// when empty. Sets that could hold each chunk alone are not waited for.
func TestWholeRequestInSet(t *testing.T) {
	threes := []string{"ncpus=1 color=r", "ncpus=1 color=r", "ncpus=1 color=r", "ncpus=1 color=g", "ncpus=1 color=g", "ncpus=1 color=g"}
	byColor := []index.ResID{index.FirstDeclared}
	for _, one := range []struct {
		nodes      []string
		sel, place string
		rules      Rules
		want       string
	}{
		{threes, "2:ncpus=1+2:ncpus=1", "scatter", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "free", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "excl:group=color", Rules{}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter", Rules{GroupKey: byColor, DoNotSpan: true}, "NEVER"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor, DoNotSpan: true}, "NEVER"},
		{threes, "2:ncpus=1+1:ncpus=1", "scatter:excl", Rules{GroupKey: byColor, DoNotSpan: true}, "[0 1 2]"},
		{append([]string{"ncpus=1 color=b", "ncpus=1 color=b", "ncpus=1 color=b", "ncpus=1 color=b"}, threes...),
			"2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor}, "[0 1 2 3]"}, // the one set that does
	} {
		t.Run(one.sel+" "+one.place, func(t *testing.T) {
			c := handMade(t, one.nodes...)
			c.Rules = one.rules
			plan, err := c.Place(c.request(t, one.sel, one.place), c.Now)
			got := verdictOf(err)
			if plan != nil {
				got = fmt.Sprint(plan.NodeNumbers())
			}
			if got != one.want {
				t.Errorf("%s (%v), want %s", got, err, one.want)
			}
		})
	}
}
