// Package attribute declares the record of a job: the name, type and meaning of each of its
// attributes. Everything that shows a job takes them from here: the answers of verbs, the jobs
// table of queries, and docs/json.txt; so do the flags and the lines of job scripts
// that set one. They read an attribute from the field of a
// job with its name, or have code of their own for it.
package attribute

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Type says what the values of an attribute are.
type Type uint8

// The types, and what JSON has for each. Those up to Duration may be fields of a job.
const (
	Text     Type = iota // a string
	Prose                // a string in words that may change
	Number               // the number of a job: an integer
	Integer              // an integer
	Ratio                // a number
	Truth                // true or false
	Time                 // RFC 3339 in UTC, whole seconds
	Duration             // seconds, a number
	Size                 // bytes, an integer
	Nodes                // a list of the names of nodes
	List                 // a list of strings
	Words                // a command: a list of strings
	Object               // a list of objects, or an object
)

// Attribute is a property of a job.
type Attribute struct {
	Name     string
	Type     Type
	Required bool   // whether it is never absent (null)
	Doc      string // its meaning, for people
}

// A record keeps these promises to programs until 2.0: no attribute is renamed, retyped or
// removed.

// Job is the record of a job, in the order in which answers list its attributes.
var Job = []Attribute{
	{"job", Number, true, "job number"},
	{"name", Text, false, "name"},
	{"user", Text, false, "user"},
	{"account", Text, false, "account"},
	{"queue", Text, false, "queue"},
	{"class", Text, false, "class"},
	{"state", Text, true, "held, queued, reserved (planned), late, running, finished, failed or cancelled"},
	{"priority", Integer, true, "greater starts earlier"},
	{"select", Text, false, "requested chunks"},
	{"place", Text, false, "requested placement"},
	{"walltime", Duration, false, "maximum run time"},
	{"submit", Time, false, "time of submission"},
	{"begin", Time, false, "earliest start requested"},
	{"start", Time, false, "actual or planned start"},
	{"end", Time, false, "actual or expected end"},
	{"nodes", Nodes, true, "node list, folded"},
	{"reservation", Text, false, "the reservation it runs in"},
	{"reason", Prose, false, "why it is in this state"},
	{"reason_code", Text, false, "of a waiting job: never, held, dependency, begin, unattended, unavailable (nodes " +
		"out of service), class, planned, late, limit, room (nodes or pools) or turn; of another, the cause " +
		"as in events"},
	{"expected", Time, false, "of a waiting job: its expected start"},
	{"guess", Integer, false, "of a planned job: the overdue job that its start rests on, which makes it a guess"},
	{"likely", Time, false, "of a waiting job: its likely start, before which half of such jobs start"},
	{"safe", Time, false, "of a waiting job: its safe start, by which nine of ten such jobs have started"},
	{"forecast_at", Time, false, "of a waiting job: the time of the forecast that likely and safe come from"},
	{"wait", Duration, false, "time from submit to start, or until now"},
	{"run", Duration, false, "time from start to end, or until now"},
	{"slowdown", Ratio, false, "of an ended job: time from submit to end, divided by its run time"},
	{"array", Number, false, "number of its array"},
	{"index", Integer, false, "index in the array, as --array lists it"},
	{"path", Text, false, "how it was placed: bucket or node"},
	{"policy", Text, false, "policy that chose its nodes"},
	{"set", Text, false, "its placement set"},
	{"key", Text, false, "idempotency key of the submission"},
	{"exec_vnode", Text, false, "where its chunks are, as PBS writes it"},
	{"chunks", Object, true, "what it has of each node"},
	{"why", Text, false, "why it was placed by that path"},
	{"deadline", Time, false, "latest end"},
	{"after", List, true, "dependencies, separated by commas: afterok:12"},
	{"command", Words, true, "command line"},
	{"devices", Text, false, "assigned devices by node: g1:ngpus=0,3:ncpus=0-7"},
	{"pools", Text, false, "requested amounts of pools, separated by commas: fluent=2"},
	{"exclude", Text, false, "excluded nodes"},
	{"bind", Text, false, "choice of devices: compact, tight or scatter; NULL: the setting bind"},
	{"exit", Integer, false, "exit status; NULL: none yet"},
	{"attempt", Integer, false, "number of its current or last start"},
	{"attempts", Object, true, "its starts, and how each ended"},
	{"claimed", Truth, true, "a process executes that start"},
	{"ending", Truth, true, "it is being stopped"},
	{"preempted", Integer, true, "number of times it was preempted"},
	{"cpu_user", Duration, false, "user cpu time of that start, in seconds"},
	{"cpu_sys", Duration, false, "system cpu time of that start, in seconds"},
	{"cpu_time", Duration, false, "cpu time of all its starts, in seconds"},
	{"max_rss", Size, false, "memory of its largest process"},
	{"mem_peak", Size, false, "peak memory of all its processes; NULL: not measured"},
	{"backfilled", Truth, true, "it started before a higher job that was waiting"},
	{"paused", Truth, true, "its processes are stopped by a STOP signal"},
	{"retry_of", Number, false, "the job it retries"},
	{"line", Text, false, "its line of submit --each"},
	{"comment", Text, false, "its user's comment"},
	{"promised", Time, false, "latest promised start, with backfill relaxed"},
	{"directory", Text, false, "where its command runs"},
	{"script", Text, false, "the first line of its script"},
	{"script_size", Size, false, "how long the script is"},
	{"input", Text, false, "the file of its standard input"},
	{"out", Text, false, "the file of its standard output"},
	{"err", Text, false, "the file of its standard error"},
	{"out_mode", Text, false, "append, if its output is added to what the files hold"},
	{"umask", Text, false, "in octal"},
	{"interpreter", Text, false, "the program that reads its script"},
	{"compat", Text, false, "pbs or slurm, if it came by their commands"},
	{"notes", List, true, "the options of qsub and sbatch that were ignored"},
	{"owner", Text, false, "the user who submitted it"},
	{"submit_host", Text, false, "the host that it was submitted on"},
	{"retries", Integer, false, "how often it is tried again"},
	{"retry_on", Text, false, "after which ends"},
	{"retry_wait", Duration, false, "how long before each retry"},
	{"retry_mem", Text, false, "how the memory grows with each retry"},
	{"signal", Text, false, "what it is sent before its walltime is over"},
	{"grace", Duration, false, "from SIGTERM to SIGKILL"},
	{"mail", Text, false, "which events its user is told of"},
	{"mail_to", Text, false, "address for mail"},
	{"env", Words, true, "the environment that it was submitted with"},
}

