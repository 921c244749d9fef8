package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// TestOutput: where the output of attempts goes, what becomes of earlier output, and what is set up for the
// command.
func TestOutput(t *testing.T) {
	s := newSite(t)
	k := s.job(`echo out; echo err >&2; exit 1`, func(o *Order) { o.Payload.Out = "log.%j.%t" })
	s.supervise(k)
	if got := s.file("log.1.1"); got != "out\nerr\n" {
		t.Errorf("log.1.1 has %q, want both streams", got)
	}
	k = s.job(`echo out; echo err >&2`, func(o *Order) { o.Payload.Out, o.Payload.Err = "o", "e" })
	for _, name := range []string{"o", "e"} {
		if err := os.WriteFile(s.dir+"/"+name, []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.supervise(k)
	if o, e := s.file("o"), s.file("e"); o != "out\n" || e != "err\n" {
		t.Errorf("the output has %q, the errors %q", o, e)
	}
	k = s.job(`echo more`, func(o *Order) { o.Payload.Out, o.Payload.Append = "o", true })
	s.supervise(k)
	if o := s.file("o"); o != "out\nmore\n" {
		t.Errorf("the file has %q, want the output appended", o)
	}
}

// TestSecondAttempt: a second attempt appends to the file, after a line that announces it.
func TestSecondAttempt(t *testing.T) {
	s := newSite(t)
	k := s.job(`echo $PLACECTL_ATTEMPT; [ $PLACECTL_ATTEMPT = 2 ] || sleep 100`)
	p := s.start(nil, "keep")
	s.until("begun", func() bool { return s.file("placectl-1.out") == "1\n" })
	s.endAll()
	p.wait()
	s.until("done", func() bool { s.pass(); return s.get().Jobs[k.Job].Done == 1 })
	if got, want := s.file("placectl-1.out"), "1\nplacectl: job 1, attempt 2\n2\n"; got != want {
		t.Errorf("the output has %q, want %q", got, want)
	}
}

// TestNoOutput: if its output cannot be opened, a command is not executed, and the reason names the file. Nothing is
// written elsewhere.
func TestNoOutput(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		why  string
	}{
		"folder":                {func(path string) error { return os.Mkdir(path, 0o700) }, "/out: is a directory"},
		"pipe without a reader": {func(path string) error { return unix.Mkfifo(path, 0o600) }, "/out: no such device"},
		"link to nowhere": {func(path string) error { return os.Symlink("none/out", path) },
			"/none/out: no such file"},
		"link to itself": {func(path string) error { return os.Symlink("out", path) }, "too many levels"},
		"link out of a shared folder": {func(path string) error {
			return errors.Join(os.Chmod(filepath.Dir(path), 0o777), os.Symlink("../outside", path))
		}, "/outside, out of a folder that others may write"},
		"two links out of it": {func(path string) error {
			return errors.Join(os.Chmod(filepath.Dir(path), 0o777), os.Symlink("../outside", path+"2"),
				os.Symlink("out2", path))
		}, "/outside, out of a folder that others may write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := filepath.Join(s.dir, "work")
			if err := errors.Join(os.Mkdir(dir, 0o700), c.make(dir+"/out")); err != nil {
				t.Fatal(err)
			}
			k := s.job(`touch "$LEDGER.ran"`, func(o *Order) { o.Payload.Out = "work/out" })
			r := s.supervise(k).Result
			if r.Outcome != engine.OutcomeExited || r.Exit != statusGate || !strings.Contains(r.Why, c.why) ||
				s.file("ledger.ran") != "" {
				t.Errorf("result %+v, want exit %d because of %q", r, statusGate, c.why)
			}
			if _, err := os.Stat(s.dir + "/outside"); err == nil {
				t.Error("the output went to the target of the link")
			}
		})
	}
}

// TestLinkedOutput: a link is followed as a shell follows it, out of a folder where only we write and within
// a shared one.
func TestLinkedOutput(t *testing.T) {
	for name, c := range map[string]struct {
		mode   os.FileMode
		target string
	}{"out of our own folder": {0o755, "../outside"}, "within a shared one": {0o777, "other"},
		"down from it": {0o777, "below/other"}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			dir := filepath.Join(s.dir, "work")
			if err := errors.Join(os.MkdirAll(dir+"/below", 0o700), os.Chmod(dir, c.mode),
				os.Symlink(c.target, dir+"/out")); err != nil {
				t.Fatal(err)
			}
			r := s.supervise(s.job(`echo hello`, func(o *Order) { o.Payload.Out = "work/out" })).Result
			if r.Exit != 0 || s.file("work/"+c.target) != "hello\n" {
				t.Errorf("result %+v; the target has %q", r, s.file("work/"+c.target))
			}
		})
	}
}

