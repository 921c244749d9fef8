package runner

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/store"
)

// apart says that Main was called, so that this program may be started as its own keeper.
var apart bool

// keepWord is the first argument of a process that is a keeper. The database's path follows.
const keepWord = "placectl-keep"

// words returns the name and the arguments of a keeper's process.
func (r *Runner) words(string, ...string) []string { return []string{keepWord, r.path} }

// Main makes this program its own keeper, in a process apart. Call it in the first line of main: in that process it
// does not return. Otherwise it returns at once.
func Main() {
	apart = true
	if len(os.Args) != 2 || os.Args[0] != keepWord {
		return
	}
	if err := keep(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// keep executes attempts until nothing is left for a while.
func keep(path string) error {
	lock := launch.Inherited()
	runtime.GOMAXPROCS(1)   // it runs many short steps, and each would wake another thread
	g, err := gate.Forked() // early, while this process is small
	if err != nil {
		return err
	}
	db, err := store.Open(path, nil)
	if err != nil {
		g.Close()
		return err
	}
	r, err := New(db, Options{})
	if err != nil {
		g.Close()
		return err
	}
	r.attempts.Guest = false
	return r.attempts.Keep(context.Background(), g, lock)
}