// Flag is a flag of submit and alter that gives a job an attribute as it is. A submission has a field
// of the same name: see FieldName.
type Flag struct {
	Name    string // without dashes
	Letter  string // its short form, if it has one
	Type    Type   // Text, Integer, Truth or Time
	Heading string // where help lists it, if it is a rarer one
	Usage   string
	Sbatch  string // the option of sbatch that means just that, after its letter if it has one
}

// Flags are those flags, in the order in which help lists them.
var Flags = []Flag{
	{"priority", "p", Integer, "", "priority `P`; higher runs first (0)", ""},
	{"begin", "", Time, "turn", "start at `TIME` or later", "b begin"},
	{"comment", "", Text, "owner", "comment `WORD` on the job, for show and query", "comment"},
	{"deadline", "", Time, "turn", "end by `TIME`; the job is cancelled once it no longer can", "deadline"},
	{"no-requeue", "", Truth, "end and retries", "if it is preempted, cancel it instead of queuing it again",
		"no-requeue"},
}

// FlagNamed returns the flag with a name, the zero Flag if it is not one of Flags.
func FlagNamed(name string) (f Flag) {
	if i := slices.IndexFunc(Flags, func(f Flag) bool { return f.Name == name }); i >= 0 {
		f = Flags[i]
	}
	return f
}

// Submission lists the additional attributes in an answer of submit.
var Submission = []Attribute{
	{"count", Integer, true, "how many jobs were submitted"},
	{"indices", Text, false, "of an array: its indices, as --array takes them"},
}

// Event is the record of an event.
var Event = []Attribute{
	{"id", Integer, true, "number, in the order of writing"},
	{"time", Time, true, "time"},
	{"event", Text, true, "kind of event"},
	{"job", Number, false, "job number"},
	{"array", Number, false, "number of its array"},
	{"index", Integer, false, "index in the array"},
	{"node", Text, false, "node name"},
	{"reservation", Text, false, "reservation"},
	{"old", Text, false, "state before"},
	{"new", Text, false, "state after"},
	{"attempt", Integer, false, "number of the job's start"},
	{"exit", Integer, false, "exit status of that start, if it has ended"},
	{"reason", Prose, false, "reason"},
	{"reason_code", Text, false, "cause as a word; docs/json.md lists them"},
	{"uid", Integer, false, "uid that caused it; NULL: the clock, or unknown"},
}

// Error is the object with key error on the last line of stderr.
var Error = []Attribute{
	{"status", Integer, true, "exit status"},
	{"code", Text, true, "what went wrong, as a word; placectl help --all lists them"},
	{"message", Prose, true, "what went wrong"},
	{"earliest", Time, false, "when the refused request could start"},
	{"guess", Integer, false, "the overdue job that earliest rests on, which makes it a guess"},
	{"oldest", Integer, false, "of events that are gone: the oldest one that is kept"},
	{"jobs", Object, false, "of wait: its answer; of cycle --exec: the jobs that were launched or stopped"},
	{"findings", Object, false, "of check and doctor: what they have found"},
}

// Warning is the object with key warning on a line of stderr.
var Warning = []Attribute{
	{"code", Text, true, "note, or what the warning is about, as a word"},
	{"message", Prose, true, "text"},
}

// Of returns the attribute with a name in a record.
func Of(record []Attribute, name string) Attribute {
	for _, a := range record {
		if a.Name == name {
			return a
		}
	}
	panic(fmt.Sprintf("placectl: no attribute %s is declared", name))
}

// FieldName returns the name of the struct field of an attribute or a flag: RetryOf for retry_of or
// retry-of.
func FieldName(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// Fields returns the fields of a struct that are attributes of a record as they are, by the names of
// those.
func Fields(record []Attribute, of reflect.Type) map[string][]int {
	named, found := make(map[string][]int), make(map[string][]int)
	for _, f := range reflect.VisibleFields(of) {
		named[f.Name] = f.Index
	}
	for _, a := range record {
		if index := named[FieldName(a.Name)]; index != nil && a.Type <= Duration {
			found[a.Name] = index
		}
	}
	return found
}
