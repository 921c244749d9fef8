package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// Queue is a queue's row. A node belongs to it through its own queue field; a
// queue that owns nodes places on those only.
type Queue struct {
	Name     string
	GroupKey []string // overrides the store's; empty: the store's
	Policy   string   // overrides the store's; "": the store's
}

// policy is the queue's policy, NoPolicy when it has none.
func (q Queue) policy() placer.Policy {
	p, _ := placer.ParsePolicy(q.Policy) // validated by SetQueue
	return p
}

const queueVersion = 1

func encodeQueue(q Queue) []byte {
	e := encoder{}
	e.byte(queueVersion)
	e.strings(q.GroupKey)
	e.string(q.Policy)
	return e.b
}

func decodeQueue(key, row []byte) (Queue, error) {
	d := decoder{b: row}
	d.byte()
	q := Queue{Name: string(key), GroupKey: d.strings()}
	if len(d.b) > 0 { // version 1 had none at first
		q.Policy = d.string()
	}
	return q, d.done(tableQueues, key)
}

// Queues lists the queues by name.
func (tx *Tx) Queues() ([]Queue, error) {
	var out []Queue
	err := tx.each(tableQueues, nil, func(key, row []byte) (bool, error) {
		q, err := decodeQueue(key, row)
		out = append(out, q)
		return true, err
	})
	return out, err
}

// Queue finds a queue, ErrNotFound when there is none.
func (tx *Tx) Queue(name string) (Queue, error) {
	row, err := tx.get(tableQueues, []byte(name))
	if err != nil {
		return Queue{}, err
	}
	if row == nil {
		return Queue{}, tx.missingQueue(name)
	}
	return decodeQueue([]byte(name), row)
}

func (tx *Tx) missingQueue(name string) error {
	queues, err := tx.Queues()
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
	if !index.ValidNodeName(q.Name) {
		return fmt.Errorf("%w queue name %q: use letters, digits, dots, - and _", ErrInvalid, q.Name)
	}
	row, err := tx.get(tableQueues, []byte(q.Name))
	if err != nil {
		return err
	}
	if row != nil {
		return taken("queue "+q.Name, "")
	}
	return tx.SetQueue(q)
}

// SetQueue changes a queue, or makes it.
func (tx *Tx) SetQueue(q Queue) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	var names []string
	for _, key := range q.GroupKey {
		if err := readResources(defs, key, &names, groupable); err != nil {
			return fmt.Errorf("%w group key of queue %s: %w", ErrInvalid, q.Name, err)
		}
	}
	q.GroupKey = names
	policy, err := placer.ParsePolicy(q.Policy)
	if err != nil {
		return fmt.Errorf("%w policy of queue %s: %w", ErrInvalid, q.Name, err)
	}
	q.Policy = policy.String()
	tx.wokeAll()
	return tx.put(tableQueues, []byte(q.Name), encodeQueue(q))
}

// RemoveQueue forgets a queue that owns no nodes and has no job that has not
// ended.
func (tx *Tx) RemoveQueue(name string) error {
	if _, err := tx.Queue(name); err != nil {
		return err
	}
	owns, err := tx.ownsNodes(name)
	if err != nil {
		return err
	}
	if owns {
		return &Conflict{"queue " + name, "it owns nodes; give those another queue first"}
	}
	err = tx.EachJob(func(j *Job) error {
		if j.Queue == name {
			return &Conflict{"queue " + name, fmt.Sprintf("job %d is in it", j.ID)}
		}
		return nil
	}, JobReserved, JobRunning)
	if err != nil {
		return err
	}
	return tx.remove(tableQueues, []byte(name))
}

func (tx *Tx) ownsNodes(queue string) (bool, error) {
	ix, err := tx.Index()
	if err != nil {
		return false, err
	}
	owns := ix.OwnsNodes(queue)
	return owns, ix.Err()
}
