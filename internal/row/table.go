package row

import (
	"encoding/binary"
	"fmt"
)

// First is the first format that was released. Files of earlier ones are refused.
const First = 11

// Format is the file format that this version writes.
const Format = 11

// Stage counts the forms of Format before its release. Each change of the format raises it,
// and a program refuses files of another stage. 0 means released.
const Stage = 4

// magic begins the format row. On disk; must not change.
const magic = "placectl"

// Table is one of the tables of the file.
type Table int

// The tables, in the order in which they are made.
const (
	Meta Table = iota
	Config
	Resources
	Queues
	Nodes
	NodeNames
	Buckets
	Bitmaps
	Calendar
	Reaches
	Jobs
	JobStates
	Releases
	Reservations
	ReservationIDs
	Changes
	Rooms
	Access
	Standings
	Usage
	Events
	Waiting
	Launches
	Stops
	Invalidations
	Shares
	Batches
	BatchFiles
	BatchJobs
	BatchTasks
	BatchHosts
	BatchRanges
	BatchLongest
	BatchBacks
	BatchDues
	Hosts
	HostNames
	Answers
	AnswerDues
	Payloads
	Attempts
	Claimed
	Counters
	Holdings
	Accounts
	Preempts
	Tallies
	JobCounts
	Views
	JobKinds
	Limits
	LimitSums
	Totals
	Gone
	Roles
	Decays
	Numbers
	Ended
	NodePasts
	IndexSums
	Claims
	PastRuns
	Lots
	TableCount // number of tables
)

