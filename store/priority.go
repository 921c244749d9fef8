package store

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/ledger"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// The order of jobs that wait is that of the setting job_priority. As a rule it is what
// they were submitted with, which is the order in which the queue is kept, and nobody
// computes anything. Any other expression is evaluated for each job that waits, at whole
// multiples of the setting priority_every, so that plans are not made anew for seconds.

// Priorities are the numbers that the order of jobs goes by beside what they say
// themselves, and that order, in a transaction.
type Priorities struct{ tx *Tx }

// PrioritiesOf are what the setting job_priority makes of jobs in a transaction.
func PrioritiesOf(tx *Tx) Priorities { return Priorities{tx} }

// Number is a number that was set on somebody, for the terms USER, GROUP, ACCOUNT, CLASS and
// QUEUE of job_priority.
type Number struct {
	Kind, Name string
	Number     int64
}

// Each goes through the numbers by kind and name, until fn fails.
func (ps Priorities) Each(fn func(Number) error) error {
	return sharing.EachNumber(ps.tx.file, func(kind, name string, n int64) error { return fn(Number{kind, name, n}) })
}

// Set sets a number; 0 is what everybody has. It fails with ErrInvalid.
func (ps Priorities) Set(n Number) error {
	if err := RolesOf(ps.tx).mayChange("priorities"); err != nil {
		return err
	}
	ps.tx.loaded.order = nil
	ps.tx.loaded.freed.Anywhere()
	return sharing.SetNumber(ps.tx.file, n.Kind, n.Name, n.Number, MaxPriority)
}

// Of is the value of job_priority for a job, and the parts that it adds up.
func (ps Priorities) Of(j *Job) (value float64, parts []placer.Term, err error) {
	r := j.row()
	set, err := ps.tx.settings()
	if err != nil {
		return 0, nil, err
	}
	if set.JobPriority == "" {
		v := float64(j.Priority)
		return v, []placer.Term{{Text: placer.DefaultJobPriority, Value: v}}, nil
	}
	line, err := ps.tx.waiting().kept()
	if err != nil {
		return 0, nil, err
	}
	o, err := ps.tx.waiting().order(line)
	if err != nil {
		return 0, nil, err
	}
	if value, err = o.of(&r); err != nil {
		return 0, nil, err
	}
	return value, o.expr.Parts(o.values), nil
}

// kept are the jobs that wait, in the order in which the queue is kept.
func (ws waiting) kept() (line []*row.Job, err error) {
	err = ws.file.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := ws.byKey(key)
		line = append(line, j)
		return true, err
	})
	return line, err
}

// line are the jobs that wait, in the order of job_priority.
func (ws waiting) line() ([]*row.Job, error) {
	line, err := ws.kept()
	if err != nil {
		return nil, err
	}
	set, err := ws.settings()
	if err != nil || set.JobPriority == "" || len(line) == 0 {
		return line, err
	}
	o, err := ws.order(line)
	if err != nil {
		return nil, err
	}
	return line, o.sort(line)
}

// order evaluates job_priority.
type order struct {
	tx      *Tx
	expr    *placer.JobPriority
	at      int64 // the instant for which it does
	ledger  *ledger.Ledger
	terms   []placer.JobTerm
	values  []float64 // of the terms, for one job
	numbers map[string]float64
	parts   map[string]float64    // of all use, by user:ann and the like
	shares  map[string]float64    // of all, alike
	ranks   map[[2]string]float64 // by account and user
	begun   []uint64              // the numbers of jobs that have begun, ascending
}

