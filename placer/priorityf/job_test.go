package priorityf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// TestJobPriorityAsSlurm: the sum of Slurm's multifactor plugin, written as an expression, has
// the value that sprio prints, part by part.
func TestJobPriorityAsSlurm(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/sprio.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct {
			ID      string
			Weights map[string]float64
			Cluster struct {
				CPUs, Nodes float64
				Queue       float64 `json:"max_queue_priority"`
				Class       float64 `json:"max_class_priority"`
				MaxAge      float64 `json:"max_age"`
			}
			Job struct {
				NCPUs, Nodes int64
				Queue        float64 `json:"queue_priority"`
				Class        float64 `json:"class_priority"`
				Age          float64 `json:"age_factor"`
				Fairshare    float64
			}
			Expect struct {
				Priority float64
				Parts    map[string]any
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		w := row.Weights
		text := fmt.Sprintf("%v*min(1, AGE/%v) + %v*FAIRSHARE + %v*(NODES/TOTALNODES + SIZE/TOTALCPUS)/2 + "+
			"%v*QUEUE/MAXQUEUE + %v*CLASS/MAXCLASS + %v*ASK.ncpus/TOTALCPUS",
			w["AGE"], row.Cluster.MaxAge, w["FAIRSHARE"], w["JOBSIZE"], w["PARTITION"], w["QOS"], w["CPU"])
		p, err := ParseJob(index.NewDefs(), text)
		if err != nil {
			t.Fatal(err)
		}
		facts := &JobFacts{Age: int64(math.Round(row.Job.Age * row.Cluster.MaxAge)), Size: row.Job.NCPUs,
			Nodes: row.Job.Nodes, Walltime: 60}
		var values []float64
		for _, term := range p.Terms() {
			v, ok := term.Fact(facts)
			switch {
			case ok:
			case term.Kind == JobTermFairshare:
				v = row.Job.Fairshare
			case term.Kind == JobTermTotalCPUs:
				v = row.Cluster.CPUs
			case term.Kind == JobTermTotalNodes:
				v = row.Cluster.Nodes
			case term.Kind == JobTermMaxQueue:
				v = row.Cluster.Queue
			case term.Kind == JobTermMaxClass:
				v = row.Cluster.Class
			case term.Kind == JobTermAsk:
				v = float64(row.Job.NCPUs) / term.One
			case term.Kind == JobTermNumber && term.Whom == subject.Queue:
				v = row.Job.Queue
			case term.Kind == JobTermNumber:
				v = row.Job.Class
			}
			values = append(values, v)
		}
		if got := math.Floor(p.Eval(values)); got != row.Expect.Priority {
			t.Errorf("%s: priority %v, sprio says %v", row.ID, got, row.Expect.Priority)
		}
		for i, name := range []string{"AGE", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "CPU"} {
			want := fmt.Sprint(row.Expect.Parts[name])
			if got := fmt.Sprint(math.Floor(p.Parts(values)[i].Value)); got != strings.TrimPrefix(want, "cpu=") {
				t.Errorf("%s: part %s is %s, sprio says %s", row.ID, name, got, want)
			}
		}
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// TestJobPriorityText: terms in any case, presets by name, and errors in a text.
func TestJobPriorityText(t *testing.T) {
	t.Parallel()
	defs := index.NewDefs()
	defs.SetPools([]string{"fluent"})
	for text, want := range map[string]string{
		"priority":                     "PRIORITY",
		" fifo ":                       "0",
		"age/3600 + ask.Fluent*2":      "AGE/3600 + ASK.fluent*2",
		"ASK.mem-SIZE":                 "ASK.mem - SIZE",
		"usage.USER - target.account":  "USAGE.user - TARGET.account",
		"10 * user + 5*Queue/maxqueue": "10*USER + 5*QUEUE/MAXQUEUE",
		"max(DEADLINE, walltime, 3)":   "max(DEADLINE, WALLTIME, 3)",
		"AGE + AGE":                    "AGE + AGE",
	} {
		p, err := ParseJob(defs, text)
		if err != nil || p.String() != want {
			t.Errorf("%q is %v (%v), want %s", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"":             "it is empty",
		"AGES":         `no term "AGES"; did you mean AGE?`,
		"SPEED":        `no term "SPEED"`,
		"USAGE":        "expected . and one of user, group, account, class, queue after USAGE",
		"TARGET.queue": `no TARGET of "queue": there are user, account, class`,
		"ASK.nosuch":   `no resource "nosuch"`,
		"ASK.arch":     "arch is not a consumable resource",
		"A.ncpus":      `no term "A"`,
		"AGE PRIORITY": "expected + - * / or the end",
	} {
		if _, err := ParseJob(defs, text); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "job_priority") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, preset := range jobPresets {
		if p, err := ParseJob(defs, preset.name); err != nil || p.IsDefault() {
			t.Errorf("%s: %v", preset.name, err)
		}
	}
	if p, err := ParseJob(defs, "AGE + ASK.fluent + AGE"); err != nil || len(p.Terms()) != 2 || !p.Names("fluent") ||
		p.Names("ncpus") || !p.Speaks(JobTermAge) || p.Speaks(JobTermFairshare) {
		t.Errorf("%+v: %v", p, err)
	}
}

// TestJobPriorityLaws: whatever the expression and the values, the value is finite, its
// parts add up to it, and the normal form reads back as the same.
func TestJobPriorityLaws(t *testing.T) {
	t.Parallel()
	defs := index.NewDefs()
	words := []string{"PRIORITY", "AGE", "XFACTOR", "FAIRSHARE", "USAGE.user", "TARGET.class", "ASK.ncpus", "BYPASS",
		"MAXQUEUE", "3", ".5", "1e9", "(AGE - 2)", "min(AGE, SIZE)", "abs(-USER)"}
	signs := []string{" + ", " - ", "*", "/", "*-"}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(words).Draw(rt, "word")
		for range rapid.IntRange(0, 8).Draw(rt, "more") {
			text += rapid.SampledFrom(signs).Draw(rt, "sign") + rapid.SampledFrom(words).Draw(rt, "word")
		}
		p, err := ParseJob(defs, text)
		if err != nil {
			rt.Fatal(err)
		}
		values := make([]float64, len(p.Terms()))
		for i := range values {
			values[i] = rapid.SampledFrom([]float64{0, 1, -1, 1e300, -1e300, math.Inf(1), math.NaN(), 86400}).Draw(rt,
				"value")
		}
		v, sum := p.Eval(values), 0.0
		for _, part := range p.Parts(values) {
			sum = clamp(sum + part.Value)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || sum != v {
			rt.Errorf("%s is %v, its parts come to %v", p, v, sum)
		}
		again, err := ParseJob(defs, p.String())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(p, again, cmp.AllowUnexported(JobFunction{}, Function{}, expr{})); diff != "" {
			rt.Errorf("%s does not read back (-first +again)\n%s", p, diff)
		}
	})
}
