package cluster

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/config"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
)

// Add creates a queue.
func (qs Queues) Add(q kernel.Queue) error {
	if err := users.Operates(qs.tx, "queues"); err != nil {
		return err
	}
	if !index.ValidNodeName(q.Name) {
		return fmt.Errorf("%w queue name %q: use letters, digits, dots, - and _", row.ErrInvalid, q.Name)
	}
	payload, err := qs.tx.File.Get(row.Queues, []byte(q.Name))
	if err != nil {
		return err
	}
	if payload != nil {
		return kernel.Taken("queue "+q.Name, "")
	}
	return QueuesOf(qs.tx).Set(q)
}

// Set changes a queue, or creates it.
func (qs Queues) Set(q kernel.Queue) error {
	if err := users.Operates(qs.tx, "queues"); err != nil {
		return err
	}
	defs, err := qs.tx.Resources()
	if err != nil {
		return err
	}
	var names []string
	for _, key := range q.GroupKey {
		if err := config.Resources(defs, key, &names, kernel.Groupable); err != nil {
			return fmt.Errorf("%w group key of queue %s: %w", row.ErrInvalid, q.Name, err)
		}
	}
	q.GroupKey = names
	policy, err := placer.ParsePolicy(q.Policy)
	if err != nil {
		return fmt.Errorf("%w policy of queue %s: %w", row.ErrInvalid, q.Name, err)
	}
	q.Policy = policy.String()
	if err := users.ValidAllow(&q.Allow); err != nil {
		return err
	}
	qs.tx.Loaded.Freed.Anywhere()
	return qs.tx.File.Put(row.Queues, []byte(q.Name), row.QueueRow.Encode((*row.Queue)(&q)))
}

// Remove deletes a queue. It fails with a Conflict that names what needs the queue: a node, a
// job that has not ended, or a single or standing reservation that admits its jobs.
func (qs Queues) Remove(name string) error {
	if err := users.Operates(qs.tx, "queues"); err != nil {
		return err
	}
	if _, err := qs.tx.Queue(name); err != nil {
		return err
	}
	if err := unused(qs.tx, name); err != nil {
		return err
	}
	return qs.tx.File.Remove(row.Queues, []byte(name))
}

// unused returns a Conflict if anything refers to a queue.
func unused(tx *kernel.Tx, queue string) error {
	needed := func(format string, args ...any) error {
		return row.Clash("queue "+queue, fmt.Sprintf(format, args...))
	}
	owns, err := tx.Queues().OwnsNodes(queue)
	if err != nil {
		return err
	}
	if owns {
		err := NodesOf(tx).Scan(func(n *index.Node) error {
			if n.Queue == queue {
				return needed("it owns nodes, %s among them; give those another queue first", n.Name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err = tx.EachJob(func(j *row.Job) error {
		if j.Queue == queue {
			return needed("job %d is in it, %s", j.ID, j.State)
		}
		return nil
	}, row.JobRunning, row.JobReserved, row.JobQueued, row.JobHeld)
	if err != nil {
		return err
	}
	lets := func(list placer.AccessList) bool {
		return slices.ContainsFunc(list, func(a placer.AccessEntry) bool {
			return a.Kind == subject.Queue && a.Name == queue
		})
	}
	err = tx.Reservations().Each(func(r *row.Reservation) error {
		if r.End > tx.Now && lets(r.Access) {
			return needed("reservation %s lets its jobs in", r.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Reservations().EachStanding(func(s *row.Standing) error {
		if !s.Over && (s.Request.Queue == queue || lets(s.Access)) {
			return needed("reservation %s repeats, and names it", s.Name)
		}
		return nil
	})
}
