package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/booking"
	"github.com/placectl/placectl/store/internal/cluster"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/shares"
	"github.com/placectl/placectl/store/internal/sharing"
	"github.com/placectl/placectl/store/internal/usage"
)

type (
	// Lack are devices that a node names, and that its host was found to lack.
	Lack = cluster.Lack
	// HookEvent is an event as the hook gets it.
	HookEvent = cluster.HookEvent
	// HookRun is a run of the hook.
	HookRun = cluster.HookRun
	// HookState is how far the hook is.
	HookState = cluster.HookState
	// Hook is the transaction as far as it is about the hook.
	Hook = cluster.Hook
	// Limit is how much some may have at once.
	Limit = cluster.Limit
	// LimitUse is how much of a limit one subject uses.
	LimitUse = cluster.LimitUse
	// Limits are the limits of a store in a transaction.
	Limits = cluster.Limits
	// Pool is an amount of the whole cluster, of licences, say, which belongs to no node.
	Pool = cluster.Pool
	// PoolUse is a pool at an instant.
	PoolUse = cluster.PoolUse
	// Pools are the pools of the cluster in a transaction.
	Pools = cluster.Pools
	// Account pays for jobs, or stands for a project.
	Account = cluster.Account
	// Accounts gives access to the accounts of the cluster in a transaction.
	Accounts = cluster.Accounts
	// Preemption is the rules in a transaction by which jobs make way for others.
	Preemption = cluster.Preemption
	// Usage is the use by jobs, month by month, for each user, account, class and queue.
	Usage = cluster.Usage
	// UsageSpec is which usage is asked for.
	UsageSpec = cluster.UsageSpec
	// UsageTotal is the use of one subject, or of all in a day or month.
	UsageTotal = cluster.UsageTotal
	// UsageReport is an answer.
	UsageReport = cluster.UsageReport
)

const (
	HookTime = cluster.HookTime
	HookHeld = cluster.HookHeld
	// MaxHookEvents is how many events the hook gets in a run.
	MaxHookEvents = cluster.MaxHookEvents
	// AllNodes is the node list that is every node.
	AllNodes = cluster.AllNodes
	// MaxPools is how many pools a cluster has at most.
	MaxPools = cluster.MaxPools
)

type (
	// HeldDevices are the devices that a job has of a resource of a node.
	HeldDevices = booking.HeldDevices
	// DeviceInfo is a device and the job that has it.
	DeviceInfo = booking.DeviceInfo
	// Opening is a start that there is for a request.
	Opening = booking.Opening
)

type (
	// Right is who may do something.
	Right = access.Right
	// Roles gives access to the roles of users in a database.
	Roles = access.Roles
)

const (
	Anybody   = access.Anybody   // each user, as far as it is about that user's own jobs and batches
	Operators = access.Operators // operators and the owner
	Owners    = access.Owners    // the owner and root
)

// NodeState is how a node stands: of package index, whose bitmaps tell most of it.
type NodeState = index.NodeState

// The states of nodes. A node is in use by a job, or by a reservation that is active.
const (
	NodeFree    = index.NodeFree    // up, and nothing is on it
	NodePartly  = index.NodePartly  // up and in use; shared, and jobs could have some of it
	NodeBusy    = index.NodeBusy    // up and in use otherwise
	NodeDown    = index.NodeDown    // it failed, whatever is on it
	NodeOffline = index.NodeOffline // taken out by hand, whatever is on it
	NodeDrained = index.NodeDrained // takes nothing new, whatever is on it
	NodeStates  = index.NodeStates  // how many states there are
)

// UnitNodes is the share_unit in which every node counts as one.
const UnitNodes = shares.Nodes

// AccountMember is a user of an account, with shares against those of the other members.
type AccountMember = row.AccountMember

// MaxShares is the most shares that an account or a member has.
const MaxShares = sharing.MaxShares

// UsageBy is what usage is told apart by.
type UsageBy = usage.By

// What usage is told apart by. Days and months are those of UTC.
const (
	UsageByUser    = usage.ByUser
	UsageByAccount = usage.ByAccount
	UsageByClass   = usage.ByClass
	UsageByQueue   = usage.ByQueue
	UsageByDay     = usage.ByDay
	UsageByMonth   = usage.ByMonth
)
