// Package tables is what queries see of a store: its nodes, jobs, reservations, batches
// and the rest as tables of package query, which know of many rows by bitmaps, keys and
// their order, and the functions that make tables. It reads rows in place, one after
// the other, as far as columns are asked for.
//
// It knows nothing of transactions, files or the clock. What it cannot read out of rows
// it is told through functions: what the index and the calendar say, what the placer
// finds, what is left of a node.
package tables

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Source is a store at one instant. A function is called when a table needs it, and not
// before.
type Source struct {
	Now         int64      // Unix seconds
	NextNode    uint32     // the numbers of nodes are lower
	NextJob     uint64     // those of jobs, too
	Events      uint64     // the number of the latest event that was written down
	MaxWalltime int64      // seconds
	Words       *row.Words // that rows have in common
	Rows        Rows
	NodesSince  int64 // since when what nodes were is on record
	Kinds       bool  // the file lists jobs by kind
	Ends        bool  // and those that have ended by their end

	Index      func() (*index.Index, error)
	Calendar   func() *timeline.Calendar
	Resources  func() (*index.Defs, error)
	Counter    func(key string) (*limits.Counter, error) // one that there is
	LimitUses  func() ([]limits.Use, error)
	Left       func(n *index.Node, at int64) []index.Amount // of a node's consumables at an instant
	Devices    func(*row.Job) (string, error)               // that a job has, as text
	OnNode     func(*index.Node, []Device) ([]Device, error)
	Attempt    func(j *row.Job, number int) (*row.Attempt, error) // of those that it has started
	Prospect   func(*row.Job) (Prospect, error)
	Forecasts  func() ([]Foretold, []row.Foretold, error) // that are known, and what became of earlier ones
	Starts     func(r placer.Request, count int) ([]*placer.Plan, error)
	Explain    func(job uint64) (*placer.Explanation, error) // as if it were placed now
	Terms      func(job uint64) ([]priorityf.Term, error)    // of its priority, none once it does not wait
	HalfLife   func() (int64, error)                         // of use that decays, in seconds
	Sets       func(queue string) ([]Set, error)
	Settings   func() ([]Setting, error)
	Shares     func() (*fairshare.Settings, error)
	ShareState func() (*fairshare.State, error)
	Places     func(batch string) (locality.Places, error) // of its hosts
}

// Rows are the rows of the file: a file.Recorder, which tables only read.
type Rows interface {
	Get(t row.Table, key []byte) (payload []byte, err error)
	Each(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error
	EachFrom(t row.Table, from, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error
	Cursor(t row.Table) *file.Cursor
	Range(t row.Table, first, last []byte) *file.Cursor
	Numbers(t row.Table, from, to int64) *file.Cursor
	Format() uint32
}

// Prospect is how a job stands: what it waits for as a word and as people say it, and when it is
// expected to start.
type Prospect struct {
	Code, Reason string
	Start        int64 // Unix seconds, 0 if unknown
}

// Foretold is when a job is expected to start. Instants are in Unix seconds.
type Foretold struct {
	Job                       uint64
	Likely, Safe, Asked, AsOf int64
}

// Device is a device of a node.
type Device struct {
	*devices.Device // the node's
	Node            uint32
	Resource        string
	State           string
	Job             uint64 // 0 for none
	Attempt         int    // of the job
	Since           int64  // Unix seconds, 0 for none
	Until           int64
}

// Set is a placement set of a queue.
type Set struct {
	*index.Set
	Name string
}

// Setting is a setting of the store.
type Setting struct {
	Name    string
	Value   string // as set, or the default
	Default string
	Set     bool // it was set
	Doc     string
}
