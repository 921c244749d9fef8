package queue

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/priority"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/placer/subject"
)

// The setting job_priority orders waiting jobs. By default that is the submitted priority, in
// whose order the queue is stored, and nothing is computed. Any other expression is evaluated
// for each waiting job, at whole multiples of the setting priority_every, so that plans do not
// change every few seconds.

// Priorities gives access to the order of jobs in a transaction, and to the numbers it uses besides
// the jobs' own.
type Priorities struct{ tx *kernel.Tx }

// PrioritiesOf returns the order of jobs in a transaction.
func PrioritiesOf(tx *kernel.Tx) Priorities { return Priorities{tx} }

// Each calls fn for the numbers by kind and name, until fn fails.
func (ps Priorities) Each(fn func(users.Number) error) error {
	return users.EachNumber(ps.tx.File, fn)
}

// Set sets a number; the default is 0. It fails with ErrInvalid.
func (ps Priorities) Set(n users.Number) error {
	if err := users.Operates(ps.tx, "priorities"); err != nil {
		return err
	}
	*Orders.In(ps.tx) = nil
	ps.tx.Loaded.Freed.Anywhere()
	return users.SetNumber(ps.tx.File, n, kernel.MaxPriority)
}

// Of returns the value of job_priority for a job, and the terms that it adds up.
func (ps Priorities) Of(j *kernel.Job) (value float64, parts []priorityf.Term, err error) {
	r := j.Row()
	set, err := ps.tx.Settings()
	if err != nil {
		return 0, nil, err
	}
	if set.JobPriority == "" {
		v := float64(j.Priority)
		return v, []priorityf.Term{{Text: priorityf.DefaultJob, Value: v}}, nil
	}
	o, err := OrderOf(ps.tx, nil)
	if err != nil {
		return 0, nil, err
	}
	if value, err = o.Of(&r); err != nil {
		return 0, nil, err
	}
	return value, o.Parts(), nil
}

// priorityIn returns what says a waiting job's priority.
func priorityIn(tx *kernel.Tx) func(*row.Job) (float64, error) {
	return func(j *row.Job) (float64, error) {
		set, err := tx.Settings()
		if err != nil || set.JobPriority == "" {
			return float64(j.Priority), err
		}
		o, err := OrderOf(tx, nil)
		if err != nil {
			return 0, err
		}
		return o.Of(j)
	}
}

// StoredOrder lists the waiting jobs in stored order.
func StoredOrder(tx *kernel.Tx) (line []*row.Job, err error) {
	err = tx.File.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := tx.Waiting().ByKey(key)
		line = append(line, j)
		return true, err
	})
	return line, err
}

// passesOther reports whether a planned job that begins now passes a waiting job that is before it
// in the order of job_priority, and that could start if there were room.
func passesOther(tx *kernel.Tx, j *row.Job) (passes bool, err error) {
	if !j.Queued {
		return false, nil
	}
	look := func(o *row.Job) (more bool, err error) {
		if o.ID == j.ID {
			return false, nil
		}
		if o.State != row.JobQueued && o.State != row.JobReserved || o.Never || o.Begin > tx.Now {
			return true, nil
		}
		waitsFor, err := jobs.Ready(tx, o)
		if errors.Is(err, kernel.ErrUnmet) {
			return true, nil
		}
		passes = waitsFor == "" && err == nil
		return !passes, err
	}
	set, err := tx.Settings()
	if err != nil {
		return false, err
	}
	if set.JobPriority == "" {
		err = tx.File.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
			o, err := tx.Waiting().ByKey(key)
			if err != nil {
				return false, err
			}
			return look(o)
		})
		return passes, err
	}
	line, err := InOrder(tx)
	for i := 0; i < len(line) && err == nil; i++ {
		if more, failed := look(line[i]); !more || failed != nil {
			return passes, failed
		}
	}
	return passes, err
}

