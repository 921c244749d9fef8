package fronts_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/pbs"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/slurm"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// noCluster is a cluster of a few jobs and nodes, in which nothing changes.
type noCluster struct {
	now       time.Time
	submitted int
	changed   int
}

func (n *noCluster) View(fn func(fronts.View) error) error     { return fn(n) }
func (n *noCluster) Update(fn func(fronts.Change) error) error { return fn(n) }
func (n *noCluster) Wait(uint64) error                         { return nil }
func (n *noCluster) WaitStart(uint64) error                    { return nil }
func (n *noCluster) Unread() bool                              { return false }
func (n *noCluster) Script(uint64) (string, error)             { return "#!/bin/sh\n", nil }
func (n *noCluster) Missing(err error, _ string) bool          { return errors.Is(err, fs.ErrNotExist) }
func (n *noCluster) Do(fronts.Deed, uint64) error              { n.changed++; return nil }
func (n *noCluster) SetNode(string, string, string) error      { n.changed++; return nil }
func (n *noCluster) Signal(uint64, int) error                  { n.changed++; return nil }
func (n *noCluster) Throttle(uint64, int64) error              { n.changed++; return nil }
func (n *noCluster) Getenv(name string) string {
	return map[string]string{"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_TASKS_PER_NODE": "2(x2)",
		"SLURM_JOB_CPUS_PER_NODE": "4(x2)"}[name]
}
func (n *noCluster) Create(string, bool) (io.WriteCloser, error)  { return nil, fs.ErrPermission }
func (n *noCluster) Occupy([]fronts.CPUs, func()) (func(), error) { return func() {}, nil }
func (n *noCluster) Counted() int                                 { return 0 }
func (n *noCluster) Step(s *fronts.Step) ([]fronts.TaskEnd, error) {
	n.submitted++
	return make([]fronts.TaskEnd, len(s.Tasks)), nil
}

func (n *noCluster) Allocate(s fronts.Submission, _ func(*fronts.Job), _ func(*fronts.Job) []string) (int, error) {
	_, err := n.Submit(s)
	return 0, err
}

func (n *noCluster) read(family directives.Family, given []directives.Given, script string) error {
	_, err := directives.Read(infile.New("job", []byte(script)), directives.Options{Submits: family, Given: given,
		Now: n.now, MaxArray: 1000, Server: "placectl"})
	return err
}

func (n *noCluster) Submit(s fronts.Submission) ([]*fronts.Job, error) {
	if err := n.read(s.Family, s.Given, s.Script); err != nil {
		return nil, err
	}
	n.submitted++
	return []*fronts.Job{{ID: 99}}, nil
}

func (n *noCluster) Alter(_ uint64, family directives.Family, given []directives.Given) error {
	n.changed++
	return n.read(family, given, "")
}

