package keeper

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

var wantGroups = flag.Bool("cgroups", false, "control groups have to be had here: testdata/cgroups/test.sh")

// groups makes a site whose attempts get control groups.
func groups(t *testing.T) (s *site, parent string) {
	t.Helper()
	g, err := (&keeper{parent: groupParent}).makeGroup("placectl-test")
	if err != nil && *wantGroups {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("no control groups here (testdata/cgroups/test.sh makes a machine that has them): ", err)
	}
	g.remove()
	return newSite(t), filepath.Dir(g.path)
}

func confined(memory int64, more ...func(*Order)) func(*Order) {
	return func(o *Order) {
		o.Enforce, o.Memory, o.Payload.Ending.Grace = "cgroup", memory, 300*time.Millisecond
		for _, m := range more {
			m(o)
		}
	}
}

// Lines of shell: one uses much memory. The other leaves a process behind that cannot be found by its
// parents, its session, or its environment.
const (
	much   = `dd if=/dev/zero of=/dev/null bs=60000000 count=1`
	escape = `(setsid env -i sleep 4711 >/dev/null 2>&1 </dev/null &)`
)

// escaped lists the processes that escape has left behind.
func escaped(t *testing.T) (list []int) {
	t.Helper()
	for _, pid := range processes() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if s, failed := statOf(pid); err == nil && failed == nil && s.state != 'Z' && strings.Contains(string(line),
			"sleep\x004711") {
			list = append(list, pid)
		}
	}
	return list
}

