package kick

import (
	"os"
	"path/filepath"
	"testing"
)

// Nobody is started while another is about to begin, or somebody attends.
func TestBegin(t *testing.T) {
	p := Place{Dir: filepath.Join(t.TempDir(), "state"), Database: "/x.db"}
	began := 0
	begin := func(start func(*os.File) error) {
		t.Helper()
		if err := p.Begin(start); err != nil {
			t.Fatal(err)
		}
	}
	count := func(*os.File) error { began++; return nil }
	begin(func(*os.File) error {
		begin(count)
		return nil
	})
	if began != 0 {
		t.Error("one began while another was about to")
	}
	begin(count)
	if began != 1 {
		t.Error("nobody was about to begin, and none began")
	}
	there, err := p.Attend()
	if err != nil {
		t.Fatal(err)
	}
	begin(count)
	if began != 1 {
		t.Error("one began though somebody attends")
	}
	there.Close()
	if begin(count); began != 2 {
		t.Error("none began after the one who attended had gone")
	}
	if err := os.Chmod(p.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(count); err == nil || began != 2 {
		t.Errorf("in a directory that all can write to: %v, %d began", err, began)
	}
}
