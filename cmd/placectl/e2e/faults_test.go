//go:build faults

package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"go.etcd.io/bbolt"
)

// These tests make operations on the database and its lock file fail. They need copies of bbolt's files:
// see testdata/faults/overlay.sh.

// disk is where the database and its lock file are.
type disk struct {
	mu   sync.Mutex
	each func(op operation, do func() error) error // nil: operations succeed
	n    int                                       // operations so far
}

type operation struct {
	number     int
	kind, path string
	at         int64
	data       []byte
}

// theDisk is the disk that all tests use, one after the other.
var theDisk = func() *disk {
	d := new(disk)
	bbolt.Hook = d.do
	return d
}()

func (d *disk) do(kind, path string, at int64, data []byte, do func() error) error {
	d.mu.Lock()
	each := d.each
	op := operation{d.n, kind, path, at, data}
	d.n++
	d.mu.Unlock()
	if each == nil {
		return do()
	}
	return each(op, do)
}

// works makes the disk perform each operation through each. nil performs all of them normally.
func (d *disk) works(each func(operation, func() error) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each, d.n = each, 0
}

// Histories of requests with keys are disturbed: one operation in a few hundred fails.
func init() {
	mayFail = func() bool { return true }
	disturbed = func(random *rand.Rand) (over func()) {
		var mu sync.Mutex
		theDisk.works(func(op operation, do func() error) error {
			mu.Lock()
			fails, one := random.IntN(300) == 0, rand.New(rand.NewPCG(random.Uint64(), 3))
			mu.Unlock()
			if fails {
				return failure(one.IntN(int(failures))).fail(one, op, do)
			}
			return do()
		})
		return func() { theDisk.works(nil) }
	}
}

// reasons are the errors with which an operation of a kind may fail.
var reasons = map[string][]syscall.Errno{
	"open":     {syscall.EMFILE, syscall.ENFILE, syscall.EINTR, syscall.EIO},
	"read":     {syscall.EIO, syscall.EINTR},
	"write":    {syscall.EIO, syscall.ENOSPC, syscall.EDQUOT},
	"sync":     {syscall.EIO, syscall.ENOSPC, syscall.EDQUOT},
	"truncate": {syscall.EFBIG, syscall.ENOSPC, syscall.EIO},
	"lock":     {syscall.ENOLCK, syscall.EINTR},
	"map":      {syscall.ENOMEM, syscall.EMFILE},
	"rename":   {syscall.EIO, syscall.EACCES},
	"copy":     {syscall.ENOSPC},
}

// failure is how operations fail.
type failure int

const (
	failsUndone failure = iota // nothing is done
	failsTorn                  // a part of a write is done
	failsDone                  // it is done, but reported as failed
	failures
)

// fail makes an operation fail.
func (how failure) fail(random *rand.Rand, op operation, do func() error) error {
	list := reasons[op.kind]
	if list == nil {
		return do()
	}
	err := &os.PathError{Op: op.kind, Path: op.path, Err: list[random.IntN(len(list))]}
	switch {
	case how == failsTorn && op.kind == "write":
		f, opened := os.OpenFile(op.path, os.O_WRONLY, 0)
		if opened != nil {
			return opened
		}
		defer f.Close()
		if _, written := f.WriteAt(op.data[:len(op.data)*(1+random.IntN(7))/8/8*8], op.at); written != nil {
			return written
		}
	case how == failsDone && slices.Contains([]string{"write", "sync", "truncate"}, op.kind):
		if did := do(); did != nil {
			return did
		}
	}
	return err
}

