package keeper

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/internal/engine"
)

// TestSettled: an unavailable database has not answered, and one that knows no such job has.
func TestSettled(t *testing.T) {
	t.Parallel()
	_, away := engine.Open(filepath.Join(t.TempDir(), "away.db"), nil)
	for _, c := range []struct {
		err  error
		last bool
	}{
		{nil, true},
		{&engine.Conflict{What: "attempt 1.1", Why: "the job has gone on"}, true},
		{fmt.Errorf("%w: job 1", engine.ErrNotFound), true},
		{away, false},
		{errors.New("the disk is full"), false},
		{ErrNoTurn, false},
	} {
		if got := Settled(c.err); got != c.last {
			t.Errorf("Settled(%v) = %v", c.err, got)
		}
	}
	if !errors.Is(away, engine.ErrNotFound) {
		t.Errorf("%v does not match a missing job", away)
	}
}
