package keeper

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
)

// TestExecutes: a host whose system executes nothing refuses what waits for it, keeps nothing, and says why.
func TestExecutes(t *testing.T) {
	if err := Executes(); err != nil {
		t.Skip(err)
	}
	system = "darwin"
	defer func() { system = "linux" }()
	s := newSite(t)
	k := s.job("echo x >> $LEDGER")
	r := runnerIn(s.dir)
	err := r.NewPasses().Once(context.Background())
	if err == nil || !strings.Contains(err.Error(), "on darwin: a Linux") {
		t.Errorf("a pass on darwin = %v, want that nothing is executed there", err)
	}
	is := s.attempt(k).Result
	if is.Outcome != engine.OutcomeRefused || is.Blame != engine.BlameNode {
		t.Errorf("the attempt has the result %+v, want that the host refused it", is)
	}
	if err := r.Keep(context.Background(), gate.Plain(), nil); !errors.Is(err, ErrSystem) {
		t.Errorf("a keeper on darwin = %v, want ErrSystem", err)
	}
	if _, err := r.Attend(engine.Nonce{}); !errors.Is(err, ErrSystem) {
		t.Errorf("an attendant of a job on darwin = %v, want ErrSystem", err)
	}
	if f := r.Examine(); len(f) != 1 || f[0].State != Fails {
		t.Errorf("doctor on darwin finds %v, want that it fails", f)
	}
}
