package usage

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
)

// The use of a node is the fraction of its cpu-seconds that jobs have used since the
// statistics were last reset. The use of ended jobs is added up by node; that of running jobs
// is computed on demand. A node without cpus counts as one with a single cpu.

// Nodes counts the use of nodes in the rows of a transaction.
type Nodes struct {
	Rows  *file.Recorder
	Nodes *nodes.Rows
}

// Block returns the counts of nodes with neighbouring numbers, by number /
// timeline.BlockNodes.
func (u *Nodes) Block(number uint32) (row.UsageBlock, error) {
	var b row.UsageBlock
	key := row.Key32(number)
	payload, err := u.Rows.Get(row.Usage, key)
	if err == nil && payload != nil {
		err = row.UsageRow.Read(&b, key, payload)
	}
	return b, err
}

// Stretch is a job's part of a node.
type Stretch struct {
	Node uint32
	timeline.Busy
}

// Accrue adds a job's use of its nodes for a number of seconds.
func (u *Nodes) Accrue(spans []Stretch, seconds int64) error {
	blocks := make(map[uint32]*row.UsageBlock)
	for _, s := range spans {
		cpus, err := u.CPUsOf(s.Node, s.Busy)
		if err != nil {
			return err
		}
		number := s.Node / timeline.BlockNodes
		if blocks[number] == nil {
			b, err := u.Block(number)
			if err != nil {
				return err
			}
			blocks[number] = &b
		}
		blocks[number][s.Node%timeline.BlockNodes] += cpus * seconds
	}
	for number, b := range blocks {
		if err := u.Rows.Put(row.Usage, row.Key32(number), row.UsageRow.Encode(b)); err != nil {
			return err
		}
	}
	return nil
}

// CPUsOf returns how many cpus of a node a job's stretch takes.
func (u *Nodes) CPUsOf(node uint32, b timeline.Busy) (int64, error) {
	if b.Use == nil {
		n, err := u.Nodes.Amount(node, index.NCPUs)
		return max(n, 1), err
	}
	for _, a := range b.Use.Amounts {
		if a.Quantity == uint16(index.NCPUs) {
			return a.N, nil
		}
	}
	return 0, nil
}

// CPUs returns how many cpus a node counts as.
func CPUs(n *index.Node) int64 {
	v, _ := n.Get(index.NCPUs)
	return max(v.Num, 1)
}
