package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

var namesSeed = flag.Uint64("names-seed", 0, "the seed of TestNames, 0 for a new one")

// nameForms are ways to write the same jobs: an array, and a job of it. The first is by numbers alone.
var nameForms = [][]string{
	{"3-6", "2", "2[]", "sweep", "2[0-3]", "2-6", "2[0-1,2-3]", "sweep[0-3]"},
	{"5", "2[2]", "sweep[2]", "5-5"},
	{"1", "first", "1-1"},
}

// nameVerbs take jobs; JOB stands for them.
var nameVerbs = []string{"hold JOB", "unhold JOB", "cancel JOB", "cancel JOB --waiting", "requeue JOB", "release JOB",
	"alter JOB --comment x -t 2h",
	"alter JOB -t 2h", "retry JOB", "wait JOB --timeout 0", "wait JOB --for started --timeout 0", "show JOB",
	"show JOB --env", "events --job JOB", "logs JOB",
	"logs JOB --attempt 1"}

// nameVerbsOfOne take one job, by a number or a name.
var nameVerbsOfOne = []string{"done JOB", "done JOB --status 2", "extend JOB -t 2h", "explain JOB", "when --job JOB",
	"signal JOB TERM",
	"submit 1 --afterok JOB --chdir / -- true", "submit 1 --afternotok JOB --chdir / -- true",
	"submit 1 --after JOB --chdir / -- true"}

// nameWholes are verbs for which an array is one thing, and ways to write it.
var (
	nameVerbsOfWhole = []string{"submit 1 --afterok JOB --chdir / -- true", "submit 1 --afterany JOB --chdir / -- true",
		"explain JOB", "when --job JOB",
		"job throttle JOB 2", "done JOB", "extend JOB -t 2h", "show JOB", "events --job JOB"}
	nameWholes = []string{"2", "2[]", "sweep"}
)

// ofLive are the verbs that do not find a name whose jobs have all ended.
const ofLive = "hold unhold cancel requeue release alter signal done extend"

// nameFronts are commands of other schedulers, and what they do in words of ours.
var nameFronts = []struct {
	ours  string
	lines []string
}{
	{"cancel 3-6", []string{"slurm scancel 2", "slurm scancel 2_[0-3]", "slurm scancel 3 4 5 6", "pbs qdel 2[]",
		"pbs qdel 2", "pbs qdel 2[0-3]", "pbs qdel 3 4 5 6"}},
	{"cancel 5", []string{"slurm scancel 2_2", "slurm scancel 5", "pbs qdel 2[2]", "pbs qdel 5"}},
	{"hold 3-6", []string{"slurm scontrol hold 2", "slurm scontrol hold 2_[0-3]", "pbs qhold 2[]", "pbs qhold 2"}},
	{"hold 5", []string{"slurm scontrol hold 2_2", "slurm scontrol hold 5", "pbs qhold 2[2]", "pbs qhold 5"}},
	{"hold 3-4", []string{"slurm scontrol hold 2_[0-1]", "slurm scontrol hold 3,4", "pbs qhold 2[0-1]",
		"pbs qhold 3 4"}},
	{"requeue 5", []string{"slurm scontrol requeue 2_2", "slurm scontrol requeue 5", "pbs qrerun 2[2]",
		"pbs qrerun 5"}},
	{"cancel 1", []string{"slurm scancel 1", "slurm scancel --name first", "pbs qdel 1"}},
	{"alter 5 -t 2h", []string{"slurm scontrol update jobid=2_2 timelimit=2:00:00",
		"slurm scontrol update jobid=5 timelimit=2:00:00",
		"pbs qalter -l walltime=2:00:00 2[2]", "pbs qalter -l walltime=2:00:00 5"}},
}

