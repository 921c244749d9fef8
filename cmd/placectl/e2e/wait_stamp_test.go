package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
)

// TestStampTellsCommitsApart: a waiting command notices a commit even if the file's time does not change:
// the kernel's clock stands still for milliseconds.
func TestStampTellsCommitsApart(t *testing.T) {
	r := &session.Run{}
	r.DB = filepath.Join(t.TempDir(), "x.db")
	none := r.FileStamp()
	if err := engine.Create(r.DB, nil, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(r.DB)
	if err != nil {
		t.Fatal(err)
	}
	before := r.FileStamp()
	db, err := engine.Open(r.DB, nil)
	if err == nil {
		err = db.Update(func(tx *engine.Tx) error { return tx.Config().Set("depth", "3") })
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := os.Chtimes(r.DB, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	after := r.FileStamp()
	if none == before || before == after {
		t.Errorf("stamps: without a file %+v, of a new one %+v, after a commit %+v, want three different ones", none,
			before, after)
	}
	if again := r.FileStamp(); again != after {
		t.Errorf("nothing was committed, but the stamp went from %+v to %+v", after, again)
	}
}
