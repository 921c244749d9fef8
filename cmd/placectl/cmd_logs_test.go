package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
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
	db, err := store.Open(path, &store.Options{Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error { return tx.Attempts().LaunchBy(store.LaunchWork) },
		func(tx *store.Tx) error {
			_, err := tx.Jobs().Submit(store.Submission{Request: placer.Request{Select: "1:ncpus=1"},
				Command: []string{"true"}, Payload: &store.Payload{Dir: dir}})
			return err
		},
		func(tx *store.Tx) error { _, err := tx.Cycle().Run(store.CycleSpec{}); return err },
		func(tx *store.Tx) error {
			_, err := tx.Attempts().Claim(store.Claim{Job: 1, Attempt: 1, By: store.BySupervisor, Nonce: store.Nonce{1},
				Process: store.Process{Host: "h"}})
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
