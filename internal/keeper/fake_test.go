package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary also what runners start: a keeper, a pass. If the environment names a step,
// the process kills itself there, but only the first one to get so far.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUNNER_TEST"); dir != "" && len(os.Args) > 1 {
		os.Exit(child(dir, os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

// testGate makes the gate that the environment names: with RUNNER_GATE=plain the plain one, for all tests.
func testGate() (gate.Gate, error) {
	if os.Getenv("RUNNER_GATE") == "plain" {
		return gate.Plain(), nil
	}
	return gate.Forked()
}

func child(dir, verb string, args []string) int {
	r := runnerIn(dir)
	ctx := context.Background()
	var err error
	switch verb {
	case "keep":
		var g gate.Gate
		if g, err = testGate(); err == nil {
			err = r.Keep(ctx, g, launch.Inherited())
		}
	case "watch":
		status, err := Watch(os.Stdin)
		if err != nil {
			r.notef("%v", err)
		}
		return status
	case "pass":
		err = r.NewPasses().Once(ctx)
	case "work":
		err = r.NewPasses().Work(ctx, Wakes{Every: 20 * time.Millisecond})
	default:
		err = errors.New(verb)
	}
	if err != nil {
		r.notef("%s %v: %v", verb, args, err)
		return 1
	}
	return 0
}

// runnerIn returns a runner on the fake database of a directory.
func runnerIn(dir string) *Runner {
	db := &fake{dir}
	state, _ := db.read()
	r := &Runner{Site: Site{Host: "here", User: "ann", Program: OwnFile(), Account: func() []string { return nil },
		StateDir: dir + "/state", ID: state.ID, Epoch: state.Epoch, Database: db.path(),
		Words: func(verb string, args ...string) []string {
			return append([]string{"runner-test", verb}, args...)
		},
		IdentityOf: func(path string) string {
			other := &fake{filepath.Dir(path)}
			s, _ := other.read()
			return s.ID
		}},
		DB: db,
		Stamp: func() string {
			info, err := os.Stat(db.path())
			if err != nil {
				return ""
			}
			return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), time.Now().UnixMilli()/100)
		},
		Note: func(format string, args ...any) {
			f, err := os.OpenFile(dir+"/notes", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err == nil {
				fmt.Fprintf(f, "%s %d: "+format+"\n", append([]any{time.Now().Format("05.000"), os.Getpid()},
					args...)...)
				f.Close()
			}
		}}
	r.Idle = 50 * time.Millisecond
	if most, err := strconv.ParseUint(os.Getenv("RUNNER_MOST"), 10, 64); err == nil {
		var files unix.Rlimit // its numbers have a type of each system's own
		files.Cur = filesBesides
		for range most {
			files.Cur += filesOfAttempt
		}
		files.Max = files.Cur
		unix.Setrlimit(unix.RLIMIT_NOFILE, &files)
	}
	if dir := os.Getenv("RUNNER_STATE"); dir != "" {
		r.StateDir = dir
	}
	step, last := os.Getenv("RUNNER_DIE"), os.Getenv("RUNNER_DIE_ONCE")
	step, who, _ := strings.Cut(step, " ")
	r.step = func(at string) {
		if at != step {
			return
		}
		f, err := os.OpenFile(last, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		f.Close()
		var gates, wardens, commands []int
		if gates = children(os.Getpid()); os.Getenv("RUNNER_GATE") == "plain" {
			wardens, gates = gates, nil
		}
		for _, gate := range gates {
			wardens = append(wardens, children(gate)...)
		}
		for _, warden := range wardens {
			commands = append(commands, children(warden)...)
		}
		list := map[string][]int{"": {os.Getpid()}, "gate": gates, "warden": wardens, "command": commands,
			"both": append(wardens, os.Getpid()), "all": slices.Concat(wardens, commands, []int{os.Getpid()})}[who]
		for _, pid := range list {
			unix.Kill(pid, unix.SIGKILL)
		}
		if slices.Contains(list, os.Getpid()) {
			select {}
		}
	}
	return r
}

// fake is a database in a JSON file, as far as the runner needs one. It knows how attempts are claimed and
// reported, but knows no nodes.
type fake struct{ dir string }

type fakeState struct {
	ID, Epoch string
	Jobs      map[uint64]*fakeJob
	Fail      int // one in so many operations loses its answer, another is not done; 0: none
	Ops       int

	FailReports int    // how many reports fail in turns that are otherwise made
	Bad         uint64 // a job whose report makes its turn fail
}

type fakeJob struct {
	Order    Order
	Attempts []*fakeAttempt
	Done     int // how often the job was completed
}

type fakeAttempt struct {
	Nonce   engine.Nonce
	Process engine.Process
	End     time.Time
	Ending  bool
	Ended   bool
	Result  engine.Result
	Taken   int // results that were accepted
}

func (f *fake) path() string { return filepath.Join(f.dir, "db.json") }

func (f *fake) read() (*fakeState, error) {
	s := new(fakeState)
	text, err := os.ReadFile(f.path())
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	return s, err
}

var errFake = errors.New("the fake database fails")

// update changes the file under its lock, unless it should fail.
func (f *fake) update(fn func(*fakeState) error) error {
	lock, err := os.OpenFile(f.dir+"/lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	for {
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err == nil {
			break
		} else if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	s, err := f.read()
	if err != nil {
		return err
	}
	s.Ops++
	if s.Fail > 0 && s.Ops%s.Fail == 0 {
		f.write(s)
		return fmt.Errorf("%w before it was done", errFake)
	}
	if err := fn(s); err != nil {
		return err
	}
	if err := f.write(s); err != nil {
		return err
	}
	if s.Fail > 0 && s.Ops%s.Fail == s.Fail/2 {
		return fmt.Errorf("%w after it was done", errFake)
	}
	return nil
}

func (f *fake) write(s *fakeState) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s.%d", f.path(), os.Getpid())
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return err
	}
	return os.Rename(name, f.path())
}

func conflict(format string, args ...any) error {
	return &engine.Conflict{What: "the attempt", Why: fmt.Sprintf(format, args...)}
}

func (s *fakeState) attempt(k Key) (*fakeJob, *fakeAttempt, error) {
	j := s.Jobs[k.Job]
	if j == nil || k.Number > len(j.Attempts) {
		return nil, nil, conflict("there is no %s", k)
	}
	return j, j.Attempts[k.Number-1], nil
}

func (s *fakeState) claim(c engine.Claim) (*Order, error) {
	j, a, err := s.attempt(Key{c.Job, c.Attempt})
	switch {
	case err != nil:
		return nil, err
	case a.Ended || a.Nonce != (engine.Nonce{}) && a.Nonce != c.Nonce:
		return nil, conflict("%d.%d is claimed or ended", c.Job, c.Attempt)
	case a.Nonce == (engine.Nonce{}):
		a.End = time.Now().Add(j.Order.Walltime)
	}
	a.Nonce, a.Process = c.Nonce, c.Process
	order := j.Order
	order.Key, order.Nonce, order.Left, order.Ending = Key{c.Job, c.Attempt}, c.Nonce, time.Until(a.End), a.Ending
	return &order, nil
}

func (f *fake) Report(_ context.Context, r *engine.Result) error {
	return f.update(func(s *fakeState) error { return s.report(r) })
}

// Turn claims all unclaimed attempts.
func (f *fake) Turn(_ context.Context, q *Request) (a *Answer, err error) {
	err = f.update(func(s *fakeState) error {
		a = new(Answer)
		for _, r := range q.Ended {
			if r.Job == s.Bad {
				return fmt.Errorf("%w at job %d", errFake, r.Job)
			}
			if s.FailReports > 0 {
				s.FailReports--
				a.Reported = append(a.Reported, fmt.Errorf("%w at one report", errFake))
				continue
			}
			a.Reported = append(a.Reported, s.report(r))
		}
		for _, c := range q.Again {
			if o, err := s.claim(c.Claim); err == nil {
				a.Orders = append(a.Orders, o)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(s.Jobs)) {
			k := Key{id, len(s.Jobs[id].Attempts)}
			if a := s.Jobs[id].Attempts[k.Number-1]; q.Claim == nil || a.Ended || a.Nonce != (engine.Nonce{}) {
				continue
			}
			c, ok := q.Claim(k)
			if !ok {
				continue
			}
			o, err := s.claim(c)
			if err != nil {
				return err
			}
			a.Orders = append(a.Orders, o)
		}
		return nil
	})
	return a, err
}

func (s *fakeState) report(r *engine.Result) error {
	j, a, err := s.attempt(Key{r.Job, r.Attempt})
	if err != nil {
		return err
	}
	unclaimed := a.Nonce == (engine.Nonce{}) && (r.Outcome == engine.OutcomeUnbegun ||
		r.Outcome == engine.OutcomeRefused)
	switch {
	case a.Ended && a.Nonce == r.Nonce:
		return nil
	case a.Ended || a.Nonce != r.Nonce && !unclaimed:
		return conflict("%d.%d: late", r.Job, r.Attempt)
	}
	a.Nonce, a.Ended, a.Result = r.Nonce, true, *r
	a.Taken++
	switch {
	case r.Outcome == engine.OutcomeRefused && len(j.Attempts) > 1: // there is no other node
		j.Done++
		return nil
	}
	switch r.Outcome {
	case engine.OutcomeUnbegun, engine.OutcomeRefused, engine.OutcomeLost:
		j.Attempts = append(j.Attempts, &fakeAttempt{})
	default:
		j.Done++
	}
	return nil
}

func (f *fake) LeftOver(context.Context, Key, engine.Nonce, string) error { return nil }

func (f *fake) Held(_ context.Context, k Key, n engine.Nonce, _ string) (*Held, error) {
	s, err := f.read()
	if err != nil {
		return nil, err
	}
	_, a, err := s.attempt(k)
	if err == nil && (a.Ended || a.Nonce != n) {
		err = conflict("%s has gone on", k)
	}
	if err != nil {
		return nil, err
	}
	return &Held{Key: k, Nonce: a.Nonce, Process: a.Process, Ending: a.Ending, Left: time.Until(a.End)}, nil
}

func (f *fake) Signalled(context.Context, Key, engine.Nonce, int) error { return nil }

func (f *fake) Look(context.Context) (*View, error) {
	s, err := f.read()
	if err != nil {
		return nil, err
	}
	v := new(View)
	for id, j := range s.Jobs {
		k := Key{id, len(j.Attempts)}
		switch a := j.Attempts[k.Number-1]; {
		case a.Ended:
		case a.Nonce == (engine.Nonce{}):
			v.Unclaimed = append(v.Unclaimed, k)
		default:
			v.Held = append(v.Held, Held{Key: k, Nonce: a.Nonce, Process: a.Process, Ending: a.Ending,
				Left: time.Until(a.End)})
		}
	}
	slices.SortFunc(v.Unclaimed, func(a, b Key) int { return int(a.Job) - int(b.Job) })
	return v, nil
}

// site is a fake database, a state directory, and the processes at work on them.
type site struct {
	*fake
	t   *testing.T
	env []string
}

// newSite makes a site, in memory if possible, because it syncs often.
func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{&fake{dir}, t, append(os.Environ(), "RUNNER_TEST="+dir)}
	s.set(&fakeState{ID: "0123abcd", Epoch: "e1", Jobs: map[uint64]*fakeJob{}})
	t.Cleanup(s.endAll)
	return s
}

// withPlainGate has the site's keepers use the plain gate.
func (s *site) withPlainGate() *site {
	s.env = append(s.env, "RUNNER_GATE=plain")
	return s
}

func (s *site) set(state *fakeState) {
	s.t.Helper()
	if err := s.write(state); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) get() *fakeState {
	s.t.Helper()
	state, err := s.read()
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

func (s *site) change(fn func(*fakeState)) {
	s.t.Helper()
	fail := 0
	err := s.update(func(st *fakeState) error { fail, st.Fail = st.Fail, 0; fn(st); st.Fail += fail; return nil })
	if err != nil && !errors.Is(err, errFake) {
		s.t.Fatal(err)
	}
}

// job adds a job that runs a line of shell.
func (s *site) job(line string, more ...func(*Order)) Key {
	s.t.Helper()
	var k Key
	s.change(func(st *fakeState) {
		k = Key{uint64(len(st.Jobs) + 1), 1}
		o := Order{Name: "test", User: "ann", Queue: "workq", Command: []string{"sh", "-c", line},
			Nodes: []string{"n1"}, Chunks: []Chunk{{Node: "n1", Cores: 1}},
			Walltime: time.Minute, Enforce: "none",
			Payload: &engine.Payload{Ending: engine.Ending{Grace: 5 * time.Second}, Dir: s.dir, Umask: 0o022,
				Env: []string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEST=" + s.dir, "LEDGER=" + s.dir + "/ledger"}}}
		for _, m := range more {
			m(&o)
		}
		st.Jobs[k.Job] = &fakeJob{Order: o, Attempts: []*fakeAttempt{{}}}
	})
	return k
}

// start starts one of our processes.
func (s *site) start(env []string, args ...string) *process {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := os.StartProcess(self, append([]string{"runner-test"}, args...),
		&os.ProcAttr{Dir: "/", Env: append(s.env, env...), Files: []*os.File{nil, nil, os.Stderr},
			Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		s.t.Fatal(err)
	}
	return &process{s.t, p}
}

type process struct {
	t *testing.T
	*os.Process
}

func (p *process) wait() *os.ProcessState {
	p.t.Helper()
	state, err := p.Process.Wait()
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}

// supervise executes an attempt to its end.
func (s *site) supervise(k Key) *fakeAttempt {
	s.t.Helper()
	s.start(nil, "keep").wait()
	return s.attempt(k)
}

func (s *site) attempt(k Key) *fakeAttempt {
	s.t.Helper()
	return s.get().Jobs[k.Job].Attempts[k.Number-1]
}

// until waits until something holds.
func (s *site) until(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not %s after 20 s; notes:\n%s", what, s.file("notes"))
		}
	}
}

func (s *site) ended(k Key) func() bool {
	return func() bool { return s.attempt(k).Ended }
}

func (s *site) file(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}

// ours lists the processes of this test. All of them have its directory in their environment.
func (s *site) ours() (list []int) {
	for _, pid := range processes() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || pid == os.Getpid() || !slices.Contains(strings.Split(string(env), "\x00"),
			"RUNNER_TEST="+s.dir) {
			continue
		}
		if st, err := statOf(pid); err == nil && st.state != 'Z' && st.state != 'X' {
			list = append(list, pid)
		}
	}
	return list
}

func (s *site) endAll() {
	for range 100 {
		list := s.ours()
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// isTaken reports whether an attempt has the slot at a path.
func isTaken(path string) bool {
	info, err := os.Stat(filepath.Join(path, journalFile))
	return err == nil && info.Size() > 0
}

// left lists the attempts with a slot, in all epochs.
func (s *site) left() []string {
	dirs, err := filepath.Glob(s.dir + "/state/*/*")
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(dirs, func(name string) bool {
		return slices.Contains([]string{beatFile, bellName("here"), keeperName("here")}, filepath.Base(name)) ||
			strings.HasPrefix(filepath.Base(name), slotPrefix) && !isTaken(name)
	})
}

// copyTo copies the database as cp does.
func (s *site) copyTo(dir string) {
	s.t.Helper()
	from, err := os.Open(s.path())
	if err != nil {
		s.t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(filepath.Join(dir, "db.json"))
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// bootOf returns the id of the host's present boot.
func bootOf(t testing.TB) string {
	t.Helper()
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	return boot
}
