package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/subject"
)

// Limit is a limit on what some jobs may have at once.
type Limit struct {
	// Key says whose jobs it is for: all, or subjects such as user=ann joined by commas, with *
	// for each by itself.
	Key string
	// Measure is running, queued or jobs for numbers of jobs. RES, which is a consumable, a
	// pool or nodes, is its amount in running jobs; RES.queued and RES.jobs are alike.
	// RES.left is its amount times the seconds that jobs still have to run. RES.job and
	// walltime.job are for a single job.
	Measure string
	Soft    bool  // a job that would exceed it has its turn after all others
	Max     int64 // in the resource's smallest unit, seconds for walltime.job; may be reached
}

func (l Limit) rule() (*limits.Rule, error) {
	key, err := subject.Shared.ParseKey(l.Key)
	if err == nil {
		var m limits.Measure
		if m, err = limits.ParseMeasure(l.Measure); err == nil {
			return &limits.Rule{Key: key, Measure: m, Soft: l.Soft, Max: l.Max}, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", row.ErrInvalid, err)
}

func limitOf(r *limits.Rule) Limit {
	return Limit{Key: r.Key.String(), Measure: r.Measure.String(), Soft: r.Soft, Max: r.Max}
}

// LimitUse is how much of a limit one subject uses.
type LimitUse struct {
	Limit
	Who     string // the subject that * stands for, or ""
	Used    int64  // by jobs that run, or wait, depending on the measure
	Planned int64  // by planned jobs
}

// Limits gives access to the limits in a transaction.
type Limits struct{ tx *kernel.Tx }

// LimitsOf returns the limits of a transaction.
func LimitsOf(tx *kernel.Tx) Limits { return Limits{tx} }

// Each calls fn for the limits until fn fails. The limits on how many jobs of an array run at
// once come first, with the key array:12, then rules by key and measure.
func (ls Limits) Each(fn func(Limit) error) error {
	err := ls.eachThrottle(func(l Limit, _ *limits.Counter) error { return fn(l) })
	if err != nil {
		return err
	}
	return ls.tx.File.Each(row.Limits, nil, func(key, payload []byte) (bool, error) {
		r, err := row.LimitRow.Decode(key, payload)
		if err == nil {
			err = fn(limitOf(r))
		}
		return true, err
	})
}

// Uses lists the use of limits, by limit, then by the subject that it is counted for. Subjects with
// no use are omitted.
func (ls Limits) Uses() (out []LimitUse, err error) {
	err = ls.eachThrottle(func(l Limit, c *limits.Counter) error {
		u := LimitUse{Limit: l}
		u.Used, u.Planned = c.Split()
		out = append(out, u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	uses, err := ls.tx.Loaded.Counters.Rules.Uses()
	for _, u := range uses {
		out = append(out, LimitUse{limitOf(u.Rule), u.Who, u.Used, u.Planned})
	}
	return out, err
}

// eachThrottle calls fn for the limits on how many jobs of arrays may run at once.
func (ls Limits) eachThrottle(fn func(Limit, *limits.Counter) error) error {
	return ls.tx.File.Each(row.Counters, row.ArrayPrefix(), func(key, _ []byte) (bool, error) {
		c, err := ls.tx.Counters().Named(string(key))
		if err == nil {
			err = fn(Limit{Key: string(key), Measure: "running", Max: c.Total()}, c)
		}
		return true, err
	})
}

// Set makes or changes limits. Running jobs continue. Plans that break a limit are removed,
// and the next cycle makes them again, but placed jobs get another start at once: see Moved.
// It fails with ErrNotFound for an unknown queue, resource or pool, and with ErrInvalid.
func (ls Limits) Set(list ...Limit) error {
	if err := users.Operates(ls.tx, "limits"); err != nil {
		return err
	}
	var set []*limits.Rule
	for _, l := range list {
		r, err := l.rule()
		if err == nil {
			err = ls.valid(r)
		}
		if err != nil {
			return err
		}
		set = append(set, r)
	}
	return ls.tx.Spoil(ls.put(set))
}

func (ls Limits) put(set []*limits.Rule) error {
	known := true
	for _, r := range set {
		key := row.LimitKey(r)
		was, err := ls.tx.File.Get(row.Limits, key)
		if err == nil {
			known = known && was != nil
			err = ls.tx.File.Put(row.Limits, key, row.LimitRow.Encode(r))
		}
		if err != nil {
			return err
		}
	}
	if known { // the counted jobs are the same
		ls.tx.Loaded.Counters.Rules.Forget()
		ls.tx.Loaded.Freed.Anywhere()
		if err := fitRules(ls.tx, set); err != nil {
			return err
		}
		return queue.PlaceAnew(ls.tx)
	}
	return recounted(ls.tx)
}

// valid verifies a rule, and writes its resource as it was declared.
func (ls Limits) valid(r *limits.Rule) error {
	if most := r.Measure.Most(); r.Max < 0 || r.Max > most {
		return fmt.Errorf("%w: limit %s=%d: it must be from 0 to %d", row.ErrInvalid, r, r.Max, most)
	}
	if r.Soft && !r.Measure.Timed() {
		return fmt.Errorf("%w: limit %s: soft is for what jobs have while they run: running, RES or RES.left",
			row.ErrInvalid, r.Measure)
	}
	for _, p := range r.Key {
		if p.Kind == subject.Queue && p.Name != subject.Any && p.Name != "" {
			if _, err := ls.tx.Queue(p.Name); err != nil {
				return err
			}
		}
	}
	name := r.Measure.Resource
	if name == "" || name == limits.Nodes || name == limits.Walltime {
		return nil
	}
	defs, err := ls.tx.Resources()
	if err != nil {
		return err
	}
	if def, ok := defs.Lookup(name); ok {
		if !def.Consumable {
			return fmt.Errorf("%w: limit %s: jobs do not consume %s", row.ErrInvalid, r.Measure, def.Name)
		}
		r.Measure.Resource = def.Name
		return nil
	}
	pool, ok := defs.Pool(name)
	if !ok {
		return fmt.Errorf("no resource or pool %q%s: %w", name,
			index.DidYouMean(name, append(defs.Names(), defs.Pools()...)), row.ErrNotFound)
	}
	r.Measure.Resource = pool
	return nil
}

// Remove deletes limits of a key: those of some measures, or all if none is named. If soft is
// true, it deletes only soft ones. It returns the deleted limits, and fails with ErrNotFound
// if there are none.
func (ls Limits) Remove(key string, soft bool, measures ...string) ([]Limit, error) {
	if err := users.Operates(ls.tx, "limits"); err != nil {
		return nil, err
	}
	k, err := subject.Shared.ParseKey(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", row.ErrInvalid, err)
	}
	var gone []Limit
	var found []string
	err = ls.tx.File.Each(row.Limits, row.LimitPrefix(k), func(key, payload []byte) (bool, error) {
		r, err := row.LimitRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		named := slices.ContainsFunc(measures, func(m string) bool { return strings.EqualFold(m, r.Measure.String()) })
		if soft && !r.Soft || len(measures) > 0 && !named {
			return true, nil
		}
		gone, found = append(gone, limitOf(r)), append(found, strings.ToLower(r.Measure.String()))
		return true, ls.tx.File.Remove(row.Limits, key)
	})
	if err != nil {
		return nil, ls.tx.Spoil(err)
	}
	for _, m := range measures {
		if !slices.Contains(found, strings.ToLower(m)) {
			return nil, ls.tx.Spoil(row.Missing("limit", k.String()+" "+m))
		}
	}
	if len(gone) == 0 {
		return nil, row.Missing("limit of", k.String())
	}
	return gone, ls.tx.Spoil(recounted(ls.tx))
}

// measured fails with a Conflict if a limit measures a resource or pool.
func (ls Limits) measured(what, name string) error {
	return ls.Each(func(l Limit) error {
		m, err := limits.ParseMeasure(l.Measure)
		if err == nil && m.Resource == name {
			err = row.Clash(what+" "+name, fmt.Sprintf("the limit %s %s measures it", l.Key, l.Measure))
		}
		return err
	})
}

// recounted counts again after rules, or their subjects, have changed, and removes plans that
// break a rule.
func recounted(tx *kernel.Tx) error {
	tx.Loaded.Freed.Anywhere()
	if err := tx.File.RemoveAll(row.Holdings, row.LimitHoldings()); err != nil {
		return err
	}
	if err := tx.Counters().Rules.Clear(); err != nil {
		return err
	}
	all, err := tx.Counters().Rules.All()
	if all == nil || err != nil {
		return err
	}
	err = tx.EachJob(func(j *row.Job) error {
		if err := tx.Counters().Rules.Changed(nil, j); err != nil || j.State != row.JobRunning &&
			j.State != row.JobReserved {
			return err
		}
		return tx.Counters().Rules.EachTimed(j, tx.Counters().Put)
	}, row.JobRunning, row.JobReserved, row.JobQueued, row.JobHeld)
	if err != nil {
		return err
	}
	if err := fitRules(tx, slices.Collect(all.Each)); err != nil {
		return err
	}
	return queue.PlaceAnew(tx)
}

// recountedFor counts again if a rule looks at a kind whose names may have changed for some jobs.
func recountedFor(tx *kernel.Tx, kind subject.Kind) error {
	all, err := tx.Counters().Rules.All()
	if all == nil || err != nil || !all.Look(kind) {
		return err
	}
	return tx.Spoil(recounted(tx))
}

// fitRules removes plans that break some rules.
func fitRules(tx *kernel.Tx, list []*limits.Rule) error {
	slices.SortFunc(list, func(a, b *limits.Rule) int { return cmp.Compare(a.String(), b.String()) })
	for _, r := range list {
		if r.Soft || !r.Measure.Timed() {
			continue
		}
		err := tx.Counters().Rules.EachWhom(r, func(c *limits.Counter) error { return jobs.FitCounter(tx, c) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Throttle lets at most this many jobs of an array run at once: 0 lets none start, and a
// negative number any. Running jobs continue. Plans that break it are removed, and the next
// cycle makes them again. It fails with ErrNotFound if there is no such array, and with a
// Conflict if all its jobs have ended.
func (ls Limits) Throttle(array uint64, most int64) error {
	tx := ls.tx
	if !tx.Writable() {
		return file.ErrReadOnly
	}
	list, err := tx.ArrayJobs(array)
	if err != nil {
		return err
	}
	live := false
	for _, j := range list {
		if err := users.RolesOf(tx).Owns(j); err != nil {
			return err
		}
		live = live || j.State.Live()
	}
	switch {
	case most > limits.MaxAmount:
		return fmt.Errorf("%w: %d jobs at once; it must be at most %d", row.ErrInvalid, most, int64(limits.MaxAmount))
	case !live:
		return row.Clash(fmt.Sprintf("job array %d[]", array), "all its jobs have ended")
	case most < 0:
		return tx.Spoil(plan.Unthrottle(tx, array))
	}
	if err := jobs.Throttle(tx, array, most, list); err != nil {
		return tx.Spoil(err)
	}
	return tx.Spoil(queue.PlaceAnew(tx))
}
