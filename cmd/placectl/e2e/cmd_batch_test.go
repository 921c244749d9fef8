package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBatchNumbers: the jobs of a batch are numbers in JSON, as jobs are everywhere.
func TestBatchNumbers(t *testing.T) {
	dir := t.TempDir()
	db, files, jobs := filepath.Join(dir, "b.db"), filepath.Join(dir, "files.csv"), filepath.Join(dir, "jobs.csv")
	for name, text := range map[string]string{files: "name\na\n", jobs: "first,last\na,a\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"init", "batch create b --files " + files + " --jobs " + jobs,
		"batch next b --host h1",
		"batch show b --jobs -o jsonl", "batch done b 0 --host h1 -o jsonl"} {
		c := newCapture(append(strings.Fields(words), "--db", db)...)
		if code := c.run(); code != 0 {
			t.Fatalf("%s: %d: %s", words, code, c.err.String())
		}
		if strings.HasSuffix(words, "jsonl") && !strings.HasPrefix(c.out.String(), `{"job":0,`) {
			t.Errorf("%s: %s, want the job as a number", words, c.out.String())
		}
	}
}
