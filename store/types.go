package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
)

type (
	// Actor makes transactions, and may do no more than its role allows.
	Actor = kernel.Actor
	// Candidate is a node that a site's own policy may choose.
	Candidate = kernel.Candidate
	// Attempt is one start of a job.
	Attempt = kernel.Attempt
	// ResourceUse is what an attempt used.
	ResourceUse = kernel.ResourceUse
	// Backfill says which jobs a cycle plans ahead, and which may pass them.
	Backfill = kernel.Backfill
	// Options are how a database is opened.
	Options = kernel.Options
	// Identity tells a database from others.
	Identity = kernel.Identity
	// Event is something that happened to a job, a node or a reservation.
	Event = kernel.Event
	// Dependency is another job, and how far that must have come.
	Dependency = kernel.Dependency
	// JobChunk is the nodes of one chunk of a job, in node order.
	JobChunk = kernel.JobChunk
	// JobNode is a node and how many of the chunk are on it.
	JobNode = kernel.JobNode
	// Job is a job.
	Job = kernel.Job
	// JobDevices are a job's devices of one resource of a node, by position in the node's list.
	JobDevices = kernel.JobDevices
	// Owner is whose a stretch of the calendar is: a job's or a reservation's.
	Owner = kernel.Owner
	// Allocation is a time for which a job or a reservation has a node, or part of it.
	Allocation = kernel.Allocation
	// Occupancy is what is on a node and planned for it.
	Occupancy = kernel.Occupancy
	// Once makes a change happen once, however often it is requested: it binds it to a key.
	Once = kernel.Once
	// UsedKey is an ErrKey about a key that was used before files kept answers.
	UsedKey = kernel.UsedKey
	// Payload is what a job carries besides its request, so that it can run later and elsewhere.
	Payload = kernel.Payload
	// Submitter is the person who submitted a job: its commands run as that person.
	Submitter = kernel.Submitter
	// Ending says how a job's attempts end, and what follows a failed one.
	Ending = kernel.Ending
	// ResourceLimit is a kernel limit of a process, as getrlimit has it.
	ResourceLimit = kernel.ResourceLimit
	// Queue is a queue's row.
	Queue = kernel.Queue
	// ReplicaOptions configure databases kept in a log with a replica on each machine.
	ReplicaOptions = kernel.ReplicaOptions
	// Reservation keeps nodes, or amounts of them, for a time: for some users, or unused.
	Reservation = kernel.Reservation
	// ReserveSpec describes a reservation to make.
	ReserveSpec = kernel.ReserveSpec
	// Settings are the store's settings, read and given their defaults.
	Settings = kernel.Settings
	// Setting describes one setting.
	Setting = kernel.Setting
	// Standing is a repeating reservation.
	Standing = kernel.Standing
)

const (
	AsSet        = kernel.AsSet        // as the setting backfill says
	EASY         = kernel.EASY         // the first that does not fit is planned, the others around it
	FCFS         = kernel.FCFS         // no job passes one that does not fit
	Conservative = kernel.Conservative // all are planned
	Relaxed      = kernel.Relaxed      // the first that does not fit is promised a start, the shortest go around it
	// URLScheme begins the name of a database that is reached by running the verb where it lies.
	URLScheme  = kernel.URLScheme
	LaunchExec = kernel.LaunchExec // cycles tell the site's launcher
	LaunchWork = kernel.LaunchWork // passes have a keeper execute them
	// MaxKey is how many bytes an idempotency key may have.
	MaxKey           = kernel.MaxKey
	DefaultRetryWait = kernel.DefaultRetryWait
	MaxRetryWait     = kernel.MaxRetryWait
	DefaultGrace     = kernel.DefaultGrace
	MaxRetries       = kernel.MaxRetries
	MaxScript        = kernel.MaxScript
	MaxEnvironment   = kernel.MaxEnvironment
	StartAuto        = kernel.StartAuto   // commands that change the queue leave a process that runs it
	StartManual      = kernel.StartManual // cron, or a person, makes cycles and passes
	// PinCores is the setting pin that keeps jobs to the cores that they hold.
	PinCores = kernel.PinCores
	// DefaultDepth is how many occurrences are kept ahead where nothing is said.
	DefaultDepth = kernel.DefaultDepth
	// MaxPriority is the highest priority of a job; the lowest is -MaxPriority.
	MaxPriority = kernel.MaxPriority
)

