package placer

import (
	"errors"
	"fmt"
	"testing"
)

func TestShortage(t *testing.T) {
	refused := &Refusal{Kind: ErrNever, Why: "there are no nodes"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{refused, "there are no nodes"},
		{fmt.Errorf("queue night: %w", refused), "queue night: can never run: there are no nodes"},
		{errors.New("a bad select"), "a bad select"},
	} {
		if got := Shortage(c.err); got != c.want {
			t.Errorf("the shortage of %q is %q, want %q", c.err, got, c.want)
		}
	}
}
