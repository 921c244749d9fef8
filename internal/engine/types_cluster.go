package engine

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/cluster"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/internal/users"
)

type (
	// Lack lists devices that a node names but its host lacks.
	Lack = cluster.Lack
	// HookEvent is an event as the hook receives it.
	HookEvent = cluster.HookEvent
	// HookRun is a run of the hook.
	HookRun = cluster.HookRun
	// HookState tells how far the hook has got.
	HookState = cluster.HookState
	// Hook gives access to the hook in a transaction.
	Hook = cluster.Hook
	// Limit is how much a user, group, account, class or queue may have at once.
	Limit = cluster.Limit
	// LimitUse is how much of a limit one subject uses.
	LimitUse = cluster.LimitUse
	// Limits gives access to the limits in a transaction.
	Limits = cluster.Limits
	// Pool is an amount of the whole cluster that belongs to no node, such as licences.
	Pool = cluster.Pool
	// PoolUse is a pool at an instant.
	PoolUse = cluster.PoolUse
	// Pools gives access to the pools of the cluster in a transaction.
	Pools = cluster.Pools
	// Account pays for jobs, or stands for a project.
	Account = cluster.Account
	// Accounts gives access to the accounts of the cluster in a transaction.
	Accounts = cluster.Accounts
	// Preemption gives access to the rules by which jobs make way for others.
	Preemption = cluster.Preemption
	// Usage is the use by jobs, month by month, for each user, group, account, class and queue.
	Usage = cluster.Usage
	// UsageSpec selects usage.
	UsageSpec = cluster.UsageSpec
	// UsageTotal is the use of one subject, or of all in a day or month.
	UsageTotal = cluster.UsageTotal
	// UsageReport is the answer to a UsageSpec.
	UsageReport = cluster.UsageReport
)

const (
	HookTime = cluster.HookTime
	HookHeld = cluster.HookHeld
	// MaxHookEvents is the most events that the hook gets in a run.
	MaxHookEvents = cluster.MaxHookEvents
	// AllNodes is the node list of every node.
	AllNodes = cluster.AllNodes
	// MaxPools is the most pools that a cluster can have.
	MaxPools = cluster.MaxPools
)

type (
	// HeldDevices lists the devices of one resource of a node that a job has.
	HeldDevices = plan.HeldDevices
	// DeviceInfo is a device and the job that has it.
	DeviceInfo = plan.DeviceInfo
	// Opening is a possible start for a request.
	Opening = plan.Opening
)

type (
	// Right tells who may do something.
	Right = users.Right
	// Roles gives access to the roles of users in a database.
	Roles = users.Roles
)

const (
	Anybody   = users.Anybody   // each user, as far as it is about that user's own jobs and batches
	Operators = users.Operators // operators and the owner
	Owners    = users.Owners    // the owner and root
)

// NodeState is a node's state. Package index defines it, because its bitmaps hold most of it.
type NodeState = index.NodeState

// The states of nodes. A node is in use if a job or an active reservation has it.
const (
	NodeFree    = index.NodeFree    // up, and nothing is on it
	NodePartly  = index.NodePartly  // up, in use and shared, with some of it left for jobs
	NodeBusy    = index.NodeBusy    // up and in use, with nothing left
	NodeDown    = index.NodeDown    // it failed, whatever is on it
	NodeOffline = index.NodeOffline // taken out by hand, whatever is on it
	NodeDrained = index.NodeDrained // takes nothing new, whatever is on it
	NodeStates  = index.NodeStates  // number of states
)

// UnitNodes is the share_unit that counts every node as one.
const UnitNodes = shares.Nodes

// AccountMember is a user of an account, with shares against those of the other members.
type AccountMember = row.AccountMember

// MaxShares is the most shares that an account or a member can have.
const MaxShares = users.MaxShares

// UsageBy is what usage is grouped by.
type UsageBy = usage.By

// The groupings of usage. Days and months are in UTC.
const (
	UsageByUser    = usage.ByUser
	UsageByGroup   = usage.ByGroup
	UsageByAccount = usage.ByAccount
	UsageByClass   = usage.ByClass
	UsageByQueue   = usage.ByQueue
	UsageByDay     = usage.ByDay
	UsageByMonth   = usage.ByMonth
)
