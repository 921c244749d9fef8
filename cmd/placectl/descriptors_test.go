package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestDescriptors: helper processes write to what placectl has passed on to them, and to nothing
// else that lies at those numbers, such as the database's file.
func TestDescriptors(t *testing.T) {
	s := newShell(t)
	s.must("", "node", "add", "n1", "ncpus=1")
	before, err := os.ReadFile(s.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"--db", "ssh://nowhere.invalid" + s.db, "supervise", "--through", "1.1"}} {
		cmd := exec.Command(s.program, words...)
		for range 3 {
			f, err := os.OpenFile(s.db, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		}
		out, err := cmd.CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("descriptor 3")) {
			t.Errorf("%s: %v: %s", words, err, out)
		}
		if after, err := os.ReadFile(s.db); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s has changed the database: %v", words, err)
		}
	}
}
