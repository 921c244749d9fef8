package row

import "fmt"

// Cause is why something is as it is or has become of it, as a word for programs. The numbers
// are on disk and must not change, nor may the words: programs compare them.
type Cause uint8

// The causes. Those of attempts that have ended are the outcomes, in their order. On disk: a new
// one comes last.
const (
	CauseNone Cause = iota // nothing to be said, or a row of before there were causes
	CauseRequest
	CauseExited
	CauseSignal
	CauseWalltime
	CauseOOM
	CauseUnbegun
	CauseRefused
	CauseLost
	CauseStopped
	CauseLaunch
	CauseUnsigned
	CauseDependency
	CauseDeadline
	CauseUnattended
	CauseClass
	CausePreempted
	CauseDisplaced
	CauseLimit
	CauseNode
	CauseOverdue
	CauseUntold
	CauseUnreachable
	CauseUnreached
	CauseNever
	CauseAltered
	CauseRestored
	CauseSalvaged
	CauseHealth
	CauseSuspect
	CauseRoom
	CauseLeftover
)

// causes are what they are called, and what they mean.
var causes = [...]struct{ word, doc string }{
	CauseRequest:     {"request", "a person or a program asked for it"},
	CauseExited:      {"exited", "its command ended with a status other than 0"},
	CauseSignal:      {"signal", "a signal ended its command"},
	CauseWalltime:    {"walltime", "its walltime was over"},
	CauseOOM:         {"oom", "it had more memory than it asked for"},
	CauseUnbegun:     {"unbegun", "certainly nothing of it was executed"},
	CauseRefused:     {"refused", "its node could not execute it"},
	CauseLost:        {"lost", "no process knows how it ended"},
	CauseStopped:     {"stopped", "its processes were ended from outside"},
	CauseLaunch:      {"launch", "the site's launcher failed"},
	CauseUnsigned:    {"unsigned", "its user has not signed what it executes"},
	CauseDependency:  {"dependency", "a job that it waits for"},
	CauseDeadline:    {"deadline", "it cannot end by its deadline"},
	CauseUnattended:  {"unattended", "no process of its user starts jobs"},
	CauseClass:       {"class", "its class had more than its share"},
	CausePreempted:   {"preempted", "it made way for another job"},
	CauseDisplaced:   {"displaced", "jobs before it took its place"},
	CauseLimit:       {"limit", "a limit"},
	CauseNode:        {"node", "a node of its plan serves it no more"},
	CauseOverdue:     {"overdue", "a job past its end is on its nodes"},
	CauseUntold:      {"untold", "no process was told of its start"},
	CauseUnreachable: {"unreachable", "its host was not heard of"},
	CauseUnreached:   {"unreached", "no pass could be made on its host"},
	CauseNever:       {"never", "it can never run, as the cluster is"},
	CauseAltered:     {"altered", "it asks for something else now"},
	CauseRestored:    {"restored", "the database is a backup's: it may have run since"},
	CauseSalvaged:    {"salvaged", "its rows were damaged"},
	CauseHealth:      {"health", "a node's own check failed"},
	CauseSuspect:     {"suspect", "a node refused one job after another"},
	CauseRoom:        {"room", "nodes, devices or pools were too few when its time came"},
	CauseLeftover:    {"leftover", "processes of it may be left on its other nodes"},
}

// Causes lists all of them but none.
func Causes() []Cause {
	list := make([]Cause, len(causes)-1)
	for i := range list {
		list[i] = Cause(i + 1)
	}
	return list
}

func (c Cause) String() string {
	if int(c) < len(causes) {
		return causes[c].word
	}
	return fmt.Sprintf("cause(%d)", c)
}

// Doc says what it means.
func (c Cause) Doc() string { return causes[c].doc }

// CauseOf returns the cause that an outcome is.
func CauseOf(o Outcome) Cause {
	if o == OutcomeNone || o > OutcomeStopped {
		return CauseNone
	}
	return CauseExited + Cause(o-OutcomeExited)
}

// Reason is why something is as it is.
type Reason struct {
	Cause Cause
	By    string // the user whose wish it was, "" for none
	Text  string // in words; times in them are RFC 3339, in UTC
}

// Because returns a reason in words.
func Because(c Cause, text string) Reason { return Reason{Cause: c, Text: text} }

// String returns the reason in words, or "".
func (r Reason) String() string {
	switch {
	case r.By == "":
		return r.Text
	case r.Text == "":
		return "by " + r.By
	}
	return r.Text + " (" + r.By + ")"
}

// Behind returns the reason with words before its own.
func (r Reason) Behind(words string) Reason {
	r.Text, r.By = words+r.String(), ""
	return r
}

// And returns the reason with more to be said.
func (r Reason) And(words string) Reason {
	if is := r.String(); is != "" {
		words = is + "; " + words
	}
	r.Text, r.By = words, ""
	return r
}

// reasonFields are what of a reason stands behind its text, which has a place of its own.
func reasonFields(f *Fields, r *Reason) {
	Byte(f, "cause", &r.Cause)
	f.Text("reasonBy", &r.By)
}

// told reports whether there is anything of a reason besides its text.
func (r *Reason) told() bool { return r.Cause != CauseNone || r.By != "" }
