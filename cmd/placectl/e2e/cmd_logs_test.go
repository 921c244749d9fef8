package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// TestLogsOnTerminal: a terminal is shown control characters as text. With --raw, and in a file or a
// pipe, the output is unchanged.
func TestLogsOnTerminal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	init := newCapture("init", "--any-time", "--db", path)
	if init.run() != 0 || newCapture("node", "add", "n1", "ncpus=4", "--db", path).run() != 0 {
		t.Fatal(init.err.String())
	}
	db, err := engine.Open(path, &engine.Options{Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range []func(tx *engine.Tx) error{
		func(tx *engine.Tx) error { return tx.Attempts().LaunchBy(engine.LaunchWork) },
		func(tx *engine.Tx) error {
			_, err := tx.Jobs().Submit(engine.Submission{Request: placer.Request{Select: "1:ncpus=1"},
				Command: []string{"true"}, Payload: &engine.Payload{Dir: dir}})
			return err
		},
		func(tx *engine.Tx) error { _, err := tx.Cycle().Run(engine.CycleSpec{}); return err },
		func(tx *engine.Tx) error {
			_, err := tx.Attempts().Claim(engine.Claim{Job: 1, Attempt: 1, By: engine.BySupervisor,
				Nonce:   engine.Nonce{1},
				Process: engine.Process{Host: "h"}})
			return err
		},
	} {
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	const text = "\x1b[31mred\x1b]0;title\a\n"
	if err := os.WriteFile(filepath.Join(dir, "placectl-1.out"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		terminal, raw bool
		want          string
	}{{false, false, text}, {true, true, text}, {true, false, "^[[31mred^[]0;title^G\n"}} {
		args := []string{"logs", "1", "--db", path}
		if c.raw {
			args = append(args, "--raw")
		}
		run := newCapture(args...)
		run.StdoutTTY = c.terminal
		if status := run.run(); status != 0 || run.out.String() != c.want {
			t.Errorf("terminal %t, raw %t: status %d, output %q, errors %s", c.terminal, c.raw, status,
				run.out.String(), run.err.String())
		}
	}
}