// InOrder returns the waiting jobs in the order of job_priority.
func InOrder(tx *kernel.Tx) ([]*row.Job, error) {
	line, err := StoredOrder(tx)
	if err != nil {
		return nil, err
	}
	set, err := tx.Settings()
	if err != nil || set.JobPriority == "" || len(line) == 0 {
		return line, err
	}
	o, err := OrderOf(tx, line)
	if err != nil {
		return nil, err
	}
	return line, o.Sort(line)
}

// Order is job_priority with the values of its terms at an instant.
type Order struct {
	priority.Order
	tx      *kernel.Tx
	at      int64 // the instant of the values
	ledger  *usage.Ledger
	classed bool                 // it depends on classes
	classes map[[2]string]string // the jobs' classes, by the class named and the user
	ages    bool                 // it depends on how long jobs have waited
	met     map[row.Dependency]int64
}

// Orders holds the order of a transaction, nil until it is needed.
var Orders kernel.Slot[*Order]

// OrderOf returns the order of these waiting jobs. nil means all, which are read only if the
// expression needs them. The order is made once per transaction.
func OrderOf(tx *kernel.Tx, line []*row.Job) (*Order, error) {
	made := Orders.In(tx)
	if *made != nil {
		return *made, nil
	}
	set, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	o := &Order{tx: tx, at: tx.Now - tx.Now%kernel.Seconds(set.PriorityEvery)}
	if o.Expr, err = priorityf.ParseJob(defs, set.JobPriority); err != nil {
		return nil, fmt.Errorf("%w: setting job_priority: %w", row.ErrConflict, err)
	}
	if o.ledger, err = tx.Loaded.Book.Ledger(); err != nil {
		return nil, err
	}
	o.ages = o.Expr.Speaks(priorityf.JobTermAge, priorityf.JobTermXFactor)
	o.classed = slices.ContainsFunc(o.Expr.Terms(), func(t priorityf.JobTerm) bool { return t.Whom == subject.Class })
	if err := o.read(line); err != nil {
		return nil, err
	}
	o.Prepare()
	*made = o
	return o, nil
}