var (
	ErrExists     = kernel.ErrExists     // Create: there is a file; or a name is taken
	ErrNotFound   = kernel.ErrNotFound   // no such file, job, node, reservation, queue, resource or setting
	ErrNoDatabase = kernel.ErrNoDatabase // an ErrNotFound: the database itself is not there, at least now
	ErrLocked     = kernel.ErrLocked     // timed out waiting for the lock
	ErrConflict   = kernel.ErrConflict   // the change conflicts with the present state
	ErrClock      = kernel.ErrClock      // a writer's clock is before the file's time
	ErrAnyTime    = kernel.ErrAnyTime
	ErrDamaged    = kernel.ErrDamaged  // checksums, structure or invariants do not hold
	ErrNotOurs    = kernel.ErrNotOurs  // the file is something else
	ErrUnsafe     = kernel.ErrUnsafe   // the file is not looked into: everybody may write it, or it is a link
	ErrNewer      = kernel.ErrNewer    // its format is refused untouched
	ErrUnknown    = kernel.ErrUnknown  // a commit failed on its way to disk: it may or may not be there
	ErrInvalid    = kernel.ErrInvalid  // an argument makes no sense
	ErrClosed     = kernel.ErrClosed   // a handle after its Close
	ErrReadOnly   = kernel.ErrReadOnly // a change inside View
	ErrNested     = kernel.ErrNested   // on the same handle, in the same goroutine
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

// CheckRetryOn verifies a list of outcomes after which a job is retried: exit statuses and ranges
// of them, signal, walltime and oom, joined by commas, such as 1-5,75,oom. The empty list means
// every signal and every status but 126 and 127, which say that there is no such program. It fails
// with ErrInvalid.
func CheckRetryOn(list string) error { return kernel.CheckRetryOn(list) }

// JobStates lists the states, in the order in which a job passes through them.
func JobStates() []JobState { return kernel.JobStates() }

// HostOfNode names the host of a node: what its resource host says, else its name.
func HostOfNode(n *index.Node) string { return kernel.HostOfNode(n) }

// SameHost compares host names, ignoring case, and the domain if one has none.
func SameHost(a, b string) bool { return kernel.SameHost(a, b) }

// UnnamedUser is the name used for a user without one.
func UnnamedUser(uid uint32) string { return kernel.UnnamedUser(uid) }

// CheckPattern verifies the pattern of a file name: %j is the job, %A its array, %a its index, %x
// its name, %u its user, %N its first node, %t the attempt, and %% a %. A number may have a width
// of up to two digits and is padded with zeros then: %5j. Any other letter is an ErrInvalid.
func CheckPattern(pattern string) error { return kernel.CheckPattern(pattern) }

// Causes lists the causes.
func Causes() []Cause { return kernel.Causes() }

// IsLog reports whether the name of a database is that of a log, SCHEME://..., and not that
// of a file. Which schemes are known is a matter of how the program was built: etcd and
// etcds with the tag etcd.
func IsLog(name string) bool { return kernel.IsLog(name) }

// SettingNames lists the settings there are.
func SettingNames() []string { return kernel.SettingNames() }

// SettingWords are the words that a setting takes, where they are few; nil if it takes others.
func SettingWords(name string) []string { return kernel.SettingWords(name) }

// MissingError is an ErrNotFound with the Kind and Name of what is not there.
type MissingError = row.MissingError

// Conflict is an ErrConflict with details: What it is about, and Why it is refused.
type Conflict = row.Conflict
