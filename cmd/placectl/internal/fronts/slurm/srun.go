package slurm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/outname"
	"github.com/placectl/placectl/internal/text"
)

// srunOnly are options of srun that scripts of sbatch lack, or have with another meaning.
var srunOnly = sync.OnceValue(func() fronts.Options {
	return fronts.Declare("l,label u,unbuffered K,kill-on-bad-exit? W,wait= mpi= cpu-bind= cpu_bind= mem-bind= " +
		"accel-bind= X,disable-status T,threads= exact overlap " +
		"r,relative= multi-prog pty? jobid= Q,quiet v,verbose E,preserve-env task-prolog= task-epilog= prolog= " +
		"epilog= slurmd-debug= propagate? m,distribution= " +
		"O,overcommit resv-ports? compress? bcast? h,help usage x,exclude= het-group= tres-bind= tres-per-task= " +
		"whole send-libs?")
})

// srunOptions returns the options of srun's command line.
func srunOptions() fronts.Options {
	own := srunOnly()
	for _, d := range directives.DeclaredFor("srun") {
		if !slices.ContainsFunc(own, func(o directives.Declared) bool {
			return d.Long != "" && o.Long == d.Long || d.Long == "" && o.Short == d.Short
		}) {
			if slices.ContainsFunc(own, func(o directives.Declared) bool {
				return d.Short != 0 && o.Short == d.Short
			}) {
				d.Short = 0
			}
			own = append(own, d)
		}
	}
	return own
}

// srun runs a step of the job in which it was typed, or a job of its own outside of one.
func srun(c *fronts.Call) error {
	given, words, err := srunOptions().Read(c.Args, fronts.InFront)
	if err != nil {
		return usage(c, 255, err)
	}
	set := fronts.SetOf(given)
	switch {
	case set.Has("help", "usage"):
		return fronts.Failf(0, "Usage: srun [OPTIONS...] executable [args...]")
	case set["mpi"] == "list":
		return fronts.Failf(0, "MPI plugin types are...\n\tnone")
	case set.Has("mpi") && set["mpi"] != "none":
		return fronts.Failf(1, "srun: error: --mpi=%s: there is none here; mpiexec and mpirun start ranks on the "+
			"nodes of a job by themselves", set["mpi"])
	case set.Has("multi-prog", "het-group"):
		return fronts.Failf(1, "srun: error: --multi-prog and --het-group are not here: one srun for each "+
			"program, and wait")
	case len(words) == 0:
		return fronts.Failf(1, "srun: fatal: No command given to execute.")
	}
	if c.Getenv("SLURM_JOB_ID") == "" && c.Getenv("PLACECTL_JOB") == "" {
		return ownJob(c, given)
	}
	return step(c, set, words)
}

// maxTasks bounds a step's tasks and other numbers.
const maxTasks = 100_000

