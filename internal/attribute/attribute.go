// Package attribute declares the record of a job: the name, type and meaning of each of its
// attributes. All that shows a job takes them from here: the answers of verbs, the jobs table
// of queries, and the JSON Schemas in docs/json. What reads an attribute stands beside its
// users, since package store and the command read jobs in different ways.
package attribute

import "fmt"

// Type says what the values of an attribute are.
type Type uint8

// The types, and what JSON has of each.
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

// Attribute is something that a job has.
type Attribute struct {
	Name     string
	Type     Type
	Required bool   // it is never absent (null)
	Doc      string // its meaning, for people
}

// A record keeps these promises to programs until 2.0: no attribute is renamed, retyped or removed.

// Job is the record of a job, in the order in which answers have its attributes.
var Job = []Attribute{
	{"job", Number, true, "its number"},
	{"name", Text, false, "what it is called"},
	{"user", Text, false, "for whom"},
	{"account", Text, false, "on whose account"},
	{"queue", Text, false, "in which queue"},
	{"class", Text, false, "in which class"},
	{"state", Text, true, "held, queued, reserved (planned), late, running, finished, failed or cancelled"},
	{"priority", Integer, true, "the greater, the earlier"},
	{"select", Text, false, "what it asked for"},
	{"place", Text, false, "how"},
	{"walltime", Duration, false, "for how long"},
	{"submit", Time, false, "when it came"},
	{"begin", Time, false, "not before"},
	{"start", Time, false, "when it began, or is planned to"},
	{"end", Time, false, "when it ended, or is expected to"},
	{"nodes", Nodes, true, "folded"},
	{"reservation", Text, false, "the one it insists on"},
	{"reason", Prose, false, "why it is where it is, or still waits"},
	{"reason_code", Text, false, "what it waits for, as a word: never, held, dependency, begin, unattended, class, planned, late, limit, room (nodes or pools), turn; of one that waits no more the cause, as in events"},
	{"expected", Time, false, "of what waits: its planned start, or the earliest as things stand"},
	{"wait", Duration, false, "from submit to start, or to now where it waits still"},
	{"run", Duration, false, "from start to end, or to now while it runs"},
	{"slowdown", Ratio, false, "of what has ended: how many times as long as it ran it took from submit to end"},
	{"array", Number, false, "the first job of its array"},
	{"index", Integer, false, "in the array, from 0 on"},
	{"path", Text, false, "the path by which it was placed"},
	{"policy", Text, false, "the policy by which it was placed"},
	{"set", Text, false, "the placement set that it is in"},
	{"key", Text, false, "what makes submitting it twice the same as once"},
	{"exec_vnode", Text, false, "where its chunks are, as PBS writes it"},
	{"chunks", Object, true, "what it has of each node"},
	{"why", Text, false, "why it was placed by that path"},
	{"deadline", Time, false, "it has to end by then"},
	{"after", List, true, "what it depends on, joined by commas: afterok:12"},
	{"command", Words, true, "what is run, its words joined by blanks"},
	{"devices", Text, false, "what it has of nodes that name their devices, as g1:ngpus=0,3:ncpus=0-7"},
	{"pools", Text, false, "what it asks of the pools of the cluster, joined by commas: fluent=2"},
	{"exclude", Text, false, "nodes that it does not want"},
	{"bind", Text, false, "how its devices are chosen: compact, tight or scatter; NULL: as the setting bind says"},
	{"exit", Integer, false, "exit status, once it has one"},
	{"attempt", Integer, false, "which of its starts it is at, or was at last"},
	{"attempts", Object, true, "its starts, and how each ended"},
	{"claimed", Truth, true, "somebody executes that"},
	{"ending", Truth, true, "and is to stop"},
	{"preempted", Integer, true, "how often it was stopped for others"},
	{"cpu_user", Duration, false, "cpu time of the processes of that start, in seconds"},
	{"cpu_sys", Duration, false, "cpu time of the kernel for them"},
	{"cpu_time", Duration, false, "cpu time of all its starts together, in seconds"},
	{"max_rss", Size, false, "memory of the largest of them"},
	{"mem_peak", Size, false, "memory of all of them together, where somebody counted"},
	{"backfilled", Truth, true, "it started before a job that stood higher and waited"},
	{"paused", Truth, true, "its processes were sent STOP, and not CONT since"},
	{"retry_of", Number, false, "the job that it does once more"},
	{"line", Text, false, "the line of submit --each that it is for"},
	{"comment", Text, false, "a word of its user"},
	{"promised", Time, false, "the latest start that it was promised, with backfill relaxed"},
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
	{"mail_to", Text, false, "who is told"},
	{"env", Words, true, "the environment that it was submitted with"},
}

// Submission is what an answer of submit says besides.
var Submission = []Attribute{
	{"count", Integer, true, "how many jobs were submitted"},
	{"indices", Text, false, "of an array: its indices, as --array takes them"},
}

// Event is the record of an event.
var Event = []Attribute{
	{"id", Integer, true, "its number, in the order of writing"},
	{"time", Time, true, "when it happened"},
	{"event", Text, true, "what happened, in a word"},
	{"job", Number, false, "of which job"},
	{"array", Number, false, "the first job of its array"},
	{"index", Integer, false, "in the array"},
	{"node", Text, false, "of which node"},
	{"reservation", Text, false, "of which reservation"},
	{"old", Text, false, "the state before"},
	{"new", Text, false, "the state after"},
	{"attempt", Integer, false, "which of the job's starts it is about"},
	{"exit", Integer, false, "the exit status of that start, if it has ended"},
	{"reason", Prose, false, "why"},
	{"reason_code", Text, false, "why, as a word: the causes of docs/json.md"},
	{"uid", Integer, false, "the uid of who did it; NULL: time did, or it is not known"},
}

// Of returns the attribute of a record with a name.
func Of(record []Attribute, name string) Attribute {
	for _, a := range record {
		if a.Name == name {
			return a
		}
	}
	panic(fmt.Sprintf("placectl: no attribute %s is declared", name))
}
