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

// TestMovedAway: a keeper whose database was moved is replaced by a pass that has it under its new name. The next one
// follows what runs, and reports its end. A pass that has the same file under another name replaces no keeper.
func TestMovedAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := func(dir string) *site {
		return &site{&fake{dir}, t, append(os.Environ(), "RUNNER_TEST="+dir, "RUNNER_STATE="+s.dir+"/state")}
	}
	k := s.job("echo >>" + s.dir + "/begun; while ! [ -e " + s.dir + "/end ]; do sleep 0.05; done; exit 3")
	keeper := s.start(nil, "keep")
	s.until("executed", func() bool { return s.file("begun") != "" })
	alias, moved := at(t.TempDir()+"/alias"), at(t.TempDir())
	if err := os.Symlink(s.dir, alias.dir); err != nil {
		t.Fatal(err)
	}
	alias.start(nil, "pass").wait()
	if !living(keeper) {
		t.Fatal("a pass under another name of the database has replaced the keeper")
	}
	if err := os.Rename(s.path(), moved.path()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(moved.endAll)
	moved.start(nil, "pass").wait()
	s.until("replaced", func() bool { return !living(keeper) })
	if err := os.WriteFile(s.dir+"/end", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	moved.until("reported", moved.ended(k))
	if r, begun := moved.attempt(k).Result, s.file("begun"); r.Exit != 3 || begun != "\n" {
		t.Errorf("result %+v after %d starts, want exit 3 after one; notes:\n%s", r, len(begun), moved.file("notes"))
	}
}