// amount reads the number of an option, 0 if it was not given.
func amount(set fronts.Set, name string) (int, error) {
	said, ok := set[name]
	if !ok {
		return 0, nil
	}
	if name == "nodes" { // 2-4: as many as there are
		said, _, _ = strings.Cut(said, "-")
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < 0 || n > maxTasks || n == 0 && name != "relative" {
		return 0, fronts.Failf(1, "srun: error: Invalid numeric value \"%s\" for --%s.", text.Printable(set[name]),
			name)
	}
	return n, nil
}

// shapeOf reads what a step requests.
func shapeOf(set fronts.Set) (s shape, err error) {
	for name, to := range map[string]*int{"ntasks": &s.tasks, "nodes": &s.nodes, "ntasks-per-node": &s.perNode,
		"cpus-per-task": &s.cpus, "relative": &s.relative} {
		n, failed := amount(set, name)
		if failed != nil {
			return s, failed
		}
		*to = n
	}
	s.overcommit = set.Has("overcommit")
	s.cyclic = strings.HasPrefix(set["distribution"], "cyclic")
	for name, to := range map[string]*[]string{"nodelist": &s.nodelist, "exclude": &s.omit} {
		if *to, err = expand(set[name]); err != nil {
			return s, fronts.Failf(1, "srun: error: Invalid node name specified")
		}
	}
	return s, nil
}

// step runs a step.
func step(c *fronts.Call, set fronts.Set, words []string) error {
	s, err := shapeOf(set)
	if err != nil {
		return err
	}
	a, err := allocated(c.Getenv)
	if err != nil {
		return err
	}
	l, err := s.lay(a, func(text string) { fmt.Fprintln(c.Stderr, text) })
	if err != nil {
		return err
	}
	export, err := exportOf(cmp.Or(set["export"], c.Getenv("SLURM_EXPORT_ENV")))
	if err != nil {
		return err
	}
	gpus, err := l.gpus(c, set["gpus-per-task"])
	if err != nil {
		return err
	}
	if set.Has("exact") {
		free, err := c.Occupy(l.cpus(a, max(1, s.cpus)), func() {
			if !set.Has("quiet") {
				fmt.Fprintln(c.Stderr, "srun: Job "+cmp.Or(c.Getenv("SLURM_JOB_ID"), c.Getenv("PLACECTL_JOB"))+
					" step creation temporarily disabled, retrying (Requested nodes are busy)")
			}
		})
		if err != nil {
			return err
		}
		defer free()
	}
	st := &stepping{export: export, gpus: gpus, c: c, set: set, layout: l, number: c.Counted(),
		job: c.Getenv("SLURM_JOB_ID"), files: make(map[string]io.WriteCloser)}
	if st.job == "" {
		st.job = c.Getenv("PLACECTL_JOB")
	}
	defer st.close()
	out := &fronts.Step{In: c.Stdin, Together: together(set)}
	for rank := range l.node {
		t, err := st.task(rank, words)
		if err != nil {
			return err
		}
		out.Tasks = append(out.Tasks, t)
	}
	ends, err := c.Step(out)
	if err != nil {
		return err
	}
	return l.ended(c, ends)
}

// together reads --kill-on-bad-exit, whose value may be 0 or 1.
func together(set fronts.Set) bool {
	value, ok := set["kill-on-bad-exit"]
	return ok && value != "0"
}

// stepping is a step that is being started.
type stepping struct {
	*layout
	c      *fronts.Call
	set    fronts.Set
	job    string
	number int
	export *export
	gpus   []string // variables of each task's devices, nil if it has those of the job
	files  map[string]io.WriteCloser
	labels []*labelled
	pen    sync.Mutex // lines of labelled tasks are written whole
}

// close writes unfinished lines of tasks, and closes the files.
func (st *stepping) close() {
	for _, w := range st.labels {
		w.flush() //nolint:errcheck // nothing comes after it
	}
	for _, f := range st.files {
		f.Close()
	}
}

// task returns a task of the step.
func (st *stepping) task(rank int, words []string) (t fronts.Task, err error) {
	t = fronts.Task{Node: st.nodes[st.node[rank]], Words: words, Env: st.environ(rank), Keeps: st.export.keeps()}
	switch in := st.set["input"]; {
	case in == "" || in == "all":
		t.Feed = len(st.node) > 1
		t.In = st.c.Stdin
	case in == "none":
	case strings.Trim(in, "0123456789") == "":
		if in == strconv.Itoa(rank) {
			t.In = st.c.Stdin
		}
	default:
		name, err := st.pattern(in, rank)
		if err != nil {
			return t, err
		}
		file, err := st.c.Open(name)
		if err != nil {
			return t, fronts.Failf(1, "srun: error: Could not open stdin file: %v", err)
		}
		t.In = file
	}
	if t.Out, err = st.output("output", rank, st.c.Stdout); err != nil {
		return t, err
	}
	if st.set.Has("error") || !st.set.Has("output") {
		t.Err, err = st.output("error", rank, st.c.Stderr)
	} else {
		t.Err = t.Out
	}
	return t, err
}

// output returns where a stream of a task goes, nil for nowhere.
func (st *stepping) output(option string, rank int, usual io.Writer) (io.Writer, error) {
	to := st.set[option]
	switch {
	case to == "none":
		return nil, nil
	case to != "" && to != "all" && strings.Trim(to, "0123456789") == "":
		if to != strconv.Itoa(rank) {
			return nil, nil
		}
	case to != "" && to != "all":
		name, err := st.pattern(to, rank)
		if err != nil {
			return nil, err
		}
		if st.files[name] == nil {
			f, err := st.c.Create(name, strings.HasPrefix(st.set["open-mode"], "a"))
			if err != nil {
				return nil, fronts.Failf(1, "srun: error: Could not open %s file: %v", option, err)
			}
			st.files[name] = f
		}
		usual = st.files[name]
	}
	if st.set.Has("label") {
		w := &labelled{to: usual, label: fmt.Sprintf("%*d: ", len(strconv.Itoa(len(st.node)-1)), rank), pen: &st.pen}
		st.labels = append(st.labels, w)
		return w, nil
	}
	return usual, nil
}

// pattern returns the name of a task's file.
func (st *stepping) pattern(text string, rank int) (string, error) {
	step := strconv.Itoa(st.number)
	values := map[byte]string{'j': st.job, 'A': st.job, 'J': st.job + "." + step, 's': step, 't': strconv.Itoa(rank),
		'n': strconv.Itoa(st.node[rank]),
		'N': st.nodes[st.node[rank]], 'u': st.c.User, 'x': st.c.Getenv("SLURM_JOB_NAME"),
		'a': st.c.Getenv("SLURM_ARRAY_TASK_ID"), '%': "%"}
	if first := st.c.Getenv("SLURM_ARRAY_JOB_ID"); first != "" {
		values['A'] = first
	}
	return outname.Replace(text, func(width string, letter byte) (string, error) {
		value, ok := values[letter]
		switch {
		case letter == 0:
			return "", fronts.Failf(1, "srun: error: %s: there is nothing behind the %%", text)
		case !ok:
			return "", fronts.Failf(1, "srun: error: %s: %%%c means nothing here", text, letter)
		}
		return outname.Padded(value, width, 10), nil
	})
}

// environ returns the variables that srun adds to its own environment for a task.
func (st *stepping) environ(rank int) []string {
	at, tasks := st.node[rank], strconv.Itoa(len(st.node))
	var here []string
	for other, node := range st.node {
		if node == at {
			here = append(here, strconv.Itoa(other))
		}
	}
	step := strconv.Itoa(st.number)
	env := []string{"SLURM_PROCID=" + strconv.Itoa(rank), "SLURM_LOCALID=" + strconv.Itoa(st.local[rank]),
		"SLURM_NODEID=" + strconv.Itoa(at),
		"SLURM_GTIDS=" + strings.Join(here, ","), "SLURM_NTASKS=" + tasks, "SLURM_NPROCS=" + tasks,
		"SLURM_STEP_NUM_TASKS=" + tasks,
		"SLURM_NNODES=" + strconv.Itoa(len(st.nodes)), "SLURM_STEP_NUM_NODES=" + strconv.Itoa(len(st.nodes)),
		"SLURM_STEP_NODELIST=" + fold(st.nodes),
		"SLURM_STEP_TASKS_PER_NODE=" + text.Repeats(st.count), "SLURM_TASKS_PER_NODE=" + text.Repeats(st.count),
		"SLURM_STEP_ID=" + step, "SLURM_STEPID=" + step, "SLURM_JOB_ID=" + st.job, "SLURM_JOBID=" + st.job,
		"SLURMD_NODENAME=" + st.nodes[at]}
	if n := st.set["cpus-per-task"]; n != "" {
		env = append(env, "SLURM_CPUS_PER_TASK="+n)
	}
	if dir := st.set["chdir"]; dir != "" {
		env = append(env, "PWD="+dir)
	}
	if st.gpus != nil {
		env = append(env, st.gpus[rank])
	}
	return append(env, st.export.sets...)
}

// labelled writes whole lines, each with a label in front.
type labelled struct {
	to    io.Writer
	label string
	line  []byte
	pen   *sync.Mutex
}

func (w *labelled) Write(b []byte) (int, error) {
	w.pen.Lock()
	defer w.pen.Unlock()
	for _, c := range b {
		if len(w.line) == 0 {
			w.line = append(w.line, w.label...)
		}
		if w.line = append(w.line, c); c == '\n' {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

// flush writes the rest of an unfinished line.
func (w *labelled) flush() error {
	_, err := w.to.Write(w.line)
	w.line = w.line[:0]
	return err
}

// signals are the words for the signals that end tasks most often.
var signals = map[int]string{1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 6: "Aborted",
	7: "Bus error", 8: "Floating point exception",
	9: "Killed", 11: "Segmentation fault", 13: "Broken pipe", 14: "Alarm clock", 15: "Terminated"}

// ended reports the tasks that have failed, and ends with the worst exit status.
func (l *layout) ended(c *fronts.Call, ends []fronts.TaskEnd) error {
	worst := 0
	ranks := make(map[string][]int) // by message
	var said []string
	for rank, e := range ends {
		if e.Status == 0 {
			continue
		}
		worst = max(worst, e.Status)
		why := fmt.Sprintf("Exited with exit code %d", e.Status)
		if e.Signal != 0 {
			if why = signals[e.Signal]; why == "" {
				why = "Signal " + strconv.Itoa(e.Signal)
			}
		}
		if e.Why != "" {
			fmt.Fprintf(c.Stderr, "slurmstepd: error: execve(): %s\n", e.Why)
		}
		key := l.nodes[l.node[rank]] + "\x00" + why
		if ranks[key] == nil {
			said = append(said, key)
		}
		ranks[key] = append(ranks[key], rank)
	}
	for _, key := range said {
		node, why, _ := strings.Cut(key, "\x00")
		word := "task"
		if len(ranks[key]) > 1 {
			word = "tasks"
		}
		fmt.Fprintf(c.Stderr, "srun: error: %s: %s %s: %s\n", node, word, text.Ranges(ranks[key]), why)
	}
	if worst == 0 {
		return nil
	}
	return &fronts.Status{Code: worst}
}
