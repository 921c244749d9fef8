package store

import (
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// How much a node has been used is how many of its cpu-seconds jobs have had since
// the statistics were last reset, of all that there were: what jobs that have ended
// had is added up by node, what those that run have had so far is counted when
// somebody asks. A node without cpus counts as one of a single cpu.

// usage counts in the rows of a transaction.
type usage struct {
	tx   *Tx
	node index.Node // scratch
}

func (u *usage) block(number uint32) (row.UsageBlock, error) {
	var b row.UsageBlock
	key := row.Key32(number)
	payload, err := u.tx.file.Get(row.Usage, key)
	if err != nil || payload == nil {
		return b, err
	}
	return row.DecodeUsage(key, payload)
}

// accrue adds what a running job has had of its nodes up to now.
func (u *usage) accrue(j *row.Job) error {
	from := max(j.Start, u.tx.state.UsageSince)
	if from >= u.tx.now {
		return nil
	}
	spans, err := u.tx.spansOf(j)
	if err != nil {
		return err
	}
	blocks := make(map[uint32]*row.UsageBlock)
	for _, s := range spans {
		cpus, err := u.cpusOf(s.node, s.Busy)
		if err != nil {
			return err
		}
		number := s.node / timeline.BlockNodes
		if blocks[number] == nil {
			b, err := u.block(number)
			if err != nil {
				return err
			}
			blocks[number] = &b
		}
		blocks[number][s.node%timeline.BlockNodes] += cpus * (u.tx.now - from)
	}
	for number, b := range blocks {
		if err := u.tx.file.Put(row.Usage, row.Key32(number), row.EncodeUsage(b)); err != nil {
			return err
		}
	}
	return nil
}

// cpusOf is how many cpus of a node a job's stretch takes.
func (u *usage) cpusOf(node uint32, b timeline.Busy) (int64, error) {
	if b.Use == nil {
		n := &u.node
		err := u.tx.loaded.nodes.traits(node, n)
		return cpus(n), err
	}
	for _, a := range b.Use.Amounts {
		if a.Quantity == uint16(index.NCPUs) {
			return a.N, nil
		}
	}
	return 0, nil
}

func cpus(n *index.Node) int64 {
	v, _ := n.Get(index.NCPUs)
	return max(v.Num, 1)
}

// Used is how much of a node's time jobs have had since the statistics were reset,
// 0 to 1.
func (tx *Tx) Used(n *index.Node) (float64, error) {
	since := tx.state.UsageSince
	if tx.now <= since || since == 0 {
		return 0, nil
	}
	b, err := tx.loaded.usage.block(n.Number / timeline.BlockNodes)
	if err != nil {
		return 0, err
	}
	had := b[n.Number%timeline.BlockNodes]
	for _, s := range tx.calendar().At(n.Number) {
		if s.Claim || !tx.calendar().Live(s) {
			continue
		}
		taken := cpus(n)
		if s.Use != nil {
			if taken, err = tx.loaded.usage.cpusOf(n.Number, s); err != nil {
				return 0, err
			}
		}
		had += taken * (tx.now - max(s.Start, since))
	}
	return min(1, float64(had)/float64(cpus(n)*(tx.now-since))), nil
}

// UsageSince is the instant since which usage is counted.
func (tx *Tx) UsageSince() time.Time { return instant(tx.state.UsageSince) }

// ResetUsage begins to count usage anew.
func (tx *Tx) ResetUsage() error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	tx.state.UsageSince = tx.now
	return tx.file.Clear(row.Usage)
}
