package engine

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

type (
	// Actor is who runs a transaction, with the permissions of its role.
	Actor = kernel.Actor
	// Candidate is a node that a custom policy may choose.
	Candidate = kernel.Candidate
	// Attempt is one start of a job.
	Attempt = kernel.Attempt
	// ResourceUse is what an attempt used.
	ResourceUse = kernel.ResourceUse
	// Backfill tells which jobs a cycle plans ahead, and which may pass them.
	Backfill = kernel.Backfill
	// Options configure how a database is opened.
	Options = kernel.Options
	// Identity tells a database from others.
	Identity = kernel.Identity
	// Event is something that happened to a job, a node or a reservation.
	Event = kernel.Event
	// Dependency names another job, and how far it must have come.
	Dependency = row.Dependency
	// JobChunk lists the nodes of one chunk of a job, in node order.
	JobChunk = row.JobChunk
	// JobNode is a node and the number of chunks on it.
	JobNode = row.JobNode
	// Job is a job.
	Job = kernel.Job
	// JobDevices lists a job's devices of one resource of a node, by position in the node's
	// list.
	JobDevices = row.JobDevices
	// Owner is the job or reservation that a stretch of the calendar belongs to.
	Owner = kernel.Owner
	// Allocation is a period for which a job or reservation has a node, or part of it.
	Allocation = kernel.Allocation
	// Occupancy lists what is on a node and planned for it.
	Occupancy = kernel.Occupancy
	// Once binds a change to a key, so that it happens once, however often it is requested.
	Once = kernel.Once
	// Payload holds what a job carries besides its request, so that it can run later and
	// elsewhere.
	Payload = kernel.Payload
	// Submitter is the person who submitted a job: its commands run as that person.
	Submitter = kernel.Submitter
	// Ending tells how a job's attempts end, and what follows a failed one.
	Ending = kernel.Ending
	// ResourceLimit is a kernel limit of a process, as in getrlimit.
	ResourceLimit = row.ResourceLimit
	// Queue is a queue's row.
	Queue = kernel.Queue
	// ReplicaOptions configure databases kept in a log with a replica on each machine.
	ReplicaOptions = kernel.ReplicaOptions
	// Reservation keeps nodes, or amounts of them, for a time: for some users, or unused.
	Reservation = kernel.Reservation
	// ReserveSpec describes a reservation to make.
	ReserveSpec = kernel.ReserveSpec
	// Settings are the store's parsed settings, with defaults for those not set.
	Settings = kernel.Settings
	// Setting describes one setting.
	Setting = kernel.Setting
	// Standing is a repeating reservation.
	Standing = kernel.Standing
)

const (
	AsSet        = kernel.AsSet        // as the setting backfill says
	EASY         = kernel.EASY         // the first that does not fit is planned, the others go around it
	FCFS         = kernel.FCFS         // no job passes one that does not fit
	Conservative = kernel.Conservative // all are planned
	Relaxed      = kernel.Relaxed      // the first that does not fit is promised a start, the shortest go around it
	// URLScheme begins the name of a database on another machine, where the verb then runs.
	URLScheme  = kernel.URLScheme
	LaunchExec = kernel.LaunchExec // cycles tell the site's launcher
	LaunchWork = kernel.LaunchWork // passes start jobs under a keeper
	// MaxKey is the longest idempotency key, in bytes.
	MaxKey           = kernel.MaxKey
	DefaultRetryWait = kernel.DefaultRetryWait
	MaxRetryWait     = kernel.MaxRetryWait
	DefaultGrace     = kernel.DefaultGrace
	MaxRetries       = kernel.MaxRetries
	MaxScript        = kernel.MaxScript
	MaxEnvironment   = kernel.MaxEnvironment
	StartAuto        = kernel.StartAuto   // commands that change the queue leave a process that runs it
	StartManual      = kernel.StartManual // cron or a person runs cycles and passes
	// PinCores is the value of the setting pin that keeps jobs to the cores they hold.
	PinCores = kernel.PinCores
	// DefaultDepth is the default number of occurrences that are kept ahead.
	DefaultDepth = kernel.DefaultDepth
	// MaxPriority is the highest priority of a job; the lowest is -MaxPriority.
	MaxPriority = kernel.MaxPriority
)

