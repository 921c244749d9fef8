package dispatch

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
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
func (d *DB) On(k keeper.Key, node string) (p *Place, err error) {
	err = d.View(func(tx *engine.Tx) error {
		if err := engine.Executing(tx); err != nil {
			return err
		}
		p, err = placeOn(tx, k, node)
		return err
	})
	return p, err
}

func placeOn(tx *engine.Tx, k keeper.Key, node string) (*Place, error) {
	j, err := tx.Jobs().Get(k.Job)
	if err != nil {
		return nil, err
	}
	if j.State != engine.JobRunning || k.Number != 0 && max(j.Attempt, 1) != k.Number {
		return nil, &engine.Conflict{What: "attempt " + k.String(),
			Why: fmt.Sprintf("job %d %s, in attempt %d: it has no nodes for this one", j.ID, j.State.Is(), j.Attempt)}
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
		if byHost < 0 && (engine.SameHost(n.Name, node) || engine.SameHost(engine.HostOfNode(n), node)) {
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
	return nil, fmt.Errorf("%w: node %s does not belong to job %d, which has %s", engine.ErrNotFound, node, j.ID,
		index.FoldNodeList(names))
}

func onNode(tx *engine.Tx, j *engine.Job, n *index.Node, home string) (*Place, error) {
	held, named, err := tx.Devices().On(j, n.Number)
	if err != nil {
		return nil, err
	}
	p := &Place{Host: engine.HostOfNode(n), Env: devices.Environ(held, named), Grace: engine.DefaultGrace}
	p.Here = engine.SameHost(p.Host, home)
	carried, err := tx.Jobs().Payload(j.ID)
	if err == nil && carried != nil && carried.Ending.Grace != 0 {
		p.Grace = max(carried.Ending.Grace, 0)
	}
	return p, err
}
