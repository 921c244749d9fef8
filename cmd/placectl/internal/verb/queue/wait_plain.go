package queue

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
)

// untold returns the numbers of the jobs for which a plain wait waits, or whose failure it tells.
func untold(r *session.Run, tx *engine.Tx) (words []string, err error) {
	page := new(told.Page)
	book, unknown := r.Book(tx)
	if unknown == nil {
		if known, err := book.Read(); err != nil {
			unknown = err
		} else {
			page = known
		}
	}
	if unknown != nil {
		r.Notef("all failures of the last hour count, because what this session knows cannot be read: %v", unknown)
	}
	job, _ := r.Within()
	var jobs []*engine.Job
	if job != 0 {
		jobs, err = madeWithin(tx, job, page.Made)
	} else {
		jobs, err = recent(r, tx)
	}
	if err != nil {
		return nil, err
	}
	count, err := countedFailures(tx, jobs)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if j.State.Live() || count(j) && !page.Knows(j.ID, j.End) {
			words = append(words, strconv.FormatUint(j.ID, 10))
		}
	}
	if len(words) == 0 {
		r.Notef("no job to wait for")
	}
	return words, nil
}

// recent returns the user's jobs that live, and those to which something happened within the last hour.
func recent(r *session.Run, tx *engine.Tx) (jobs []*engine.Job, err error) {
	after, _, err := engine.EventsSince(tx, tx.Now().Add(-session.MaxTold))
	if err != nil {
		return nil, err
	}
	seen := map[uint64]bool{}
	add := func(j *engine.Job) error {
		if j.User == r.Self() && !seen[j.ID] {
			seen[j.ID] = true
			jobs = append(jobs, j)
		}
		return nil
	}
	if err := tx.Jobs().Each(add, session.LiveStates()...); err != nil {
		return nil, err
	}
	if err := tx.EachEvent(after, func(e *engine.Event) (bool, error) {
		if e.Job == 0 || seen[e.Job] {
			return true, nil
		}
		return true, found(tx, e.Job, add)
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b *engine.Job) int { return cmp.Compare(a.ID, b.ID) })
	return jobs, nil
}

// found calls fn for a job that exists.
func found(tx *engine.Tx, id uint64, fn func(*engine.Job) error) error {
	j, err := tx.Jobs().Get(id)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return fn(j)
}

// madeWithin returns the jobs that a job has submitted, without those that wait for it.
func madeWithin(tx *engine.Tx, own uint64, made []told.Numbers) (jobs []*engine.Job, err error) {
	n, err := needsOf(tx, own)
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		for i := range m.Count {
			err := found(tx, m.First+i, func(j *engine.Job) error {
				needs, err := n.end(j)
				if err == nil && !needs {
					jobs = append(jobs, j)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return jobs, nil
}

// needs tells which jobs cannot start before a job has ended: those that depend on it, on its array, or on one that
// does.
type needs struct {
	tx    *engine.Tx
	own   uint64
	array uint64          // of that job, 0 for none
	known map[uint64]bool // by job or array
}

func needsOf(tx *engine.Tx, own uint64) (*needs, error) {
	n := &needs{tx: tx, own: own, known: make(map[uint64]bool)}
	err := found(tx, own, func(j *engine.Job) error { n.array = j.Array; return nil })
	return n, err
}

// end reports whether a job cannot start before that end.
func (n *needs) end(j *engine.Job) (is bool, err error) {
	for _, d := range j.After {
		if d.Job == n.own || d.Job == n.array {
			return true, nil
		}
		if d.Job >= j.ID { // it cannot be: jobs depend on earlier ones
			continue
		}
		if is, err = n.before(d.Job); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// before reports whether a job, or one of an array, cannot start before that end.
func (n *needs) before(number uint64) (is bool, err error) {
	if is, known := n.known[number]; known {
		return is, nil
	}
	jobs, err := n.tx.Jobs().JobOrArray(number)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return false, err
	}
	for _, j := range jobs {
		if is, err = n.end(j); is || err != nil {
			break
		}
	}
	n.known[number] = is
	return is, err
}

// countedFailures returns which failures of some jobs count: not what this user has cancelled, nor what retry has
// made anew.
func countedFailures(tx *engine.Tx, jobs []*engine.Job) (func(*engine.Job) bool, error) {
	again, mine := map[uint64]bool{}, map[uint64]bool{}
	for _, j := range jobs {
		again[j.RetryOf] = true
	}
	after, _, err := engine.EventsSince(tx, tx.Now().Add(-session.MaxTold))
	if err != nil {
		return nil, err
	}
	uid := uint32(os.Getuid())
	err = tx.EachEvent(after, func(e *engine.Event) (bool, error) {
		_, ending := mine[e.Job]
		switch {
		case e.Event == "ending", e.New == engine.JobCancelled.String() && !ending: // else its keeper reports the end
			mine[e.Job] = e.Reason.Cause == engine.CauseRequest && e.By != nil && *e.By == uid
		case e.New != engine.JobRunning.String() && e.New != engine.JobCancelled.String():
			delete(mine, e.Job)
		}
		return true, nil
	})
	return func(j *engine.Job) bool {
		bad := j.State == engine.JobFailed || j.State == engine.JobCancelled && !mine[j.ID]
		return bad && !again[j.ID]
	}, err
}

// awaitedNumbers returns the numbers of the jobs and arrays that words name now: later a name may mean fewer. Inside a
// job it refuses to wait for that job or one that waits for it: neither ends before this command.
func awaitedNumbers(r *session.Run, tx *engine.Tx, words []string) (numbers []string, err error) {
	names := r.SeveralNames(tx)
	names.Past = true // what has failed by now counts
	err = names.EachWord(words, func(found []jobref.Target) error {
		for _, t := range found {
			numbers = append(numbers, t.String())
		}
		return nil
	})
	own, _ := r.Within()
	if own == 0 || err != nil {
		return numbers, err
	}
	n, err := needsOf(tx, own)
	if err != nil {
		return nil, err
	}
	return numbers, names.Each(numbers, func(j *engine.Job, _ bool) error {
		if j.ID == own {
			return usage.Errorf("job %d cannot wait for itself; without a number, wait means the jobs that it "+
				"has submitted", own)
		}
		needs, err := n.end(j)
		if needs {
			return usage.Errorf("job %d waits for job %d, which asks: neither would end", j.ID, own)
		}
		return err
	})
}
