package store

import (
	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/ask"
	"github.com/placectl/placectl/store/internal/batch"
	"github.com/placectl/placectl/store/internal/booking"
	"github.com/placectl/placectl/store/internal/cluster"
	"github.com/placectl/placectl/store/internal/cycle"
	"github.com/placectl/placectl/store/internal/jobs"
)

// The parts of a transaction, by topic.
type (
	// Jobs are the jobs: placed at an instant, or submitted to the queue.
	Jobs = jobs.Jobs
	// Attempts are the starts of jobs: who executes them, and how they ended.
	Attempts = jobs.Attempts
	// Cycle runs the queue, says when the next cycle is needed, and plays the queue forward.
	Cycle = cycle.Cycle
	// Reservations are reservations of nodes: single and standing ones, with their occurrences.
	Reservations = booking.Reservations
	// Nodes are the nodes, and what is on them.
	Nodes = cluster.Nodes
	// Devices are the devices of nodes, and which jobs have them.
	Devices = cluster.Devices
	// Config is the configuration of the database: its settings and resources.
	Config = cluster.Config
	// Queues are the queues: parts of the cluster, and what jobs in them get.
	Queues = cluster.Queues
	// Shares are the class shares.
	Shares = cluster.Shares
	// Ask answers questions: when something starts, why it waits, how the cluster is used.
	Ask = ask.Ask
	// Batches are the batches of package locality.
	Batches = batch.Batches
)

// Hook returns the program that receives the events.
func (tx *Tx) Hook() Hook { return cluster.HookOf(tx.k) }

// Hosts returns the hosts that execute attempts.
func (tx *Tx) Hosts() Hosts { return jobs.HostsOf(tx.k) }

// Limits returns the limits on how much users, groups, accounts, classes and queues may have
// at once.
func (tx *Tx) Limits() Limits { return cluster.LimitsOf(tx.k) }

// Pools returns the pools of the cluster.
func (tx *Tx) Pools() Pools { return cluster.PoolsOf(tx.k) }

// Accounts returns the accounts.
func (tx *Tx) Accounts() Accounts { return cluster.AccountsOf(tx.k) }

// Preemption returns the rules by which jobs make way for others.
func (tx *Tx) Preemption() Preemption { return cluster.PreemptionOf(tx.k) }

// Usage returns what jobs used.
func (tx *Tx) Usage() Usage { return cluster.UsageOf(tx.k) }

// Roles returns the roles of users: who may do what.
func (tx *Tx) Roles() Roles { return access.RolesOf(tx.k) }

// Priorities returns the order of jobs, and the numbers that it uses besides the jobs' own.
func (tx *Tx) Priorities() Priorities { return cycle.PrioritiesOf(tx.k) }

// Jobs returns the jobs: placed at an instant, or submitted to the queue.
func (tx *Tx) Jobs() jobs.Jobs { return jobs.JobsOf(tx.k) }

// Attempts returns the starts of jobs: who executes them, and how they ended.
func (tx *Tx) Attempts() jobs.Attempts { return jobs.AttemptsOf(tx.k) }

// Cycle returns the part that runs the queue, tells when the next cycle is needed, and plays
// the queue forward.
func (tx *Tx) Cycle() cycle.Cycle { return cycle.CycleOf(tx.k) }

// Reservations returns the reservations of nodes: single ones, and standing ones with their
// occurrences.
func (tx *Tx) Reservations() booking.Reservations { return booking.ReservationsOf(tx.k) }

// Nodes returns the nodes, and what is on them.
func (tx *Tx) Nodes() cluster.Nodes { return cluster.NodesOf(tx.k) }

// Devices returns the devices of nodes, and which jobs have them.
func (tx *Tx) Devices() cluster.Devices { return cluster.DevicesOf(tx.k) }

// Config returns the configuration of the database: its settings and resources.
func (tx *Tx) Config() cluster.Config { return cluster.ConfigOf(tx.k) }

// Queues returns the queues: parts of the cluster, and what jobs in them get.
func (tx *Tx) Queues() cluster.Queues { return cluster.QueuesOf(tx.k) }

// Shares returns the class shares.
func (tx *Tx) Shares() cluster.Shares { return cluster.SharesOf(tx.k) }

// Ask returns the part that answers questions: when something starts, why it waits, how the
// cluster is used.
func (tx *Tx) Ask() ask.Ask { return ask.AskOf(tx.k) }

// Batches returns the batches of package locality.
func (tx *Tx) Batches() batch.Batches { return batch.BatchesOf(tx.k) }
