package keeper

import (
	"os"
	"testing"
	"time"
)

// TestGoneForGood: if a keeper's database was removed together with its directory, the keeper does not wait
// for it. If the directory remains it goes on, because the file may have been moved, or be unavailable for a
// while.
func TestGoneForGood(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for ten seconds")
	}
	t.Parallel()
	begin := func() (*site, Key, *process) {
		s := newSite(t)
		k := s.job("echo >" + s.dir + "/begun; while ! [ -e " + s.dir + "/end ]; do sleep 0.05; done")
		p := s.start(nil, "keep")
		s.until("executed", func() bool { return s.file("begun") != "" })
		return s, k, p
	}
	away, k, waits := begin()
	gone, _, ends := begin()
	for _, s := range []*site{away, gone} {
		if err := os.Rename(s.path(), s.path()+".away"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(gone.dir + "/state"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*site{away, gone} {
		if err := os.WriteFile(s.dir+"/end", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan bool)
	go func() { ends.Process.Wait(); close(ended) }() //nolint:errcheck // only its end matters
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the keeper goes on without a database and without its directory; notes:\n" + gone.file("notes"))
	}
	if err := os.Rename(away.path()+".away", away.path()); err != nil {
		t.Fatal(err)
	}
	away.until("reported", away.ended(k))
	waits.wait()
	if left := away.left(); len(left) > 0 {
		t.Errorf("left: slots %v", left)
	}
}
