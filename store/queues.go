package store

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/settings"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Queue is a queue's row. A node belongs to it through its own queue field; a
// queue that owns nodes places on those only.
type Queue struct {
	Name     string
	GroupKey []string // overrides the store's; empty: the store's
	Policy   string   // overrides the store's; "": the store's
	Allow    []string // its permitted users, as user:ann or group:lab; empty: all
}

// policy is the queue's policy, NoPolicy when it has none.
func (q Queue) policy() placer.Policy {
	p, _ := placer.ParsePolicy(q.Policy) // validated by SetQueue
	return p
}

// Queues lists the queues by name.
func (tx *Tx) Queues() ([]Queue, error) {
	var out []Queue
	err := tx.file.Each(row.Queues, nil, func(key, payload []byte) (bool, error) {
		q, err := row.DecodeQueue(key, payload)
		out = append(out, Queue(q))
		return true, err
	})
	return out, err
}

// Queue finds a queue, ErrNotFound when there is none.
func (tx *Tx) Queue(name string) (Queue, error) {
	payload, err := tx.file.Get(row.Queues, []byte(name))
	if err != nil {
		return Queue{}, err
	}
	if payload == nil {
		return Queue{}, tx.queues().missing(name)
	}
	q, err := row.DecodeQueue([]byte(name), payload)
	return Queue(q), err
}

// queues is the transaction as far as it is about queues.
type queues struct{ *Tx }

func (tx *Tx) queues() queues { return queues{tx} }

func (qs queues) missing(name string) error {
	queues, err := qs.Queues()
	if err != nil {
		return err
	}
	var names []string
	for _, q := range queues {
		names = append(names, q.Name)
	}
	return fmt.Errorf("no queue %q%s: %w", name, index.DidYouMean(name, names), ErrNotFound)
}

// AddQueue makes a queue.
func (tx *Tx) AddQueue(q Queue) error {
	if err := tx.operates("queues"); err != nil {
		return err
	}
	if !index.ValidNodeName(q.Name) {
		return fmt.Errorf("%w queue name %q: use letters, digits, dots, - and _", ErrInvalid, q.Name)
	}
	payload, err := tx.file.Get(row.Queues, []byte(q.Name))
	if err != nil {
		return err
	}
	if payload != nil {
		return taken("queue "+q.Name, "")
	}
	return tx.SetQueue(q)
}

// SetQueue changes a queue, or makes it.
func (tx *Tx) SetQueue(q Queue) error {
	if err := tx.operates("queues"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	var names []string
	for _, key := range q.GroupKey {
		if err := settings.Resources(defs, key, &names, groupable); err != nil {
			return fmt.Errorf("%w group key of queue %s: %w", ErrInvalid, q.Name, err)
		}
	}
	q.GroupKey = names
	policy, err := placer.ParsePolicy(q.Policy)
	if err != nil {
		return fmt.Errorf("%w policy of queue %s: %w", ErrInvalid, q.Name, err)
	}
	q.Policy = policy.String()
	if err := sharing.ValidAllow(&q.Allow); err != nil {
		return err
	}
	tx.loaded.freed.Anywhere()
	return tx.file.Put(row.Queues, []byte(q.Name), row.EncodeQueue(row.Queue(q)))
}

// RemoveQueue deletes a queue. It fails with a Conflict naming what needs it: a node, a job that
// has not ended, a reservation that admits its jobs or a standing one for them.
func (tx *Tx) RemoveQueue(name string) error {
	if err := tx.operates("queues"); err != nil {
		return err
	}
	if _, err := tx.Queue(name); err != nil {
		return err
	}
	if err := tx.queues().unused(name); err != nil {
		return err
	}
	return tx.file.Remove(row.Queues, []byte(name))
}

// unused returns a Conflict if anything refers to a queue.
func (qs queues) unused(queue string) error {
	needed := func(format string, args ...any) error {
		return row.Clash("queue "+queue, fmt.Sprintf(format, args...))
	}
	owns, err := qs.ownsNodes(queue)
	if err != nil {
		return err
	}
	if owns {
		err := qs.ScanNodes(func(n *index.Node) error {
			if n.Queue == queue {
				return needed("it owns nodes, %s among them; give those another queue first", n.Name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err = qs.eachJob(func(j *row.Job) error {
		if j.Queue == queue {
			return needed("job %d is in it, %s", j.ID, j.State)
		}
		return nil
	}, JobRunning, JobReserved, JobQueued, JobHeld)
	if err != nil {
		return err
	}
	lets := func(list placer.AccessList) bool {
		return slices.ContainsFunc(list, func(a placer.AccessEntry) bool { return a.Kind == placer.AccessQueue && a.Value == queue })
	}
	err = qs.reservations().each(func(r *row.Reservation) error {
		if r.End > qs.now && lets(r.Access) {
			return needed("reservation %s lets its jobs in", r.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return qs.reservations().eachStanding(func(s *row.Standing) error {
		if !s.Over && (s.Request.Queue == queue || lets(s.Access)) {
			return needed("reservation %s repeats, and names it", s.Name)
		}
		return nil
	})
}

func (qs queues) ownsNodes(queue string) (bool, error) {
	ix, err := qs.index()
	if err != nil {
		return false, err
	}
	owns := ix.OwnsNodes(queue)
	return owns, ix.Err()
}
