package e2e

import (
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

func TestColor(t *testing.T) {
	res := output.Result{Columns: []output.Column{{Name: "a"}}}
	for _, tt := range []struct {
		g    verbs.Globals
		tty  bool
		term string
		want string
	}{
		{verbs.Globals{}, true, "xterm", "\x1b[1mA\x1b[0m\nx\n"}, {verbs.Globals{}, false, "xterm", "A\nx\n"},
		{verbs.Globals{NoColor: true}, true, "xterm", "A\nx\n"}, {verbs.Globals{}, true, "dumb", "A\nx\n"},
		{verbs.Globals{NoHeader: true}, true, "xterm", "x\n"},
	} {
		c := newCapture()
		c.StdoutTTY, c.vars["TERM"] = tt.tty, tt.term
		r := c.runner()
		r.Globals = tt.g
		p := r.Printer(res)
		p.Row("x")
		p.Close()
		if got := c.out.String(); got != tt.want {
			t.Errorf("%+v: printed %q, want %q", tt, got, tt.want)
		}
	}
}

func TestProgressKeepsQuiet(t *testing.T) {
	for _, tt := range []struct{ tty, quiet bool }{{false, false}, {true, true}} {
		clock := testNow
		c := newCapture()
		c.StderrTTY = tt.tty
		c.Clock = func() time.Time { return clock }
		r := c.runner()
		r.Quiet = tt.quiet
		p := r.Progress("importing", 10)
		clock = clock.Add(time.Second)
		p.Add(5)
		p.Done()
		if c.err.Len() > 0 {
			t.Errorf("%+v: the bar was drawn: %q", tt, c.err.String())
		}
	}
}

// TestTimesOfMessages: people get times in their own zone, and documents get them as stored.
func TestTimesOfMessages(t *testing.T) {
	const kept = "at 2026-11-20T09:30:00Z"
	for form, want := range map[output.Format]string{output.Table: "at 2026-11-20 10:30:00",
		output.CSV: "at 2026-11-20 10:30:00", output.JSON: kept, output.JSONL: kept} {
		r := newCapture().runner()
		r.Output = form
		if got := r.LocalTimes(kept); got != want {
			t.Errorf("%s: LocalTimes = %s, want %s", output.FormatNames()[form], got, want)
		}
	}
}
