package row

import "fmt"

// Cause is the reason for a state or an event, as a word for programs. The numbers are on disk
// and must not change. Nor may the words, because programs compare them.
type Cause uint8

// The causes. Those of ended attempts are the outcomes, in their order. On disk: append new
// ones.
const (
	CauseNone Cause = iota // no reason, or a row from before causes
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

// causes holds the words of the causes, and their meanings.
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
	CauseUnattended:  {"unattended", "there is no queue runner of its user"},
	CauseClass:       {"class", "its class had more than its share"},
	CausePreempted:   {"preempted", "it made way for another job"},
	CauseDisplaced:   {"displaced", "jobs before it took its place"},
	CauseLimit:       {"limit", "a limit"},
	CauseNode:        {"node", "a node of its plan serves it no more"},
	CauseOverdue:     {"overdue", "a job past its end is on its nodes"},
	CauseUntold:      {"untold", "no process was told of its start"},
	CauseUnreachable: {"unreachable", "its host was not heard of"},
	CauseUnreached:   {"unreached", "no pass could be made on its host"},
	CauseNever:       {"never", "the declared nodes could not hold it, even with all in service"},
	CauseAltered:     {"altered", "it asks for something else now"},
	CauseRestored:    {"restored", "the database is a backup's: it may have run since"},
	CauseSalvaged:    {"salvaged", "its rows were damaged"},
	CauseHealth:      {"health", "a node's own check failed"},
	CauseSuspect:     {"suspect", "a node refused one job after another"},
	CauseRoom:        {"room", "nodes, devices or pools were too few when its time came"},
	CauseLeftover:    {"leftover", "processes of it may be left on its other nodes"},
}

// Causes lists all causes except CauseNone.
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

// Doc returns the cause's meaning.
func (c Cause) Doc() string { return causes[c].doc }

// CauseOf returns the cause for an outcome.
func CauseOf(o Outcome) Cause {
	if o == OutcomeNone || o > OutcomeStopped {
		return CauseNone
	}
	return CauseExited + Cause(o-OutcomeExited)
}

// Reason tells why something is in its state, or why it happened.
type Reason struct {
	Cause Cause
	By    string // the user who requested it, or ""
	Text  string // in words; times in them are RFC 3339, in UTC
}

// Because makes a reason in words.
func Because(c Cause, text string) Reason { return Reason{Cause: c, Text: text} }

// String returns the reason in words, or "" if there is none.
func (r Reason) String() string {
	switch {
	case r.By == "":
		return r.Text
	case r.Text == "":
		return "by " + r.By
	}
	return r.Text + " (" + r.By + ")"
}

// Behind returns the reason with words put before its own.
func (r Reason) Behind(words string) Reason {
	r.Text, r.By = words+r.String(), ""
	return r
}

// And returns the reason with words added.
func (r Reason) And(words string) Reason {
	if is := r.String(); is != "" {
		words = is + "; " + words
	}
	r.Text, r.By = words, ""
	return r
}

// reasonFields lists the fields of a reason that follow its text. The text has its own place
// in the row.
func reasonFields(f *Fields, r *Reason) {
	Byte(f, "cause", &r.Cause)
	f.Text("reasonBy", &r.By)
}

// told reports whether a reason has anything besides its text.
func (r *Reason) told() bool { return r.Cause != CauseNone || r.By != "" }