// nameAsked are questions of other schedulers about the same jobs: they have one answer.
var nameAsked = [][]string{
	{"slurm squeue -h -o %i:%T -j 2", "slurm squeue -h -o %i:%T -j 2_[0-3]", "slurm squeue -h -o %i:%T -n sweep"},
	{"slurm squeue -h -r -o %i:%T -j 2", "slurm squeue -h -r -o %i:%T -j 2_0,2_1,2_2,2_3",
		"slurm squeue -h -r -o %i:%T -j 3,4,5,6"},
	{"slurm squeue -h -o %i:%T -j 2_2", "slurm squeue -h -o %i:%T -j 5"},
	{"slurm sacct -n -P -o jobid,state -j 2", "slurm sacct -n -P -o jobid,state -j 2_0,2_1,2_2,2_3",
		"slurm sacct -n -P -o jobid,state -j 3,4,5,6"},
	{"slurm sacct -n -P -o jobid,state -j 2_2", "slurm sacct -n -P -o jobid,state -j 5"},
	{"slurm scontrol show job 2_2", "slurm scontrol show job 5"},
	{"pbs qstat 2[2]", "pbs qstat 5"}, {"pbs qstat -f 2[2]", "pbs qstat -f 5"}, {"pbs qstat 2[]", "pbs qstat 2"},
	{"pbs qstat -t 2[]", "pbs qstat -t 2"},
}

// TestNames: a job or an array is the same by each of its names, in each verb, at the prompt and inside a job of
// the array, and in other schedulers' commands. The short form takes a sample by seed.
func TestNames(t *testing.T) {
	seed := *namesSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-names-seed=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for state, steps := range map[string][]string{"waits": nil, "held": {"hold 1-6"}, "runs": {"cycle"},
		"ended": {"cycle", "done 1-4", "done 5-6 --status 3"}} {
		template := filepath.Join(t.TempDir(), "jobs.db")
		lines := append([]string{"init --any-time", "node add n1 ncpus=8", "submit 1 --name first --chdir / -- true",
			"submit 1 --array 4 --name sweep --chdir / -- true"}, steps...)
		for _, line := range lines {
			if status, said := namesRun(t, template, "", line); status != 0 {
				t.Fatalf("%s: status %d: %s", line, status, said)
			}
		}
		compare := func(numbers, named, job string, answers bool) {
			if !*long && random.IntN(20) > 0 {
				return
			}
			want, got := namesTry(t, template, job, numbers), namesTry(t, template, job, named)
			if !answers {
				want, got = want[2:], got[2:]
			} else if want[0] == got[0] && want[0] != "0" { // the message may repeat the word
				want[1], got[1] = "", ""
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("jobs: %s, PLACECTL_JOB=%s, -%s +%s\n%s", state, job, numbers, named, diff)
			}
		}
		alike := func(verb string, forms []string) {
			for _, form := range forms[1:] {
				if state == "ended" && jobref.IsName(form) && strings.Contains(ofLive, strings.Fields(verb)[0]) {
					continue // of a name one must live
				}
				for _, output := range []string{"", " -o json"} {
					line := func(form string) string { return strings.Replace(verb, "JOB", form, 1) + output }
					compare(line(forms[0]), line(form), "", true)
					compare(line(forms[0]), line(form), "4", true)
				}
			}
		}
		for _, verb := range nameVerbs {
			for _, forms := range nameForms {
				alike(verb, forms)
			}
		}
		for _, verb := range nameVerbsOfOne {
			alike(verb, nameForms[1][:3])
			alike(verb, nameForms[2][:2])
		}
		for _, verb := range nameVerbsOfWhole {
			alike(verb, nameWholes)
		}
		for _, lines := range nameAsked {
			for _, line := range lines[1:] {
				compare(lines[0], line, "", true)
			}
		}
		if state != "waits" {
			continue
		}
		for _, f := range nameFronts {
			for _, line := range f.lines {
				compare(f.ours, line, "", false)
			}
		}
	}
}

// namesTry runs a line on a copy, and returns its status, what it said, and the jobs as they are then.
func namesTry(t *testing.T, template, job, line string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(template))); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, filepath.Base(template))
	status, said := namesRun(t, db, job, line)
	_, jobs := namesRun(t, db, "",
		"query -q -o csv 'SELECT job, state, walltime, comment, retry_of FROM jobs ORDER BY job'")
	return []string{fmt.Sprint(status), said, jobs}
}

// namesRun runs a line, inside a job unless that is "".
func namesRun(t *testing.T, db, job, line string) (status int, said string) {
	t.Helper()
	words, err := text.SplitWords(line)
	if err != nil {
		t.Fatal(err)
	}
	c := newCapture(words...)
	c.vars["PLACECTL_DB"], c.vars["PLACECTL_JOB"], c.vars["USER"] = db, job, "ann"
	c.vars[session.StartVariable] = engine.StartManual
	status = c.run()
	return status, strings.ReplaceAll(c.out.String()+c.err.String(), filepath.Dir(db), "@")
}