// read reads only the terms of the expression.
func (o *Order) read(line []*row.Job) error {
	if o.Expr.Speaks(priorityf.JobTermNumber, priorityf.JobTermMaxQueue, priorityf.JobTermMaxClass) {
		o.Numbers = make(priority.Numbers)
		err := users.EachNumber(o.tx.File, func(n users.Number) error {
			o.Numbers[n.Subject] = float64(n.Number)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if o.Expr.Speaks(priorityf.JobTermFairshare, priorityf.JobTermUsage, priorityf.JobTermTarget) {
		if err := o.use(line); err != nil {
			return err
		}
	}
	if o.Expr.Speaks(priorityf.JobTermBypass) {
		for _, s := range []row.JobState{row.JobRunning, row.JobFinished, row.JobFailed} {
			err := o.tx.File.Each(row.JobStates, []byte{byte(s)}, func(key, _ []byte) (bool, error) {
				o.Begun = append(o.Begun, row.Number64(key[1:]))
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		slices.Sort(o.Begun)
	}
	ix, err := o.tx.Index()
	if err != nil {
		return err
	}
	for _, b := range ix.Buckets() {
		o.Nodes += float64(b.Total)
	}
	o.CPUs = float64(ix.Configured(index.NCPUs))
	return ix.Err()
}

// use collects past use, the waiting jobs and the shares of each subject.
func (o *Order) use(line []*row.Job) error {
	o.Use = priority.NewUse()
	err := users.EachAccount(o.tx.File, func(a *row.Account) error {
		o.Use.Account(a.Name, a.Parent, a.Shares)
		for _, m := range a.Members {
			o.Use.Member(a.Name, m.User, m.Shares)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = o.tx.Loaded.Book.EachDecayed(o.at, func(who subject.Names, use float64) error {
		o.Use.Had(o.who(who), use)
		return nil
	})
	if err != nil {
		return err
	}
	if line == nil {
		if line, err = StoredOrder(o.tx); err != nil {
			return err
		}
	}
	for _, j := range line {
		o.Use.Waits(j.Account, j.User)
	}
	o.Use.Rank()
	shares, err := o.tx.Shares()
	if err != nil {
		return err
	}
	load := 0
	for _, c := range shares.Loads {
		load += c.Load
	}
	for _, c := range shares.Loads {
		o.Use.Class(c.Class, float64(c.Load)/float64(max(1, load)))
	}
	return nil
}

// who returns the names of a job. Its class is the one it counts in, as for class shares if there
// are any.
func (o *Order) who(w subject.Names) subject.Names {
	if !o.classed {
		return w
	}
	named := [2]string{w[subject.Class], w[subject.User]}
	class, known := o.classes[named]
	if !known {
		if class = w[subject.Class]; o.classes == nil {
			o.classes = make(map[[2]string]string)
		}
		if c, err := plan.ClassSharesOf(o.tx).OfJob(w); err == nil && c != "" {
			class = c
		}
		o.classes[named] = class
	}
	w[subject.Class] = class
	return w
}

// Of returns the value of a job.
func (o *Order) Of(j *row.Job) (float64, error) {
	is := priority.Job{ID: j.ID, Names: o.who(j.Whose()), Asks: func(name string) int64 {
		return o.ledger.Asked(j, name)
	},
		JobFacts: priorityf.JobFacts{Priority: j.Priority, Walltime: j.Walltime, Nodes: int64(o.ledger.Chunks(j)),
			Size: o.ledger.Asked(j, "ncpus")}}
	if j.Deadline != 0 {
		is.Deadline = max(1, j.Deadline-o.at)
	}
	if o.ages {
		var err error
		if is.Age, err = o.age(j); err != nil {
			return 0, err
		}
	}
	return o.Value(&is), nil
}

// Sort sorts jobs by their order.
func (o *Order) Sort(line []*row.Job) error {
	list := make([]priority.Valued[*row.Job], len(line))
	for i, j := range line {
		v, err := o.Of(j)
		if err != nil {
			return err
		}
		list[i] = priority.Valued[*row.Job]{Is: j, ID: j.ID, Value: v}
	}
	priority.Sort(list)
	for i := range list {
		line[i] = list[i].Is
	}
	return nil
}

// ages stops the aging of jobs that a limit holds back.
func (p *pass) ages() error {
	set, err := p.tx.Settings()
	if err != nil || !set.Ages {
		return err
	}
	type alike struct {
		who                   subject.Names
		sel, place            string
		walltime              int64
		overLimits, withPools bool
	}
	kept := make(map[alike]bool)
	for _, j := range p.queue {
		if j.State != row.JobQueued {
			continue
		}
		kind := alike{j.Whose(), j.Select, j.Place, j.Walltime, j.OverLimits, len(j.Pools) > 0}
		idle, known := kept[kind]
		if !known || kind.withPools {
			if idle, err = plan.HoldsBack(p.tx, j); err != nil {
				return err
			}
			kept[kind] = idle
		}
		if plan.SetIdle(p.tx, j, idle) {
			if err := jobs.PutJob(p.tx, j, row.JobQueued); err != nil {
				return err
			}
		}
	}
	return nil
}

// reordered reports whether an expression orders the jobs. If their order may have changed
// since the last cycle, it lets the cycle check all plans.
func reordered(tx *kernel.Tx) (bool, error) {
	set, err := tx.Settings()
	if err != nil || set.JobPriority == "" {
		return false, err
	}
	if at := tx.Now - tx.Now%kernel.Seconds(set.PriorityEvery); at != tx.State.Ordered {
		tx.State.Ordered, tx.Dirty = at, true
		tx.Loaded.Freed.Anywhere()
	}
	return true, nil
}
