package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/front"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/people"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	lengthen()
	commands := map[string]func(){"placectl": mainTwice, "placectl-hold": holdMain}
	for _, f := range front.FrontEnds() {
		for _, name := range f.Names() {
			commands[name] = mainTwice
		}
	}
	testscript.Main(m, commands)
}

// mainTwice is main with commitTwice.
func mainTwice() {
	e := command.Env()
	e.Commit = commitTwice
	if name, set := os.LookupEnv(testUser); set {
		e.Self = func() string { return name }
	}
	if file := os.Getenv(testPasswd); file != "" {
		people.System.Passwd = file
	}
	e.AttendantKeeps = func() []string {
		return slices.DeleteFunc(os.Environ(), func(v string) bool {
			return !strings.HasPrefix(v, "TEST_") && !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "HOME=")
		})
	}
	if dir := os.Getenv(answersVariable); dir != "" {
		watchAnswers(&e, dir)
	}
	if os.Getenv(inLogs) != "" {
		e = intoLogs(e)
	}
	command.Run(e)
}

// testUser is the variable with the name of the real uid in tests, so that answers do not depend on who
// runs them. The command itself has no such variable.
const testUser = "TEST_USER"

// testPasswd is the variable with the file that scripts read instead of /etc/passwd.
const testPasswd = "TEST_PASSWD"

// commitTwice is Commit with a first run whose effects are lost, as if another writer had been faster. The
// first run must leave no trace, whether it changed something or was refused. Tests in processes of their
// own commit in this way, others as the command does.
func commitTwice(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
	if err := db.DryRun(fn); errors.Is(err, engine.ErrLocked) {
		return err
	}
	return session.Commit(db, keep, fn)
}

// TestScripts runs the command line in processes of its own.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	dir := t.TempDir()
	t.Cleanup(func() { // parallel scripts run after this function has returned
		testAnswers(t, dir)
		testComplaints(t, dir)
	})
	runScripts(t, testscript.Params{Dir: "../../../testdata/script"}, map[string]string{answersVariable: dir})
}

// runScripts runs scripts with additional variables.
func runScripts(t *testing.T, p testscript.Params, vars map[string]string) {
	testscript.Run(t, testscript.Params{
		Dir: p.Dir, Files: p.Files,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptExits,
			"eventually": scriptEventually},
		Condition: scriptCondition,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv(testUser, "")
			e.Setenv(session.StartVariable, engine.StartManual) // some scripts undo that
			here, err := os.Hostname()
			if err != nil {
				return err
			}
			me, err := exec.Command("id", "-un").Output() // os/user would link the C library
			if err != nil {
				return err
			}
			e.Setenv("HERE", here)
			e.Setenv("OWNER", strings.TrimSpace(string(me)))
			hooks, err := filepath.Abs("../../../docs/hooks")
			if err != nil {
				return err
			}
			e.Setenv("HOOKS", hooks)
			for name, value := range vars {
				e.Setenv(name, strings.ReplaceAll(value, "WORK", e.WorkDir))
			}
			return nil
		},
	})
}

// scriptCondition is the condition [cgroups]: control groups are available; [bindfs]: a folder can be
// mounted through FUSE; or [mounts]: others can be mounted for a process alone.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "bindfs":
		_, err := exec.LookPath("bindfs")
		return err == nil && os.Getuid() == 0, nil
	case "mounts":
		return exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt").Run() == nil, nil
	case "cgroups":
	default:
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return slices.ContainsFunc(new(keeper.Runner).Examine(), func(f keeper.Finding) bool {
		return f.What == "memory" && f.State == keeper.Works
	}), nil
}

// scriptExits is the script command `exits STATUS COMMAND ARGS...`: "! exec" does not tell one failure from
// another.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// scriptEventually is the script command `eventually COMMAND ARGS...`: it repeats the command until it
// succeeds.
func scriptEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: eventually COMMAND ARGS...")
	}
	for deadline := time.Now().Add(20 * time.Second); ts.Exec(args[0], args[1:]...) != nil; {
		if time.Now().After(deadline) {
			ts.Fatalf("it never did")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// testNow is the time of tests, and testLoc their zone, which has clock changes.
var (
	testNow = time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC)
	testLoc = mustLoad("Europe/Berlin")
)

func mustLoad(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

// capture is an Env whose output can be read.
type capture struct {
	session.Env
	out, err bytes.Buffer
	vars     map[string]string
}

func newCapture(args ...string) *capture {
	c := &capture{vars: map[string]string{}}
	c.Env = session.Env{
		Args:   args,
		Stdin:  strings.NewReader("from stdin\n"),
		Stdout: &c.out,
		Stderr: &c.err,
		Getenv: func(name string) string { return c.vars[name] },
		Environ: func() (list []string) {
			for name, value := range c.vars {
				list = append(list, name+"="+value)
			}
			return list
		},
		Clock:      func() time.Time { return testNow },
		Loc:        testLoc,
		Width:      func() int { return 80 },
		Self:       func() string { return c.vars["USER"] },
		Namespaced: func() bool { return false },
		Commit:     session.Commit,
	}
	return c
}

func (c *capture) run() int { return execute(context.Background(), c.Env) }

// runner returns a run outside any verb.
func (c *capture) runner() *session.Run { return newRun(context.Background(), c.Env) }
