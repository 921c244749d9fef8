// Package tables gives queries access to a store: its nodes, jobs, reservations, batches and
// the rest as tables of package query, and table functions. The tables find many rows by
// bitmaps, keys and their order. They read rows in place, one after the other, only as far as
// the columns need. Values that are not in rows, such as plans and prospects, come from the
// packages of a transaction, when a table needs them.
package tables

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/ask"
	"github.com/placectl/placectl/internal/batch"
	"github.com/placectl/placectl/internal/cluster"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// source is a store at one instant.
type source struct {
	tx         *kernel.Tx
	Now        int64      // Unix seconds
	NextNode   uint32     // the numbers of nodes are lower
	NextJob    uint64     // the numbers of jobs are lower
	Events     uint64     // the number of the latest recorded event
	Words      *row.Words // texts that rows share
	Rows       *file.Recorder
	NodesSince int64 // since when the past of nodes is recorded

	ahead *ask.Outlook // of waiting jobs, once needed
}

func sourceOf(tx *kernel.Tx) *source {
	return &source{tx: tx, Now: tx.Now, NextNode: tx.State.NextNode, NextJob: tx.State.NextJob,
		Events: tx.State.Events - tx.Unrecorded,
		Words:  &tx.Loaded.Nodes.Words, Rows: tx.File, NodesSince: tx.State.NodesSince}
}

func (s *source) Index() (*index.Index, error)     { return s.tx.Index() }
func (s *source) Calendar() *timeline.Calendar     { return s.tx.Calendar() }
func (s *source) Resources() (*index.Defs, error)  { return s.tx.Resources() }
func (s *source) LimitUses() ([]limits.Use, error) { return s.tx.Loaded.Counters.Rules.Uses() }

// Counter returns an existing counter.
func (s *source) Counter(key string) (*limits.Counter, error) { return s.tx.Counters().Named(key) }

// Left returns the free amounts of a node's consumables at an instant.
func (s *source) Left(n *index.Node, at int64) []index.Amount { return s.tx.LeftAt(n, at) }

func (s *source) Shares() (*fairshare.Settings, error)  { return cluster.SharesOf(s.tx).Get() }
func (s *source) ShareState() (*fairshare.State, error) { return cluster.SharesOf(s.tx).State() }

// Places returns the hosts of a batch.
func (s *source) Places(name string) (locality.Places, error) {
	return batch.BatchesOf(s.tx).Places(name)
}

// Attempt returns one of the attempts that a job has started.
func (s *source) Attempt(j *row.Job, number int) (*row.Attempt, error) {
	return s.tx.Attempts().Of(j, number)
}

// Devices returns the devices of a job as text.
func (s *source) Devices(j *row.Job) (string, error) {
	return cluster.DevicesOf(s.tx).Of(kernel.JobOf(j))
}

// OnNode appends the devices of a node to a list.
func (s *source) OnNode(n *index.Node, list []plan.NodeDevice) ([]plan.NodeDevice, error) {
	return plan.OnNode(s.tx, n, list)
}

// Prospect returns what a job waits for and when it is expected to start.
func (s *source) Prospect(j *row.Job) (p ask.Prospect, err error) {
	if s.ahead == nil {
		if s.ahead, err = ask.AskOf(s.tx).Outlook(); err != nil {
			return p, err
		}
	}
	return s.ahead.Look(j)
}

// foretold is the forecast of a job's start. Instants are in Unix seconds.
type foretold struct {
	Job                       uint64
	Likely, Safe, Asked, AsOf int64
}

// Forecasts returns the known forecasts, and the outcomes of earlier ones.
func (s *source) Forecasts() (list []foretold, record []row.Foretold, err error) {
	fs, err := queue.CycleOf(s.tx).Forecasts()
	if err != nil || fs == nil {
		return nil, nil, err
	}
	for _, f := range fs.Value.Jobs {
		if f.Likely != 0 {
			list = append(list, foretold{f.Job, f.Likely, f.Safe, f.Asked, fs.Value.AsOf})
		}
	}
	return list, slices.Concat(fs.Value.First, fs.Value.Later), nil
}

// Starts returns the next possible starts of a request, as plans.
func (s *source) Starts(r placer.Request, count int) ([]*placer.Plan, error) {
	return plan.PlansOf(s.tx).Starts(r, s.Now, count)
}

// HalfLife returns the half-life of decaying use, in seconds.
func (s *source) HalfLife() (int64, error) {
	d, err := s.tx.Decay()
	return d.HalfLife, err
}

// Terms returns the terms of a job's priority, or none if it does not wait.
func (s *source) Terms(job uint64) ([]priorityf.Term, error) {
	j, err := s.tx.Job(job)
	if err != nil || j.State != row.JobQueued && j.State != row.JobHeld && j.State != row.JobReserved {
		return nil, err
	}
	_, parts, err := queue.PrioritiesOf(s.tx).Of(kernel.JobOf(j))
	return parts, err
}

// Explain explains where a job would be placed now.
func (s *source) Explain(job uint64) (*placer.Explanation, error) {
	j, err := s.tx.Job(job)
	if err != nil {
		return nil, err
	}
	a, err := plan.AskOfJob(s.tx, j)
	if err != nil {
		return nil, err
	}
	snap, err := plan.Snapshot(s.tx, j.Queue)
	if err != nil {
		return nil, err
	}
	return snap.Explain(a, placer.Explain{})
}

// Sets returns the placement sets of a queue.
func (s *source) Sets(queue string) ([]ask.PlacementSet, error) {
	return ask.AskOf(s.tx).PlacementSets(queue, nil)
}

// Settings returns all settings.
func (s *source) Settings() ([]kernel.Setting, error) { return cluster.ConfigOf(s.tx).AllSettings() }