// tables is the registry: every bucket of the file, its keys and values, and whether it can be
// rebuilt from the others. Numbers in keys are big-endian. A value is a row: a version byte, the
// fields, and a CRC32C over key, version and fields.
var tables = [TableCount]struct {
	name, key, value string
	derived          bool
}{
	Meta: {"meta", "format | identity | itself | state | sums | hook | postponed | replica | forecasts | " +
		"refused NODE | beat USER@HOST", "the magic and the format; id and epoch; the file that the database is; " +
		"clock and counters; what the rows of each table sum up to; how far the hook is; which planned jobs overdue " +
		"ones have put off; where in a log the file stands; when those who wait are expected to start; which jobs a " +
		"node has refused; who was heard of when", false},
	Config:    {"config", "setting", "its value as text", false},
	Resources: {"resources", "resource number (2 bytes)", "definition", false},
	Queues:    {"queues", "name", "settings of the queue", false},
	Nodes:     {"nodes", "node number (4)", "node", false},
	NodeNames: {"node_names", "name", "node number", true},
	Buckets:   {"buckets", "bucket number (4)", "signature, queue, priority, counts", true},
	Bitmaps: {"bitmaps", "family (1), bucket or resource number (4), value", "roaring bitmap, portable format",
		true},
	Calendar: {"calendar", "node number / 64 (4)", "what is planned for those 64 nodes", true},
	Reaches: {"reaches", "node number / 4096 (4)",
		"for 64 calendar blocks, until when their later nodes stay free", true},
	Jobs:           {"jobs", "job number (8)", "job", false},
	JobStates:      {"job_states", "state (1), job number (8)", "nothing", true},
	Releases:       {"endings", "expected end (8), owner (8)", "nothing", true},
	Reservations:   {"reservations", "name", "reservation", false},
	ReservationIDs: {"reservation_ids", "reservation number (8)", "name", true},
	Changes:        {"changes", "instant (8), owner (8)", "nothing: the owner begins or ends then by the clock", true},
	Rooms: {"rooms", "node number / 64 (4)", "what is left of those of the 64 nodes that are shared now",
		true},
	Access: {"access", "kind of entry (1), value, 0, reservation number (8)",
		"nothing: the reservation lets them in", true},
	Standings: {"standings", "name", "a reservation that repeats", false},
	Usage: {"usage", "node number / 64 (4)",
		"cpu-seconds that jobs which have ended had of each of those nodes", false},
	Events:  {"events", "event number (8)", "what became of a job, node or reservation, when and why", false},
	Waiting: {"waiting", "priority, highest first (8), job number (8)", "nothing: the job waits for its turn", true},
	Launches: {"launches", "job number (8)",
		"nothing: the queue started the job, and its launch is not announced yet", true},
	Stops: {"stops", "job number (8)", "the job as it ran: it was launched and taken off its nodes, and its " +
		"launcher was not told to stop it yet", false},
	Invalidations: {"wakes", "1 (1)", "the nodes on which room was made since a cycle has looked at all plans", false},
	Shares: {"shares", "settings | state",
		"classes, what maps jobs to them, rebalancing; since when shares are out of balance", false},
	Batches:      {"batches", "name", "batch: its number, settings and sums", false},
	BatchFiles:   {"batch_files", "batch number (4), file number / 128 (4)", "names and sizes of those files", false},
	BatchJobs:    {"batch_jobs", "batch number (4), job number / 128 (4)", "those jobs as they were created", false},
	BatchTasks:   {"batch_tasks", "batch number (4), job number / 128 (4)", "what became of those jobs", false},
	BatchHosts:   {"batch_hosts", "batch number (4), host number (4)", "the host's part in the batch", false},
	BatchRanges:  {"batch_ranges", "batch number (4), first slot (8)", "a range of slots and its cursors", false},
	BatchLongest: {"batch_longest", "batch number (4), time left, longest first (8), first slot (8)", "nothing", true},
	BatchBacks:   {"batch_backs", "batch number (4), slot (8)", "nothing: the slot waits behind its cursor", true},
	BatchDues: {"batch_dues", "batch number (4), instant (8), host number (4), slot + 1 (8)",
		"nothing: a lease ends, or a host is looked for", true},
	Hosts:      {"hosts", "host number (4)", "a host that works in batches, and how fast it is", false},
	HostNames:  {"host_names", "name", "host number", true},
	Answers:    {"answers", "idempotency key", "the request that came with it, and its answer", false},
	AnswerDues: {"answer_dues", "instant (8), idempotency key", "nothing: the answer may be forgotten then", true},
	Payloads: {"payloads", "hash of what it holds (16)",
		"what jobs carry: script, directory, environment, output; how many name it", false},
	Attempts: {"attempts", "job number (8), attempt number (4)",
		"an attempt that was claimed, or that its job goes on without", false},
	Claimed: {"claimed", "host, 0, job number (8), attempt number (4)", "nothing: the attempt is executed there, " +
		"and has not ended; with number 0: a process there waits for the job's start", true},
	Counters: {"counters", "pool:name | array:number",
		"a pool of the cluster, or how many jobs of an array run at once", false},
	Holdings: {"holdings", "counter, 0, owner (8); counters of rules as in limit_sums",
		"what the owner holds of the counter, or is to hold, and from when to when", true},
	Accounts: {"accounts", "name", "an account: what it is part of, its shares and members, who may ask for it", false},
	Preempts: {"preempts", "rule, as text", "whose jobs make way for whose: how, after how long, how often", false},
	Tallies: {"tallies", "queue:name | cycle", "what has come of the queue's jobs since the database was made; " +
		"when the last cycle was, and how long it took", false},
	JobCounts: {"job_counts", "state (1), queue", "how many jobs of the queue are in the state", true},
	Views:     {"views", "name", "a query that is asked by its name as a table: its SELECT", false},
	JobKinds: {"job_kinds", "user, group, account, class, queue (each behind its length), job number (8)",
		"nothing: whose the job is", true},
	Limits: {"limits", "key, 0, measure, 0soft for a soft one", "how much those whom the key names may have at once",
		false},
	LimitSums: {"limit_sums", "limit:rule, 1, whom", "how much the rule counts for them", true},
	Totals: {"totals", "month (4), user, group, account, class, queue", "what the jobs there had in that month",
		true},
	Gone: {"gone_totals", "month (4), user, group, account, class, queue",
		"what jobs had that were archived or dropped since", false},
	Roles: {"roles", "user", "the role that the user has", false},
	Decays: {"decayed", "user, group, account, class, queue",
		"what they have had and have, where what lies back counts less", false},
	Numbers: {"numbers", "user=name | group=name | account=name | class=name | queue=name",
		"the number that the priority of jobs counts for it", false},
	Ended: {"ended", "end (8), job number (8)",
		"nothing: the job has ended then; numbers of jobs are by submission as they stand", true},
	IndexSums: {"index_sums", "table's number (1), first part of keys of its rows",
		"how many rows of the index begin so, and the sum of their checksums", true},
	Claims: {"claims", "job number (8)", "from when to when a job that a limit keeps has room kept in which " +
		"limits; how often that was put off", false},
	PastRuns: {"past_runs", "job number (8)", "how long a job ran that was archived or dropped since: expected " +
		"starts follow from the last of these, too", false},
	Lots: {"lots", "priority, highest first (8), array (8), hash of what rows of siblings have in common (8)",
		"how many jobs of the array wait so; hash 0: those that are equal to no other", true},
	NodePasts: {"node_pasts", "instant (8), number of the change at that instant (8)",
		"how nodes were before something about them changed", false},
}