// order is the order of jobs, with these waiting. It is made once in a transaction.
func (ws waiting) order(line []*row.Job) (*order, error) {
	tx := ws.Tx
	if tx.loaded.order != nil {
		return tx.loaded.order, nil
	}
	set, err := tx.settings()
	if err != nil {
		return nil, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	o := &order{tx: tx, at: tx.now - tx.now%seconds(set.PriorityEvery)}
	if o.expr, err = placer.ParseJobPriority(defs, set.JobPriority); err != nil {
		return nil, fmt.Errorf("%w: setting job_priority: %w", ErrConflict, err)
	}
	if o.ledger, err = (accounting{tx}).ledger(); err != nil {
		return nil, err
	}
	o.terms = o.expr.Terms()
	o.values = make([]float64, len(o.terms))
	if err := o.prepare(line); err != nil {
		return nil, err
	}
	tx.loaded.order = o
	return o, nil
}

// prepare looks up what the expression speaks of, and no more.
func (o *order) prepare(line []*row.Job) error {
	if o.expr.Speaks(placer.JobTermNumber, placer.JobTermMaxQueue, placer.JobTermMaxClass) {
		o.numbers = make(map[string]float64)
		err := Priorities{o.tx}.Each(func(n Number) error {
			o.numbers[n.Kind+":"+n.Name] = float64(n.Number)
			most := "most " + n.Kind
			o.numbers[most] = max(o.numbers[most], float64(n.Number))
			return nil
		})
		if err != nil {
			return err
		}
	}
	if o.expr.Speaks(placer.JobTermFairshare, placer.JobTermUsage, placer.JobTermTarget) {
		if err := o.share(line); err != nil {
			return err
		}
	}
	if o.expr.Speaks(placer.JobTermBypass) {
		for _, s := range []row.JobState{row.JobRunning, row.JobFinished, row.JobFailed} {
			err := o.tx.file.Each(row.JobStates, []byte{byte(s)}, func(key, _ []byte) (bool, error) {
				o.begun = append(o.begun, row.Number64(key[1:]))
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		slices.Sort(o.begun)
	}
	return o.cluster()
}

// cluster fills in the values that are those of all jobs.
func (o *order) cluster() error {
	ix, err := o.tx.index()
	if err != nil {
		return err
	}
	nodes := 0.0
	for _, b := range ix.Buckets() {
		nodes += float64(b.Total)
	}
	for i, t := range o.terms {
		switch t.Kind {
		case placer.JobTermTotalCPUs:
			o.values[i] = float64(ix.Configured(index.NCPUs))
		case placer.JobTermTotalNodes:
			o.values[i] = nodes
		case placer.JobTermMaxQueue:
			o.values[i] = o.numbers["most queue"]
		case placer.JobTermMaxClass:
			o.values[i] = o.numbers["most class"]
		}
	}
	return ix.Err()
}

// of is the value of a job. Its terms are in o.values afterwards.
func (o *order) of(j *row.Job) (float64, error) {
	facts := placer.JobFacts{Priority: j.Priority, Walltime: j.Walltime, Nodes: int64(o.ledger.Chunks(j))}
	if j.Deadline != 0 {
		facts.Deadline = max(1, j.Deadline-o.at)
	}
	facts.Size = o.ledger.Asked(j, "ncpus")
	if o.expr.Speaks(placer.JobTermAge, placer.JobTermXFactor) {
		var err error
		if facts.Age, err = o.age(j); err != nil {
			return 0, err
		}
	}
	for i, t := range o.terms {
		if v, ok := t.Fact(&facts); ok {
			o.values[i] = v
			continue
		}
		switch t.Kind {
		case placer.JobTermAsk:
			o.values[i] = float64(o.ledger.Asked(j, t.Of)) / t.One
		case placer.JobTermNumber:
			o.values[i] = o.numbers[t.Of+":"+o.name(j, t.Of)]
		case placer.JobTermFairshare:
			o.values[i] = o.ranks[[2]string{j.Account, j.User}]
		case placer.JobTermUsage:
			o.values[i] = o.parts[t.Of+":"+o.name(j, t.Of)]
		case placer.JobTermTarget:
			whose := t.Of + ":" + o.name(j, t.Of)
			o.values[i] = 100 * (o.shares[whose] - o.parts[whose])
		case placer.JobTermBypass:
			o.values[i] = float64(len(o.begun) - sort.Search(len(o.begun), func(k int) bool { return o.begun[k] > j.ID }))
		}
	}
	return o.expr.Eval(o.values), nil
}

// name is what a job has of a kind.
func (o *order) name(j *row.Job, kind string) string {
	switch kind {
	case "user":
		return j.User
	case "group":
		return j.Group
	case "account":
		return j.Account
	case "class":
		return o.class(j)
	}
	return j.Queue
}

// class is the class that a job counts in: as for class shares, where there are some.
func (o *order) class(j *row.Job) string {
	if c, err := o.tx.classShares().ofJob(j); err == nil && c != "" {
		return c
	}
	return j.Class
}

// age is for how long a job has waited for its turn.
func (o *order) age(j *row.Job) (int64, error) {
	since := max(j.Submit, j.Begin)
	for _, d := range j.After {
		other, err := o.tx.job(d.Job)
		if err != nil {
			return 0, err
		}
		switch ok, err := met(d, other); {
		case err != nil || !ok:
			return 0, nil // it waits for that job, in vain perhaps
		case d.When == After:
			since = max(since, other.Start)
		default:
			since = max(since, other.End)
		}
	}
	idle := j.Idle
	if j.IdleSince != 0 {
		idle += max(0, o.at-j.IdleSince)
	}
	return max(0, o.at-since-idle), nil
}

// sort puts jobs in order: the highest value first, of equals the one that was submitted
// first.
func (o *order) sort(line []*row.Job) error {
	type valued struct {
		*row.Job
		value float64
	}
	list := make([]valued, len(line))
	for i, j := range line {
		v, err := o.of(j)
		if err != nil {
			return err
		}
		list[i] = valued{j, v}
	}
	slices.SortFunc(list, func(a, b valued) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.ID, b.ID)) })
	for i := range list {
		line[i] = list[i].Job
	}
	return nil
}

// share works out who has had which part of all use, and who has which share: by Fair Tree,
// of the accounts that were set, of those who have had something, and of those who wait.
func (o *order) share(line []*row.Job) error {
	o.parts, o.shares, o.ranks = make(map[string]float64), make(map[string]float64), make(map[[2]string]float64)
	t := &shareTree{root: &fairshare.Member{Account: true}, accounts: make(map[string]*fairshare.Member), users: make(map[[2]string]*fairshare.Member)}
	if err := t.set(o.tx.Accounts()); err != nil {
		return err
	}
	all := 0.0
	err := decaying{o.tx}.each(o.at, func(s row.Sharer, use float64) error {
		all += use
		t.user(s.Account, s.User).Usage += use
		as := &row.Job{User: s.User, Account: s.Account, Class: s.Class, Queue: s.Queue, Group: s.Group}
		for _, kind := range sharing.NumberKinds {
			o.parts[kind+":"+o.name(as, kind)] += use
		}
		return nil
	})
	if err != nil {
		return err
	}
	for whose := range o.parts {
		if all > 0 {
			o.parts[whose] /= all
		}
	}
	for _, j := range line {
		t.user(j.Account, j.User)
	}
	fairshare.Rank(t.root)
	for name, a := range t.accounts {
		o.shares["account:"+name] = a.Part
	}
	for key, u := range t.users {
		o.ranks[key] = u.Factor
		o.shares["user:"+key[1]] += u.Part
	}
	shares, err := o.tx.Shares()
	if err != nil {
		return err
	}
	load := 0
	for _, c := range shares.Loads {
		load += c.Load
	}
	for _, c := range shares.Loads {
		o.shares["class:"+c.Class] = float64(c.Load) / float64(max(1, load))
	}
	return nil
}

// shareTree is the tree of accounts and users that Fair Tree ranks.
type shareTree struct {
	root     *fairshare.Member
	accounts map[string]*fairshare.Member
	users    map[[2]string]*fairshare.Member // by account and user
	closed   map[string]bool                 // accounts whose members were set
}

// set puts the accounts into the tree that somebody has set.
func (t *shareTree) set(accounts Accounts) error {
	t.closed = make(map[string]bool)
	parents := make(map[string]string)
	err := accounts.Each(func(a Account) error {
		t.accounts[a.Name] = &fairshare.Member{Name: a.Name, Account: true, Shares: a.Shares}
		parents[a.Name] = a.Parent
		for _, m := range a.Members {
			t.closed[a.Name] = true
			u := &fairshare.Member{Name: m.User, Shares: m.Shares}
			t.users[[2]string{a.Name, m.User}] = u
			t.accounts[a.Name].Members = append(t.accounts[a.Name].Members, u)
		}
		return nil
	})
	for name, parent := range parents {
		up := t.accounts[parent]
		if up == nil {
			up = t.root
		}
		up.Members = append(up.Members, t.accounts[name])
	}
	return err
}

// user finds a user of an account. Who is among no account's members has one share; where
// others are named, none.
func (t *shareTree) user(account, name string) *fairshare.Member {
	key := [2]string{account, name}
	if u := t.users[key]; u != nil {
		return u
	}
	u := &fairshare.Member{Name: name, Shares: 1}
	up := t.root
	if account != "" {
		if up = t.accounts[account]; up == nil {
			up = &fairshare.Member{Name: account, Account: true, Shares: 1}
			t.accounts[account] = up
			t.root.Members = append(t.root.Members, up)
		}
		if t.closed[account] {
			u.Shares = 0
		}
	}
	up.Members = append(up.Members, u)
	t.users[key] = u
	return u
}

// readJobPriority reads the setting job_priority, readHalfLife half_life. What decays is kept
// where either wants it.
func readJobPriority(defs *index.Defs, v string, s *Settings) error {
	if s.JobPriority = v; v == "" {
		return nil
	}
	p, err := placer.ParseJobPriority(defs, v)
	if err != nil {
		return err
	}
	if p.IsDefault() {
		s.JobPriority = ""
	}
	s.Decays = s.Decays || p.Speaks(placer.JobTermFairshare, placer.JobTermUsage, placer.JobTermTarget)
	return nil
}

func readHalfLife(_ *index.Defs, v string, s *Settings) error {
	if s.HalfLife = 7 * 24 * time.Hour; v == "" {
		return nil
	}
	s.Decays = true
	return readAtLeast(v, time.Second, &s.HalfLife)
}

// readAtLeast reads a time that is no shorter than another.
func readAtLeast(v string, least time.Duration, to *time.Duration) error {
	if err := readSpan(v, to); err != nil {
		return err
	}
	if *to < least {
		return fmt.Errorf("%q is less than %s", v, least)
	}
	return nil
}

// idles notes since when a job does not wait for its turn, and adds up for how long it has
// not: while it is held. What it waits for besides, its begin time and other jobs, its row
// says.
func (ws waiting) idles(j *row.Job) {
	if !j.Queued {
		return
	}
	switch idle := j.State == JobHeld; {
	case idle && j.IdleSince == 0:
		j.IdleSince = ws.instant()
	case !idle && j.IdleSince != 0:
		j.Idle += max(0, ws.instant()-max(j.IdleSince, j.Begin))
		j.IdleSince = 0
	}
}

// reordered reports whether jobs are put in order by an expression, and has plans looked at
// where they may be in another one since the last cycle.
func (ws waiting) reordered() (bool, error) {
	set, err := ws.settings()
	if err != nil || set.JobPriority == "" {
		return false, err
	}
	if at := ws.now - ws.now%seconds(set.PriorityEvery); at != ws.state.Ordered {
		ws.state.Ordered, ws.Tx.dirty = at, true
		ws.loaded.freed.Anywhere()
	}
	return true, nil
}