// rawState returns the content of a database, however it is spread over pages, "none" if there is none.
func rawState(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Lstat(path); err != nil {
		return "none"
	}
	theDisk.works(nil)
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	sum := sha256.New()
	err = b.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, table *bbolt.Bucket) error {
			fmt.Fprintf(sum, "table %s\n", name)
			return table.ForEach(func(k, v []byte) error {
				fmt.Fprintf(sum, "%d %x %d %x\n", len(k), k, len(v), v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// faultCall is a call of a verb, in a folder like those for examples.
type faultCall struct {
	args  []string
	makes bool
}

// severalCommits are words of calls that commit more than once. batch work asks and reports for each job. Passes, and
// what --launch and --exec do after the cycle's commit, may fail when the first commit is on disk. The next pass finds
// what is lost then: package keeper's tests make each of its steps fail.
var severalCommits = []string{"work", "batch work", "attend", "keep", "--launch", "--exec"}

// otherStatuses are the verbs with the exit statuses of PBS and Slurm. What they do to a database is what
// submit, cancel and others do, which are tried separately.
var otherStatuses = []string{"pbs", "slurm"}

// faultCalls returns the examples of every verb that works on a database here and now in one commit.
func faultCalls(t *testing.T) (calls []faultCall) {
	t.Helper()
	met := map[string]bool{}
	var ofVerb func(path []string, v *session.Verb)
	ofVerb = func(path []string, v *session.Verb) {
		name := strings.Join(path, " ")
		for _, args := range placectlCommands(v.Example) {
			if slices.ContainsFunc(args, func(w string) bool {
				return slices.Contains(waiting, w) || slices.Contains(severalCommits, w) ||
					slices.Contains(otherStatuses, w) || strings.HasPrefix(w, "--exec")
			}) || v.Access == verbs.NoDatabase {
				continue
			}
			if slices.ContainsFunc(args, elsewhere) {
				met[name] = true // package replica's tests cover failures of a log
				continue
			}
			if name == "check" && len(args) == 1 {
				args = append(args, "--in-process")
			}
			met[name] = true
			calls = append(calls, faultCall{args, v.Access == verbs.Makes})
		}
		for _, sub := range v.Verbs {
			ofVerb(append(slices.Clone(path), sub.Name), sub)
		}
		waits := slices.Contains(waiting, name) || slices.Contains(severalCommits, name) ||
			slices.Contains(otherStatuses, name)
		if v.Runs() && (v.Access == verbs.Reads || v.Access == verbs.Writes || v.Access == verbs.Makes) &&
			len(v.Verbs) == 0 && !waits && !met[name] && v.Example != "" {
			t.Errorf("no example of %s was tried", name)
		}
	}
	for _, e := range command.Verbs() {
		ofVerb([]string{e.Name}, e.Verb())
	}
	return calls
}

// try runs a call in this process.
func (c *faultCall) try() (status int, said string) {
	capture := newCapture(c.args...)
	capture.Stdin = strings.NewReader(exampleInput[strings.Join(c.args[:min(2, len(c.args))], " ")])
	capture.vars["USER"] = "ann"
	capture.Clock = func() time.Time { return testNow.Add(time.Hour) }
	capture.vars["PLACECTL_LOCK_TIMEOUT"] = "1s"
	code := capture.run()
	return code, capture.out.String() + capture.err.String()
}

// faultFolder is the folder in which the calls work, with its initial content.
type faultFolder struct {
	t     *testing.T
	db    string
	bytes []byte // of the database
	lock  []byte
	old   string
	named map[string]bool
}

func newFaultFolder(t *testing.T) *faultFolder {
	theDisk.works(nil)
	dir := exampleDB(t)
	t.Chdir(dir)
	f := &faultFolder{t: t, db: filepath.Join(dir, "placectl.db"), named: map[string]bool{}}
	var err error
	if f.bytes, err = os.ReadFile(f.db); err != nil {
		t.Fatal(err)
	}
	if f.lock, err = os.ReadFile(f.db + ".lock"); err != nil {
		t.Fatal(err)
	}
	f.old = rawState(t, f.db)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		f.named[e.Name()] = true
	}
	return f
}

// reset restores the folder, without a database for a call that makes one.
func (f *faultFolder) reset(c *faultCall) {
	f.t.Helper()
	theDisk.works(nil)
	list, err := os.ReadDir(".")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range list {
		if !f.named[e.Name()] || c.makes && strings.HasPrefix(e.Name(), "placectl.db") {
			if err := os.RemoveAll(e.Name()); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	if c.makes {
		return
	}
	if err := os.WriteFile(f.db, f.bytes, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.db+".lock", f.lock, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// state returns the database after a call. A new one differs each time, so it is left out.
func (f *faultFolder) state(c *faultCall) string {
	s := rawState(f.t, f.db)
	if c.makes && s != "none" {
		return "new"
	}
	return s
}

// TestFaults makes the k-th operation of every verb fail, or all from the k-th on, in every way. The
// status is exact, and the database has the state before or after. The next verb finds it sound.
func TestFaults(t *testing.T) {
	f, random := newFaultFolder(t), seeded(t)
	runs, kinds, ended := 0, map[string]int{}, map[int]int{}
	for _, c := range faultCalls(t) {
		line := text.JoinWords(c.args)
		f.reset(&c)
		old := f.state(&c)
		theDisk.works(func(_ operation, do func() error) error { return do() })
		right, said := c.try()
		count := theDisk.n
		want := f.state(&c)
		if right == exit.Usage || right == exit.Damaged {
			t.Fatalf("%s fails without faults: status %d: %s", line, right, said)
		}
		for k := range count {
			for how := range failures {
				for _, on := range []bool{false, true} {
					if !*long && random.IntN(8) > 0 {
						continue
					}
					f.reset(&c)
					var first operation
					theDisk.works(func(op operation, do func() error) error {
						if op.number == k {
							first = op
							first.data = nil
						}
						if op.number == k || on && op.number > k {
							return how.fail(random, op, do)
						}
						return do()
					})
					status, said := c.try()
					theDisk.works(nil)
					runs++
					kinds[first.kind]++
					ended[status]++
					f.judge(&c, fmt.Sprintf("%s: %s number %d fails (%d, and all after it: %v)", line, first.kind, k,
						how, on), result{status, said, right, old, want})
					if t.Failed() {
						return
					}
				}
			}
		}
	}
	t.Logf("%d runs; operations that failed: %v; statuses: %v", runs, kinds, ended)
	for kind := range reasons {
		if kinds[kind] == 0 && kind != "copy" && (*long || kind != "truncate" && kind != "rename") {
			t.Errorf("no %s has failed", kind)
		}
	}
}

// result is the result of a call with faults, and of one without.
type result struct {
	status    int
	said      string
	right     int
	old, want string // states
}

// judge decides whether the result of a call is right.
func (f *faultFolder) judge(c *faultCall, what string, o result) {
	f.t.Helper()
	got := f.state(c)
	ok := false
	switch o.status {
	case o.right:
		ok = got == o.want || o.right != exit.OK && got == o.old
	case exit.Failed:
		ok = got == o.old
	case exit.Unknown:
		ok = got == o.old || got == o.want
	}
	if !ok {
		f.t.Errorf("%s: status %d (without faults %d), state %s (before %s, without faults %s): %s", what, o.status,
			o.right, got, o.old, o.want, o.said)
		return
	}
	if got == "none" {
		return
	}
	next := faultCall{args: []string{"node", "list", "-o", "id"}}
	if status, said := next.try(); status != exit.OK {
		f.t.Errorf("%s: then node list: status %d: %s", what, status, said)
	}
	if lock, err := os.ReadFile(f.db + ".lock"); err != nil ||
		!bytes.HasPrefix(lock, []byte("no commit is under way")) {
		f.t.Errorf("%s: then the lock file has %q, %v", what, lock, err)
	}
}

// TestStall: a slow operation delays its verb, and is not taken for another failure.
func TestStall(t *testing.T) {
	f := newFaultFolder(t)
	stalled := make(chan struct{})
	var once sync.Once
	theDisk.works(func(op operation, do func() error) error {
		if op.kind == "sync" && filepath.Base(op.path) == filepath.Base(f.db) {
			once.Do(func() {
				close(stalled)
				time.Sleep(300 * time.Millisecond)
			})
		}
		return do()
	})
	first := make(chan int)
	go func() {
		c := faultCall{args: []string{"place", "1:ncpus=1"}}
		code, _ := c.try()
		first <- code
	}()
	<-stalled
	for _, args := range []string{"place 1:ncpus=1 --lock-timeout 50ms", "node list --lock-timeout 50ms"} {
		c := faultCall{args: strings.Fields(args)}
		if status, said := c.try(); status != exit.Locked ||
			!strings.Contains(said, fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("%s beside a slow writer: status %d, want %d and its pid: %s", args, status, exit.Locked, said)
		}
	}
	if status := <-first; status != exit.OK {
		t.Errorf("the slow writer: status %d, want 0", status)
	}
}