// TestLateSignal: a signal due before the command begins comes when a script has had the time to set a trap for it.
func TestLateSignal(t *testing.T) {
	for _, first := range []bool{false, true} {
		s := newSite(t)
		k := s.job(`trap 'echo warned' USR1; for i in 1 2 3 4 5 6 7 8; do sleep 0.25; done; echo ended`,
			func(o *Order) {
				o.Walltime = 30 * time.Second
				o.Payload.Ending.Signal, o.Payload.Ending.Before, o.Payload.Ending.First = int(unix.SIGUSR1),
					10*time.Minute, first
			})
		if r := s.supervise(k).Result; r.Exit != 0 || s.file("placectl-1.out") != "warned\nended\n" {
			t.Errorf("only for the command: %t: result %+v, output %q", first, r, s.file("placectl-1.out"))
		}
	}
}

// TestPatterns: what the letters mean, as in engine.CheckPattern.
func TestPatterns(t *testing.T) {
	o := orderOf("")
	o.Name = "a/b"
	for pattern, want := range map[string]string{
		"%j": "/work/14", "%A_%a.%t": "/work/10_4.3", "/x/%x-%u": "/x/a_b-ann", "%N.out": "/work/n1.out",
		"100%%": "/work/100%", "../%j": "/14",
	} {
		if got := o.letters().Path(o.Payload.Dir, pattern); got != want || engine.CheckPattern(pattern) != nil {
			t.Errorf("the pattern %s gives %s, want %s", pattern, got, want)
		}
	}
	o.Array = nil
	if got := o.letters().Path(o.Payload.Dir, "%A_%a"); got != "/work/14_0" {
		t.Errorf("%%A_%%a without an array gives %s", got)
	}
}

// TestSetUp: a command has the right umask, limits and session, and none of our descriptors.
func TestSetUp(t *testing.T) {
	s := newSite(t)
	s.env = append(s.env, "SECRET_OF_OURS=1")
	k := s.job(
		`umask; ulimit -Sn; ulimit -c; ls /proc/self/fd | wc -l; echo "$SECRET_OF_OURS."; cut -d' ' -f6 /proc/self/stat; echo $$; cat /proc/self/oom_score_adj; grep SigIgn /proc/self/status`, func(o *Order) {
			o.Payload.Umask = 0o027
			o.Payload.Limits = []engine.ResourceLimit{{Name: "nofile", Soft: 123, Hard: 456},
				{Name: "core", Soft: 0, Hard: engine.NoLimit}, {Name: "stack", Soft: 8 << 20, Hard: engine.NoLimit}}
		})
	s.supervise(k)
	lines := strings.Split(s.file("placectl-1.out"), "\n")
	want := []string{"0027", "123", "0", "4", ".", lines[6], lines[6], "500", "SigIgn:\t0000000000000000"}
	for i := range want {
		if strings.TrimSpace(lines[i]) != want[i] {
			t.Errorf("line %d of the command's output is %q, want %q", i, lines[i], want[i])
		}
	}
	if _, err := strconv.Atoi(lines[6]); err != nil {
		t.Error(err)
	}
}

// TestScript: a script is spooled, runs with its interpreter, and is removed with the attempt, as is what it
// leaves in TMPDIR.
func TestScript(t *testing.T) {
	s := newSite(t)
	k := s.job("", func(o *Order) {
		o.Command, o.Payload.Script = nil, "#!/bin/sh -e\necho \"$0\"; touch $TMPDIR/x; ls $TMPDIR; cat "+
			"$PLACECTL_NODEFILE; false; echo never\n"
	})
	r := s.supervise(k).Result
	lines := strings.Split(s.file("placectl-1.out"), "\n")
	if r.Exit != 1 || len(lines) != 4 || lines[1] != "x" || lines[2] != "n1" || filepath.Base(lines[0]) != scriptFile {
		t.Errorf("exit %d, want 1; output %q", r.Exit, lines)
	}
	if _, err := os.Stat(lines[0]); err == nil {
		t.Error("the script is still there")
	}
}