// TestControlGroups: an attempt in a control group is limited to its memory and its cores, all its processes
// are found, and the group is removed with it.
func TestControlGroups(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name     string
		line     string
		change   func(*Order)
		outcome  engine.Outcome
		exit     int
		why      string
		leftover int
		out      string // the command's output
	}{
		{name: "nothing", line: "exit 3", change: confined(0), exit: 3},
		{name: "less than a gate has", line: "exit 4", change: confined(2 * mib), exit: 4},
		{name: "memory", line: "exec " + much, change: confined(20 * mib), outcome: engine.OutcomeOOM, exit: 128 + 9,
			why: "it asked for 20 MiB of memory and used 20 MiB"},
		{name: "memory of a child", line: much + "; exit $?", change: confined(20 * mib), outcome: engine.OutcomeOOM,
			exit: 128 + 9, why: "it asked for 20 MiB"},
		{name: "memory of a child that it can do without", line: much + " || exit 0", change: confined(20 * mib)},
		{name: "enough memory", line: much, change: confined(400 * mib)},
		{name: "auto", line: "exec " + much, change: confined(20*mib, func(o *Order) { o.Enforce = "auto" }),
			outcome: engine.OutcomeOOM, exit: 128 + 9},
		{name: "cores", line: `cat /sys/fs/cgroup$(sed -n s/0:://p /proc/self/cgroup)/cpu.max`,
			change: confined(0, func(o *Order) { o.Cores = 3 }), out: "300000 100000\n"},
		{name: "all cores", line: `cat /sys/fs/cgroup$(sed -n s/0:://p /proc/self/cgroup)/cpu.max`,
			change: confined(0, func(o *Order) { o.Cores, o.Whole = 3, []int{4} }), out: "max 100000\n"},
		{name: "pinned",
			line:   `cd /sys/fs/cgroup$(sed -n s/0:://p /proc/self/cgroup); cat cpuset.cpus cpuset.mems; grep Cpus_allowed_list /proc/self/status`,
			change: confined(0, func(o *Order) { o.CPUs, o.Groups = []int{1}, []int{0} }),
			out:    "1\n0\nCpus_allowed_list:\t1\n"},
		{name: "memory of a node that is not here", line: `grep Cpus_allowed_list /proc/self/status`,
			change: confined(0, func(o *Order) { o.CPUs, o.Groups = []int{0}, []int{7} }),
			out:    "Cpus_allowed_list:\t0\n"},
		{name: "left behind", line: escape + "; sleep 0.3", change: confined(0), leftover: 1},
		{name: "walltime", line: escape + "; " + escape + "; trap '' TERM; while :; do sleep 1; done",
			change:  confined(0, func(o *Order) { o.Walltime = 3 * time.Second }),
			outcome: engine.OutcomeWalltime, exit: 128 + 9},
		{name: "groups of its own", change: confined(0), leftover: 1,
			line: `cd /sys/fs/cgroup$(sed -n s/0:://p /proc/self/cgroup); mkdir -p a/b; (setsid env -i sleep 4711 >/dev/null 2>&1 </dev/null & echo $! >a/b/cgroup.procs); sleep 0.3`},
		{name: "out of the group", change: confined(0), leftover: 1,
			line: `cd /sys/fs/cgroup$(sed -n s/0:://p /proc/self/cgroup)/..; mkdir aside; (setsid env -i sh -c "trap '' TERM; sleep 4711; sleep 4711" >/dev/null 2>&1 </dev/null & echo $! >aside/cgroup.procs); sleep 0.3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, parent := groups(t)
			if c.outcome == engine.OutcomeNone {
				c.outcome = engine.OutcomeExited
			}
			k := s.job(c.line, c.change, func(o *Order) { o.Payload.Out = s.dir + "/out" })
			r := s.supervise(k).Result
			if r.Outcome != c.outcome || r.Exit != c.exit || !strings.Contains(r.Why, c.why) ||
				r.Use.Leftover < c.leftover {
				t.Errorf("result %+v, want outcome %d, exit %d, why %q; notes:\n%s", r, c.outcome, c.exit, c.why,
					s.file("notes"))
			}
			if out := s.file("out"); c.out != "" && out != c.out {
				t.Errorf("the command wrote %q, want %q", out, c.out)
			}
			if r.Use.MemPeak == 0 {
				t.Error("its memory was not counted")
			}
			os.Remove(parent + "/aside")
			noneLeft(t, s, parent)
		})
	}
}

// noneLeft verifies that nothing of an attempt is left.
func noneLeft(t *testing.T, s *site, parent string) {
	t.Helper()
	if left, ours, far := s.left(), s.ours(), escaped(t); len(left) > 0 || len(ours) > 0 || len(far) > 0 {
		t.Errorf("left: slots %v, processes %v, escaped %v", left, ours, far)
		for _, pid := range far {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	if dirs, err := filepath.Glob(parent + "/placectl-*"); err != nil || len(dirs) > 0 {
		t.Errorf("left: control groups %v, %v", dirs, err)
	}
}

// TestControlGroupsAdopted: a keeper adopts a command, or finds it gone. By its group the keeper finds what
// the command has left behind, limits its memory, and knows what it has used.
func TestControlGroupsAdopted(t *testing.T) {
	for _, c := range []struct {
		name    string
		line    string
		all     bool // kill the warden and the command, too
		outcome []engine.Outcome
		why     string
	}{
		// Before Linux 6.15 it is unknown how an adopted command has ended.
		{name: "adopted", line: escape + "; sleep 1; " + much + "; exit 5",
			outcome: []engine.Outcome{engine.OutcomeExited, engine.OutcomeLost}},
		{name: "too much memory", line: escape + "; sleep 1; exec dd if=/dev/zero of=/dev/null bs=300000000 count=1",
			outcome: []engine.Outcome{engine.OutcomeOOM, engine.OutcomeLost}},
		{name: "all killed", line: "[ $PLACECTL_ATTEMPT = 1 ] || exit 0; " + escape + "; " + much + "; sleep 100",
			all: true, outcome: []engine.Outcome{engine.OutcomeLost}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, parent := groups(t)
			k := s.job(c.line, confined(200<<20))
			p := s.start(nil, "keep")
			s.until("begun", func() bool { return len(escaped(t)) == 1 })
			time.Sleep(200 * time.Millisecond)
			p.Kill()
			p.wait()
			group, err := filepath.Glob(parent + "/placectl-*")
			if err != nil || len(group) != 1 {
				t.Fatalf("control groups %v, %v, want one", group, err)
			}
			if c.all {
				for _, pid := range s.ours() {
					if kindOf(pid) == "placectl-job" {
						unix.Kill(pid, unix.SIGKILL)
					}
				}
				for _, pid := range (&cgroup{path: group[0]}).tasks() {
					if !slices.Contains(escaped(t), pid) {
						unix.Kill(pid, unix.SIGKILL)
					}
				}
			}
			s.pass()
			s.until("ended", s.ended(k))
			s.until("quiet", func() bool { return len(s.left())+len(s.ours()) == 0 })
			r := s.attempt(k).Result
			if !slices.Contains(c.outcome, r.Outcome) || r.Use.Leftover == 0 || r.Use.MemPeak < 1<<20 ||
				r.Use.CPUUser+r.Use.CPUSystem == 0 {
				t.Errorf("result %+v, want an outcome of %v with its resource use; notes:\n%s", r, c.outcome,
					s.file("notes"))
			}
			noneLeft(t, s, parent)
		})
	}
}

// TestGroupIsNotOurs: if the group cannot be made, enforce=cgroup says so.
func TestGroupIsNotOurs(t *testing.T) {
	_, err := newGroup("/proc/placectl")
	if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EACCES) {
		t.Error(err)
	}
}

// TestGroupFiles: what is written to a group's files, and read from them.
func TestGroupFiles(t *testing.T) {
	g := &cgroup{path: t.TempDir()}
	give := func(name, text string) {
		if err := os.WriteFile(filepath.Join(g.path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cpu.max", "cpuset.cpus", "cpuset.mems", "memory.max", "memory.swap.max"} {
		give(name, "")
	}
	has := func(want string) {
		t.Helper()
		got := ""
		for _, name := range []string{"cpu.max", "cpuset.cpus", "cpuset.mems", "memory.max", "memory.swap.max"} {
			text, err := os.ReadFile(filepath.Join(g.path, name))
			if err != nil {
				t.Fatal(err)
			}
			got += string(text) + ";"
		}
		if got != want {
			t.Errorf("the group's files have %q, want %q", got, want)
		}
	}
	o := &Order{Cores: 3, Memory: 100 << 20, CPUs: []int{2, 3, 10}, Groups: []int{1}}
	s := o.share()
	if err := g.limit(&s); err != nil {
		t.Fatal(err)
	}
	has("300000 100000;2,3,10;1;104857600;0;")
	o.Whole, o.Memory = []int{16}, 1<<20
	b := &begun{share: o.share()}
	if b.Cores != 0 {
		t.Error("a job with the whole node may not use all cores")
	}
	b.confined(g)
	has("300000 100000;2,3,10;1;1048576;0;")

	give("memory.events", "low 0\nmax 12\noom 1\noom_kill 0\n")
	give("memory.peak", "1048576\n")
	give("cpu.stat", "usage_usec 30\nuser_usec 2000000\nsystem_usec 1000000\n")
	if why := g.exceeded(); why != "" {
		t.Errorf("exceeded() = %q, want none", why)
	}
	give("memory.events", "low 0\nmax 12\noom 1\noom_kill 1\n")
	if why := g.exceeded(); why != "it asked for 1.0 MiB of memory and used 1.0 MiB" {
		t.Errorf("exceeded() after an oom_kill = %q", why)
	}
	if g.memory = 0; g.exceeded() != "its host had no memory left, and it used 1.0 MiB" {
		t.Errorf("exceeded() without a limit = %q", g.exceeded())
	}
	var u engine.ResourceUse
	if g.use(&u); u.CPUUser != 2*time.Second || u.CPUSystem != time.Second || u.MemPeak != 1<<20 {
		t.Errorf("use() = %+v", u)
	}
	if err := os.MkdirAll(g.path+"/a/b", 0o700); err != nil {
		t.Fatal(err)
	}
	give("a/b/cgroup.procs", fmt.Sprintln(os.Getpid()))
	if all, tasks := g.all(), g.tasks(); len(all) != 3 || !slices.Equal(tasks, []int{os.Getpid()}) {
		t.Errorf("all() = %v, tasks() = %v, want 3 groups and this process", all, tasks)
	}
	var none *cgroup
	none.use(&u)
	none.remove()
}
