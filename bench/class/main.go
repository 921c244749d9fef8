// Command class measures the cost of planning class shares, on the states on which Scoot's load-based
// scheduler was measured.
//
//	go run ./bench/class [-runs 5]
//
// The arithmetic is how many tasks each class starts. The whole also finds each requestor's class and
// the tasks of its jobs, and lists the starts one by one. Scoot's figures are quoted, not measured here.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/placectl/placectl/placer/fairshare"
)

// scoot holds Scoot's times for the whole, and for its arithmetic alone.
var scoot = map[string][2]string{
	"6c_1kw_1kt":     {"174-491 us", "2.8-7.4 us"},
	"20c_10kw_100kt": {"2.7-5.1 ms", "1.1-1.4 us"},
	"100c_100kw_1Mt": {"47-110 ms", "59-78 us"},
}

// An input is a state. placer/fairshare/testdata/README.md describes it.
type input struct {
	Name    string
	Workers int
	Classes []struct {
		Name string
		Load int
		Jobs [][2]int // running, waiting
	}
}

func main() {
	runs := flag.Int("runs", 5, "how often each is measured")
	path := flag.String("inputs", "placer/fairshare/testdata/bench_inputs.jsonl", "the `file` of states")
	flag.Parse()
	inputs, err := read(*path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "class:", err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(1)
	fmt.Printf("%s, one of %d CPUs, %s; medians of %d\n\n", runtime.Version(), runtime.NumCPU(),
		time.Now().UTC().Format(time.DateOnly), *runs)
	t := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "state\tstarts\twhole\tScoot\tarithmetic\tScoot\t")
	for i := range inputs {
		in := &inputs[i]
		w := newWhole(in)
		arithmetic := in.state()
		var p fairshare.Planner
		whole := median(*runs, w.plan)
		alone := median(*runs, func() { must(p.Plan(arithmetic)) })
		fmt.Fprintf(t, "%s\t%d\t%v\t%s\t%v\t%s\t\n", in.Name, len(w.started), whole, scoot[in.Name][0], alone,
			scoot[in.Name][1])
	}
	t.Flush()
}

func read(path string) (inputs []input, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var in input
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, lines.Err()
}

// state returns the input without its jobs.
func (in *input) state() *fairshare.State {
	s := &fairshare.State{TotalWorkers: in.Workers}
	for _, c := range in.Classes {
		class := fairshare.Class{Name: c.Name, Load: c.Load}
		for _, j := range c.Jobs {
			class.Running += j[0]
			class.Waiting += j[1]
		}
		s.Classes = append(s.Classes, class)
	}
	return s
}

// whole is everything that a scheduler does for a plan.
type whole struct {
	in         *input
	requestors []string
	matcher    *fairshare.Matcher
	places     map[string]int
	state      fairshare.State
	planner    fairshare.Planner
	started    []task
}

// A task is a task that starts, of a job of a class.
type task struct{ class, job, task int32 }

func newWhole(in *input) *whole {
	w := &whole{in: in}
	var settings fairshare.Settings
	for _, c := range in.Classes {
		w.requestors = append(w.requestors, "team-"+c.Name)
		settings.Loads = append(settings.Loads, fairshare.ClassLoad{Class: c.Name, Load: c.Load})
		settings.Map = append(settings.Map, fairshare.Mapping{Class: c.Name, Requestor: c.Name + "$"})
	}
	w.matcher = must(settings.Matcher())
	w.state.TotalWorkers = in.Workers
	w.state.Classes, w.places = settings.NewClasses()
	return w
}

func (w *whole) plan() {
	for i := range w.state.Classes {
		c := &w.state.Classes[i]
		c.Running, c.Waiting, c.Jobs = 0, 0, c.Jobs[:0]
	}
	for i, requestor := range w.requestors {
		class, _ := w.matcher.Class(requestor)
		c := &w.state.Classes[w.places[class]]
		for _, j := range w.in.Classes[i].Jobs {
			c.Running += j[0]
			c.Waiting += j[1]
			c.Jobs = append(c.Jobs, fairshare.Job{Running: j[0], Waiting: j[1]})
		}
	}
	plan := must(w.planner.Plan(&w.state))
	w.started = w.started[:0]
	for c := range plan.Classes {
		for j, n := range plan.Classes[c].JobStarts {
			for k := range n {
				w.started = append(w.started, task{int32(c), int32(j), int32(k)})
			}
		}
	}
}

// median returns the median time of do. Each measurement is the mean of many calls.
func median(runs int, do func()) time.Duration {
	var times []time.Duration
	for range runs {
		n := 1
		for {
			began := time.Now()
			for range n {
				do()
			}
			if took := time.Since(began); took > 50*time.Millisecond {
				times = append(times, took/time.Duration(n))
				break
			}
			n *= 2
		}
	}
	slices.Sort(times)
	return times[runs/2]
}

// must returns v, and panics on an error. It is for states and settings known to be valid.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
