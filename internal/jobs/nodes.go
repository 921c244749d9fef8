package jobs

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
)

func SetNodeState(tx *kernel.Tx, number uint32, state index.State, reason row.Reason) error {
	n, err := tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	if (n.State == index.Up) != (state == index.Up) {
		class, b := tx.NodeIndex().ClassOf(number), ix.Bucket(n.Bucket)
		if b == nil {
			return fmt.Errorf("%w: node %s says it is in bucket %d", row.ErrDamaged, n.Name, n.Bucket)
		}
		if state == index.Up {
			ix.Move(b, number, index.None, class)
		} else {
			ix.Move(b, number, class, index.None)
		}
	}
	tx.Loaded.Past.Changes(n)
	was := n.State
	n.State, n.Reason = state, reason.Text
	if state == index.Up {
		n.Reason = ""
	}
	if err := ix.Err(); err != nil {
		return err
	}
	if err := tx.File.Put(row.Nodes, row.Key32(number), row.EncodeNode(n)); err != nil {
		return err
	}
	if was != state {
		err := tx.Happened(row.Event{Node: n.Name, Event: "node", Old: was.String(), New: state.String(),
			Reason: reason})
		if err != nil {
			return err
		}
	}
	if err := nodes.Executed(tx.File, number); err != nil {
		return err
	}
	if was != state {
		// a node that goes down may turn "not now" into "never" for requests that its bucket served
		tx.Loaded.Freed.Anywhere()
	}
	if state != index.Up && was == index.Up {
		list, err := plannedOn(tx, number)
		if err == nil {
			err = offNode(tx, list, n)
		}
		if err != nil {
			return tx.Spoil(err)
		}
	}
	return tx.Loaded.Rooms.Measure(ix, number, state == index.Up && tx.NodeIndex().ClassOf(number) == index.Busy)
}
