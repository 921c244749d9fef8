package dispatch

import (
	"fmt"
	"time"

	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store"
)

// Place is where a command for one of a job's nodes must run.
type Place struct {
	Host  string
	Here  bool          // it is the host on which the job's own command runs
	Env   []string      // the job's devices on the node, in the form of devices.Environ
	Grace time.Duration // the job's grace
}

// On returns where a command of an attempt for one of its nodes must run. node is the name of the node
// or of its host. An attempt that is not running gets a Conflict.
func (d *DB) On(k attempts.Key, node string) (p *Place, err error) {
	err = d.View(func(tx *store.Tx) error {
		if err := store.Executing(tx); err != nil {
			return err
		}
		p, err = placeOn(tx, k, node)
		return err
	})
	return p, err
}

func placeOn(tx *store.Tx, k attempts.Key, node string) (*Place, error) {
	j, err := tx.Jobs().Get(k.Job)
	if err != nil {
		return nil, err
	}
	if j.State != store.JobRunning || k.Number != 0 && max(j.Attempt, 1) != k.Number {
		return nil, &store.Conflict{What: "attempt " + k.String(),
			Why: fmt.Sprintf("job %d is %s, in attempt %d: it has no nodes for this one", j.ID, j.State, j.Attempt)}
	}
	home, err := tx.Attempts().HostOf(j)
	if err != nil {
		return nil, err
	}
	numbers := j.AllNodes()
	byHost := -1
	for i, number := range numbers {
		n, err := tx.Nodes().ByNumber(number)
		if err != nil {
			return nil, err
		}
		if n.Name == node {
			return onNode(tx, j, n, home)
		}
		if byHost < 0 && (store.SameHost(n.Name, node) || store.SameHost(store.HostOfNode(n), node)) {
			byHost = i
		}
	}
	if byHost >= 0 {
		n, err := tx.Nodes().ByNumber(numbers[byHost])
		if err != nil {
			return nil, err
		}
		return onNode(tx, j, n, home)
	}
	names, err := tx.Nodes().Names(numbers)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: node %s does not belong to job %d, which has %s", store.ErrNotFound, node, j.ID,
		index.FoldNodeList(names))
}

func onNode(tx *store.Tx, j *store.Job, n *index.Node, home string) (*Place, error) {
	held, named, err := tx.Devices().On(j, n.Number)
	if err != nil {
		return nil, err
	}
	p := &Place{Host: store.HostOfNode(n), Env: devices.Environ(held, named), Grace: store.DefaultGrace}
	p.Here = store.SameHost(p.Host, home)
	carried, err := tx.Jobs().Payload(j.ID)
	if err == nil && carried != nil && carried.Ending.Grace != 0 {
		p.Grace = max(carried.Ending.Grace, 0)
	}
	return p, err
}