func (n *noCluster) Jobs(s fronts.Selection, fn func(*fronts.Job) error) error {
	for i, state := range []fronts.State{fronts.Held, fronts.Queued, fronts.Running, fronts.Finished, fronts.Failed,
		fronts.Cancelled, fronts.Walltime, fronts.OOM, fronts.Lost} {
		j := &fronts.Job{ID: uint64(i + 1), Name: "a b\nc", User: "ann", Queue: "q", State: state, Submit: n.now,
			Start: n.now, End: n.now, Walltime: time.Hour,
			Select: "1:ncpus=2", Nodes: []string{"n1"}, NodeCount: 1, CPUs: 2, Tasks: 1,
			Detail: &fronts.Detail{Line: "qsub x", Dir: "/d", Out: "o"}}
		if i >= 4 {
			j.Array, j.Index = 5, i
		}
		if state.Over() && !s.Ended {
			continue
		}
		wanted := s.IDs == nil
		for _, id := range s.IDs {
			wanted = wanted || id == j.ID || id == j.Array
		}
		if wanted {
			if err := fn(j); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *noCluster) Nodes() ([]*fronts.Node, error) {
	return []*fronts.Node{{Name: "n1", State: fronts.Partly, CPUs: 4, CPUsUsed: 2, Jobs: []uint64{3}},
		{Name: "n2", Queue: "q", State: fronts.Down, Reason: "a b"}}, nil
}

func (n *noCluster) About() (*fronts.About, error) {
	return &fronts.About{Now: n.now, Server: "placectl", Partition: "main", Keep: 5 * time.Minute, Walltime: time.Hour,
		MaxArray: 1000, Queues: []string{"q"}, Database: "c.db"}, nil
}

// FuzzCommands: whatever a user types, a command of either front-end ends with a defined status. If
// it fails, it has submitted nothing, and says why. If it succeeds, its standard error is empty.
// Each line that it prints is printable.
func FuzzCommands(f *testing.F) {
	for _, line := range []string{
		"qsub -l select=2:ncpus=4 -N x -J 1-10:2%3", "qsub -hV -o a/ -W block=true,depend=afterok:3 -- sleep 1",
		"qstat -x -f -F json 5[]", "qstat -an1 -u ann", "qselect -s QR -l.ncpus.gt.2 -N x",
		"qalter -l walltime=1:00:00 2", "qdel 3[1-2].placectl x", "pbsnodes -av -F dsv", "qalter -q q 2", "qstat -Qf q",
		"sbatch --parsable -n 4 -t 1-2 --mem=4G --wrap true", "sbatch -a 1-9:2%3 -d afterok:3 -",
		"squeue -h -o %.18i|%5j|%T -j 1,5_2 -S -i", "squeue -O jobid:.20,name:-5 --start",
		"sacct -P -X -o jobid%20,state,exitcode -j 5_[1-3] -S now-1day", "scancel 5_[1-3] --state=PENDING",
		"scontrol show job -dd 3",
		"scontrol update job=2 TimeLimit=+10 Priority=5", "sinfo -N -o %N|%C|%t -p q",
		"srun -n 3 -l -c 2 -o %t.%J true", "srun -N 2-3 --ntasks-per-node=2 x", "salloc -n 2 -t 5 sh",
		"scontrol show hostnames n[1-3]",
	} {
		f.Add(line, "#!/bin/sh\n")
	}
	f.Fuzz(func(t *testing.T, line, script string) {
		words := strings.Fields(line)
		if len(words) == 0 || len(line) > 1000 {
			return
		}
		n := &noCluster{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		var stdout, stderr bytes.Buffer
		c := &fronts.Call{Name: words[0], Args: words[1:], Stdin: strings.NewReader(script), Stdout: &stdout,
			Stderr: &stderr, Cluster: n, Here: n,
			Host: fronts.Host{User: "ann", Zone: time.UTC, Dir: "/d", Exec: "n1", Master: true, People: everybody{},
				Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(script)), nil }}}
		status, done := pbs.System().Run(c)
		if !done {
			status, done = slurm.System().Run(c)
		}
		if !done {
			return
		}
		said := fmt.Sprintf("%q ends with %d and says %q, %q", line, status, stdout.String(), stderr.String())
		switch {
		case status < 0 || status > 255:
			t.Fatal("undefined status: " + said)
		case status != 0 && n.submitted > 0 && !waits(words):
			t.Fatal("it fails but has submitted a job: " + said)
		case status != 0 && stderr.Len() == 0 && stdout.Len() == 0 && !waits(words):
			t.Fatal("it fails without a message: " + said)
		case status == 0 && stderr.Len() > 0 && !explains(words):
			t.Fatal("it succeeds but writes to standard error: " + said)
		}
		for _, r := range stdout.String() {
			if r < ' ' && r != '\n' && r != '\t' && !strings.ContainsRune(line, r) {
				t.Fatalf("it prints the unprintable %q: %s", r, said)
			}
		}
	})
}

// everybody is a directory that has every user.
type everybody struct{}

func (everybody) UID(string) (uint32, bool)                              { return 1000, true }
func (everybody) PrimaryGroup(uint32) (name string, gid uint32, ok bool) { return "staff", 100, true }

// waits reports whether a command ends as its job has ended.
func waits(words []string) bool {
	line := strings.Join(words, " ")
	return strings.Contains(line, "-W") || strings.Contains(line, "block")
}

// explains reports whether a command prints something besides an answer: its usage, or when a job
// would start.
func explains(words []string) bool {
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "hH") ||
			strings.HasPrefix(w, "--h") || strings.HasPrefix(w, "--u") || strings.HasPrefix(w, "--t") ||
			strings.HasPrefix(w, "--m") || strings.HasPrefix(w, "-N") || strings.HasPrefix(w, "--n") {
			return true
		}
	}
	return false
}
