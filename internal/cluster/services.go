// Package cluster holds an administrator's changes: nodes and their devices, queues, resources,
// settings, limits, pools, shares, accounts and the hook.
package cluster

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/timeline"
)

// Nodes are the nodes in a transaction, and what is on them.
type Nodes struct{ tx *kernel.Tx }

// NodesOf returns the nodes of a transaction.
func NodesOf(tx *kernel.Tx) Nodes { return Nodes{tx} }

// Number returns a node's number by its name.
func (ns Nodes) Number(name string) (uint32, bool, error) { return ns.tx.NodeNumber(name) }

// ByNumber returns a node by its number.
func (ns Nodes) ByNumber(number uint32) (*index.Node, error) { return ns.tx.NodeByNumber(number) }

// Each calls fn for all nodes by number, until fn fails. Nodes that fn adds are not visited.
func (ns Nodes) Each(fn func(*index.Node) error) error { return ns.tx.EachNode(fn) }

// Occupancy returns what is on a node.
func (ns Nodes) Occupancy(n *index.Node) (kernel.Occupancy, error) { return ns.tx.Occupancy(n) }

// Used returns the part of a node's time that jobs have used since the statistics were reset,
// 0 to 1.
func (ns Nodes) Used(n *index.Node) (float64, error) { return ns.tx.Used(n) }

// Left returns the free amounts of a node's consumables now: all if the node is free, none if
// a job has it exclusively.
func (ns Nodes) Left(n *index.Node) []index.Amount { return ns.tx.Left(n) }

// Owner returns the owner of a stretch of the calendar.
func (ns Nodes) Owner(b timeline.Busy) (kernel.Owner, error) { return ns.tx.Owner(b) }

// Devices are the devices of nodes in a transaction, and which jobs have them.
type Devices struct{ tx *kernel.Tx }

// DevicesOf returns the devices of a transaction.
func DevicesOf(tx *kernel.Tx) Devices { return Devices{tx} }

// Of returns the devices of a job as text: g1:ngpus=0,3:ncpus=0-7+g2:ngpus=1.
func (ds Devices) Of(j *kernel.Job) (string, error) { return plan.JobDevices(ds.tx, j) }

// HeldBy returns the devices that a job has, by node and then by resource, cores last. There are
// none once it has ended, or if its nodes name none.
func (ds Devices) HeldBy(j *kernel.Job) ([]plan.HeldDevices, error) {
	return plan.HeldBy(ds.tx, j)
}

// Config is the configuration of a database in a transaction: its settings and resources.
type Config struct{ tx *kernel.Tx }

// ConfigOf returns the configuration in a transaction.
func ConfigOf(tx *kernel.Tx) Config { return Config{tx} }

// Resources returns the resources that the store knows, including the built-in ones.
func (cf Config) Resources() (*index.Defs, error) { return cf.tx.Resources() }

// Queues are the queues in a transaction: parts of the cluster, and what jobs in them get.
type Queues struct{ tx *kernel.Tx }

// QueuesOf returns the queues of a transaction.
func QueuesOf(tx *kernel.Tx) Queues { return Queues{tx} }

// All lists the queues by name.
func (qs Queues) All() ([]kernel.Queue, error) { return qs.tx.AllQueues() }

// Get returns a queue, or ErrNotFound.
func (qs Queues) Get(name string) (kernel.Queue, error) { return qs.tx.Queue(name) }

// Shares are the class shares in a transaction.
type Shares struct{ tx *kernel.Tx }

// SharesOf returns the class shares of a transaction.
func SharesOf(tx *kernel.Tx) Shares { return Shares{tx} }

// Get returns a copy of the settings of class shares. Change it by its methods and pass it to
// Set. A store in which none were set has no classes.
func (sh Shares) Get() (*fairshare.Settings, error) { return sh.tx.Shares() }

// Timer returns since when classes are as far apart as the threshold of rebalancing, as the
// last cycle left it.
func (sh Shares) Timer() (fairshare.Timer, error) { return sh.tx.ShareTimer() }

// ClassOf returns the class of a requestor's jobs: that of the first mapping that matches, else the
// default class; "" in a store without classes.
func (sh Shares) ClassOf(requestor string) (string, error) { return sh.tx.ClassOf(requestor) }

// Names returns the names of nodes, in the order of their numbers in the argument.
func (ns Nodes) Names(numbers []uint32) ([]string, error) { return ns.tx.NodeNames(numbers) }