var (
	ErrExists     = file.ErrExists     // Create: the file exists; or a name is taken
	ErrNotFound   = row.ErrNotFound    // no such file, job, node, reservation, queue, resource or setting
	ErrNoDatabase = file.ErrNoDatabase // an ErrNotFound: there is no database, at least now
	ErrLocked     = file.ErrLocked     // timed out waiting for the lock
	ErrConflict   = row.ErrConflict    // the change conflicts with the present state
	ErrCopy       = kernel.ErrCopy     // nothing is executed from a copy of a database: see Tx.Adopt
	ErrClock      = kernel.ErrClock    // a writer's clock is before the file's time
	ErrAnyTime    = kernel.ErrAnyTime
	ErrDamaged    = row.ErrDamaged   // checksums, structure or invariants do not hold
	ErrNotOurs    = file.ErrNotOurs  // the file is something else
	ErrUnsafe     = file.ErrUnsafe   // the file is not opened: anyone may write it, or it is a link
	ErrNewer      = file.ErrNewer    // the format is newer; the file is not touched
	ErrUnknown    = file.ErrUnknown  // a commit failed on its way to disk: it may or may not be there
	ErrInvalid    = row.ErrInvalid   // an argument makes no sense
	ErrClosed     = file.ErrClosed   // a handle after its Close
	ErrReadOnly   = file.ErrReadOnly // a change inside View
	ErrNested     = kernel.ErrNested // on the same handle, as far as that is known
	// ErrNotPermitted is an action or request that needs a permission the caller lacks.
	ErrNotPermitted = kernel.ErrNotPermitted
	// ErrKey says that an idempotency key belongs to another request.
	ErrKey = kernel.ErrKey
)

// ParseBackfill reads a kind of backfilling, "" for AsSet.
func ParseBackfill(s string) (Backfill, error) { return kernel.ParseBackfill(s) }

// SplitURL splits ssh://[USER@]HOST/PATH into the host to connect to, with its user, and the path
// there. It fails with ErrInvalid for anything else.
func SplitURL(url string) (host, path string, err error) { return kernel.SplitURL(url) }

// JobStates lists the states in the order in which a job passes through them.
func JobStates() []JobState { return row.AllJobStates() }

// HostOfNode names the host of a node: the value of its resource host, or its own name.
func HostOfNode(n *index.Node) string { return kernel.HostOfNode(n) }

// SameHost compares host names. It ignores case, and also the domain if one of them has none.
func SameHost(a, b string) bool { return kernel.SameHost(a, b) }

// UnnamedUser returns the name used for a user without one.
func UnnamedUser(uid uint32) string { return kernel.UnnamedUser(uid) }

// CheckPattern verifies the pattern of a file name: %j is the job, %A its array, %a its index,
// %x its name, %u its user, %N its first node, %t the attempt, and %% a %. A number may have a
// width of up to two digits, and is then padded with zeros: %5j. Any other letter is an
// ErrInvalid.
func CheckPattern(pattern string) error { return kernel.CheckPattern(pattern) }

// Causes lists the causes.
func Causes() []Cause { return row.Causes() }

// IsLog reports whether the name of a database is that of a log, SCHEME://..., and not of a
// file. The known schemes depend on the program: placectl-etcd knows etcd and etcds.
func IsLog(name string) bool { return kernel.IsLog(name) }

// SettingNames lists the settings.
func SettingNames() []string { return kernel.SettingNames() }

// SettingWords lists the words that a setting accepts, or nil if it accepts other values.
func SettingWords(name string) []string { return kernel.SettingWords(name) }

// MissingError is an ErrNotFound with the Kind and Name of the missing thing.
type MissingError = row.MissingError

// Conflict is an ErrConflict with details: What was refused, and Why.
type Conflict = row.Conflict