// String returns the name of the table in the file.
func (t Table) String() string { return tables[t].name }

// TableNamed finds a table by its name in the file.
func TableNamed(name string) (Table, bool) {
	for t := range TableCount {
		if tables[t].name == name {
			return t, true
		}
	}
	return 0, false
}

// Derived reports whether the table can be rebuilt from the others.
func (t Table) Derived() bool { return tables[t].derived }

// The keys of the table Meta.
var (
	KeyFormat    = []byte("format")
	KeyIdentity  = []byte("identity")
	KeyState     = []byte("state")
	KeySums      = []byte("sums")
	KeyPostponed = []byte("postponed") // planned jobs that overdue ones have put off
	KeyHook      = []byte("hook")      // how many events the site's program has received
	KeyForecasts = []byte("forecasts") // the expected starts of waiting jobs
	KeyItself    = []byte("itself")    // the file that the database was made in
	KeyReplica   = []byte("replica")   // the log that the file is a replica of, and its position there
)

// EncodeFormat returns the row with the file's format. It has no checksum, because older and
// newer versions must be able to read it. The upper 16 bits hold the stage of an unreleased
// format.
func EncodeFormat(format uint32) []byte {
	if format == Format {
		format |= Stage << 16
	}
	return binary.BigEndian.AppendUint32([]byte(magic), format)
}

// DecodeFormat reads it; ok is false if the row is something else. Another stage of Format
// reads as a number above Format, as newer formats do.
func DecodeFormat(value []byte) (format uint32, ok bool) {
	if len(value) != len(magic)+4 || string(value[:len(magic)]) != magic {
		return 0, false
	}
	format = binary.BigEndian.Uint32(value[len(magic):])
	switch {
	case format == Format|Stage<<16:
		return Format, true
	case format&0xffff == Format:
		return format | otherStage, true
	}
	return format, true
}

// WasReleased reports whether a format that DecodeFormat returned is no earlier than First, and no stage before this
// one.
func WasReleased(format uint32) bool {
	stage := format &^ otherStage >> 16
	return format&0xffff >= First && (format&otherStage == 0 || stage == 0 || Stage != 0 && stage > Stage)
}

// otherStage marks a format with this version's number but another stage.
const otherStage = 1 << 31

// FormatName puts what DecodeFormat returned into words.
func FormatName(format uint32) string {
	switch stage := format &^ otherStage >> 16; {
	case format&0xffff == Format && format&otherStage != 0 && stage == 0:
		return fmt.Sprintf("format %d as released", Format)
	case format>>16 != 0:
		return fmt.Sprintf("stage %d of the unreleased format %d", stage, format&0xffff)
	}
	return fmt.Sprintf("format %d", format)
}

// FormatKnown says what this version reads.
func FormatKnown() string {
	if Stage == 0 {
		return fmt.Sprintf("this version reads formats %d to %d", First, Format)
	}
	return fmt.Sprintf("this one reads stage %d: dump it with the program that wrote it, and load the dump", Stage)
}

// IsItself reports whether a row says which file the database is.
func IsItself(t Table, key []byte) bool { return t == Meta && string(key) == string(KeyItself) }

// Local reports whether a row belongs to one file only: it describes the file, not the
// contents of the database.
func Local(t Table, key []byte) bool {
	if t != Meta {
		return t == IndexSums
	}
	switch string(key) {
	case string(KeySums), string(KeyReplica), string(KeyForecasts), string(KeyItself):
		return true
	}
	return false
}
