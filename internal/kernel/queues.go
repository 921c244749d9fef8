package kernel

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// Queue is a queue's row. A node belongs to it through the node's queue field. A queue that
// owns nodes places only on those.
type Queue struct {
	Name     string
	GroupKey []string // overrides the store's; empty: the store's
	Policy   string   // overrides the store's; "": the store's
	Allow    []string // its permitted users, as user=ann or group=lab; empty: all
}

// Placing returns the queue's policy, NoPolicy if it has none.
func (q Queue) Placing() placer.Policy {
	p, _ := placer.ParsePolicy(q.Policy) // validated by Queues.Set
	return p
}

// AllQueues lists the queues by name.
func (tx *Tx) AllQueues() ([]Queue, error) {
	var out []Queue
	err := tx.File.Each(row.Queues, nil, func(key, payload []byte) (bool, error) {
		q, err := row.QueueRow.Decode(key, payload)
		out = append(out, Queue(*q))
		return true, err
	})
	return out, err
}

// Queue returns a queue, or ErrNotFound.
func (tx *Tx) Queue(name string) (Queue, error) {
	payload, err := tx.File.Get(row.Queues, []byte(name))
	if err != nil {
		return Queue{}, err
	}
	if payload == nil {
		return Queue{}, tx.Queues().Missing(name)
	}
	q, err := row.QueueRow.Decode([]byte(name), payload)
	return Queue(*q), err
}

// Queues is the part of a transaction that deals with queues.
type Queues struct{ tx *Tx }

func (tx *Tx) Queues() Queues { return Queues{tx} }

func (qs Queues) Missing(name string) error {
	queues, err := qs.tx.AllQueues()
	if err != nil {
		return err
	}
	var names []string
	for _, q := range queues {
		names = append(names, q.Name)
	}
	return &row.MissingError{Kind: "queue", Name: name, Hint: index.DidYouMean(name, names)}
}

func (qs Queues) OwnsNodes(queue string) (bool, error) {
	ix, err := qs.tx.Index()
	if err != nil {
		return false, err
	}
	owns := ix.OwnsNodes(queue)
	return owns, ix.Err()
}
