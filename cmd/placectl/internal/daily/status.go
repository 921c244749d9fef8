package daily

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Status is one screen of a cluster.
type Status struct {
	Now      time.Time
	Stats    *engine.Stats
	NextEnd  *Moment // the first running job to end
	Head     *Moment // the first waiting job to start, as far as is known
	Recent   []*Happening
	Warnings []Warning
	Log      int64     // size of the database's log in bytes, 0 if it has none
	Attended *Attended // which process runs the queue on this host; nil if start is manual
	waiting  []*engine.Job
	doubt    listing.Doubt
	told     map[string]int // the number of warnings by kind

	unverified func(*engine.Job) (why, help string, err error)
}

// Attended says which process runs the queue for this user.
type Attended struct {
	PID   int // 0 for none
	Since time.Time
	Why   string // why there is none, or two
	Help  string // the command to type if none runs and jobs wait
}

// text names that process, or says how many jobs wait for one. It is "" if none waits.
func (a *Attended) text(waiting int, now time.Time, zone *time.Location) string {
	switch {
	case a == nil || a.PID == 0 && a.Why == "" && waiting == 0:
		return ""
	case a.PID != 0:
		return fmt.Sprintf("pid %d, since %s%s", a.PID, text.BriefTime(a.Since, now, zone), because(a.Why, zone))
	case waiting == 0:
		return "none: " + a.Why
	case a.Why == "":
		return fmt.Sprintf("none until now: %s waited", text.Plural(waiting, "job"))
	}
	s := fmt.Sprintf("none: %s, while %s", a.Why, text.Plural(waiting, "job"))
	if s += " wait"; waiting == 1 {
		s += "s"
	}
	if a.Help != "" {
		s += "; " + a.Help
	}
	return s
}

// Moment is a job and when it is due, the zero time if unknown.
type Moment struct {
	Job   uint64
	At    time.Time
	Why   string
	Guess uint64 // the overdue job that a start rests on, which makes it a guess
	safe  time.Time
}

// Warning is a problem that needs attention.
type Warning struct {
	// copy, locks, overdue, starting, late, node, never, held, hook, unattended, cycles, keeper
	Kind string
	Of   string // a job's number, a node's name, or several of an array or nodes
	Text string
	Help string // the command that explains it, or helps

	jobs  []*engine.Job
	names []string
}

// The greatest numbers that are listed one by one.
const (
	mostRecent   = 5
	mostWarnings = 5
)

// ReadStatus reads the status of a store. unverified says of a job why unhold does not help, and what does, or "".
func ReadStatus(tx *engine.Tx, unverified func(*engine.Job) (why, help string, err error)) (*Status, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	s := &Status{Now: tx.Now(), Stats: stats, unverified: unverified, told: make(map[string]int)}
	for _, read := range []func(*engine.Tx) error{s.readCopy, s.readRunning, s.readWaiting, s.readNodes, s.readHook,
		s.readRecent} {
		if err := read(tx); err != nil {
			return nil, err
		}
	}
	s.countOthers()
	return s, nil
}

// readCopy warns of a copy of a database, from which nothing is executed.
func (s *Status) readCopy(tx *engine.Tx) error {
	why, err := tx.Copy()
	if err == nil && why != "" {
		s.warn("copy", nil, "", "placectl adopt", "nothing is executed from this file, because %s", why)
	}
	return err
}

// readHook warns of a hook that does not accept events.
func (s *Status) readHook(tx *engine.Tx) error {
	h, err := tx.Hook().State()
	if err == nil && !h.Failing.IsZero() {
		s.warn("hook", nil, strings.Join(h.Program, " "), "placectl cycle runs it again",
			"the hook %s has been failing since %s: %s; %s",
			h.Program[0], h.Failing.UTC().Format(time.RFC3339), h.Failure, WaitingEvents(h.Behind))
	}
	return err
}

// WaitingEvents says how many events a hook has not accepted yet.
func WaitingEvents(n uint64) string {
	if n == 1 {
		return "1 event waits for it"
	}
	return fmt.Sprintf("%d events wait for it", n)
}

// kinds are the kinds of warnings, with the words for those left out.
var kinds = [][2]string{{"overdue", "jobs that are overdue"}, {"starting", "jobs that have not started"},
	{"leftover", "jobs that may have processes left on other nodes"},
	{"late", "jobs that could not start when they were planned to"},
	{"unattended", "users without a queue runner"}, {"never", "jobs that can never run"},
	{"held", "jobs that are held for a reason"}, {"node", "nodes that are down or were taken out"}}

// Warn warns of trouble that others have found: locks that may not keep others out, a stopped process that executes the
// user's jobs, jobs that may wait for ever. It does nothing for "".
func (s *Status) Warn(kind, why, help string) {
	if why != "" {
		s.warn(kind, nil, "", help, "%s", why)
	}
}

// WaitsSince returns when the first of the waiting jobs was submitted, if one waits for a cycle.
func (s *Status) WaitsSince() (since time.Time, waits bool) {
	for _, j := range s.waiting {
		if j.State != engine.JobReserved && (!waits || j.Submit.Before(since)) {
			since, waits = j.Submit, true
		}
	}
	return since, waits
}

// it stands for the name of what a warning is about.
const it = "\x00"

// warn adds a warning about a job, a node or neither. Nodes, or jobs of an array, with the same trouble share one.
// warn lists the first few of a kind, and counts the others.
func (s *Status) warn(kind string, j *engine.Job, node, help, format string, args ...any) {
	w := Warning{Kind: kind, Text: fmt.Sprintf(format, args...), Help: help}
	i := slices.IndexFunc(s.Warnings, func(o Warning) bool {
		return o.Kind == kind && o.Text == w.Text && o.Help == help &&
			(j == nil || j.Array != 0 && o.jobs[0].Array == j.Array)
	})
	if i < 0 {
		if s.told[kind]++; s.told[kind] > mostWarnings {
			return
		}
		i, s.Warnings = len(s.Warnings), append(s.Warnings, w)
	}
	if j != nil {
		s.Warnings[i].jobs = append(s.Warnings[i].jobs, j)
	}
	s.Warnings[i].names = append(s.Warnings[i].names, node)
}

// countOthers adds a warning that counts those left out, and names what the others are about.
func (s *Status) countOthers() {
	for i := range s.Warnings {
		w := &s.Warnings[i]
		switch w.Of = index.FoldNodeList(w.names); len(w.jobs) {
		case 0:
		case 1:
			w.Of = listing.JobID(w.jobs[0])
		default:
			w.Of = listing.Elements(w.jobs)
		}
		w.Text, w.Help = strings.ReplaceAll(w.Text, it, w.Of), strings.ReplaceAll(w.Help, it, w.Of)
	}
	for _, k := range kinds {
		if more := s.told[k[0]] - mostWarnings; more > 0 {
			s.Warnings = append(s.Warnings, Warning{Kind: k[0], Text: fmt.Sprintf("and %d more %s", more, k[1])})
		}
	}
}

func (s *Status) readRunning(tx *engine.Tx) error {
	return tx.Jobs().Each(func(j *engine.Job) error {
		switch {
		case j.Starting() && j.Reason.Cause == engine.CauseUnreached:
			s.warn("starting", j, "", "placectl doctor", "job %s has not started: %s", jobInWords(j),
				j.Reason)
		case j.Reason.Cause == engine.CauseLeftover:
			s.warn("leftover", j, "", "placectl doctor", "job %s keeps its nodes: %s", jobInWords(j),
				j.Reason)
		case !j.End.After(s.Now):
			s.warn("overdue", j, "", "placectl release "+it,
				"job %s has been overdue since %s", jobInWords(j), stamp(j.End))
		case s.NextEnd == nil || j.End.Before(s.NextEnd.At):
			s.NextEnd = &Moment{Job: j.ID, At: j.End}
		}
		return nil
	}, engine.JobRunning)
}

// readWaiting finds the next job to start, and those that can never start.
func (s *Status) readWaiting(tx *engine.Tx) error {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	waits := []engine.JobState{engine.JobHeld, engine.JobQueued, engine.JobReserved, engine.JobLate}
	unattended := make(map[string]int)
	err = tx.Jobs().Each(func(j *engine.Job) error {
		p, err := look.Keeps(j)
		if err != nil {
			return err
		}
		switch {
		case p.Wait == engine.WaitsNever:
			s.warn("never", j, "", "placectl explain "+it, "job %s can never run: %s", jobInWords(j), p.Reason)
		case p.Wait == engine.WaitsLate:
			s.warn("late", j, "", "placectl explain "+it, "job %s could not start when it was planned to: %s",
				jobInWords(j), p.Reason)
		case p.Wait == engine.WaitsUser:
			unattended[j.User]++
		case p.Wait == engine.WaitsHeld && j.Reason.Text != "":
			why, help, err := s.unverified(j)
			if err != nil {
				return err
			}
			if why == "" {
				help = "placectl unhold " + it
			} else {
				why = ": " + why
			}
			s.warn("held", j, "", help, "job %s is held: %s%s", jobInWords(j), j.Reason, why)
		}
		if j.State != engine.JobHeld && p.Wait != engine.WaitsNever {
			s.waiting = append(s.waiting, j)
		}
		return nil
	}, waits...)
	for _, user := range slices.Sorted(maps.Keys(unattended)) {
		s.warn("unattended", nil, user, "",
			"%s of %s waiting: there is no queue runner of %s; any placectl command of %s starts one",
			text.Plural(unattended[user], "job"), user, user, user)
	}
	if err != nil || len(s.waiting) == 0 {
		return err
	}
	due, err := dueOf(tx)
	if err != nil {
		return err
	}
	head := slices.MinFunc(s.waiting, due.compare)
	p, err := look.Prospect(head)
	if err != nil {
		return err
	}
	s.Head = &Moment{Job: head.ID, At: p.Start, Why: waitWord(p, time.UTC), Guess: p.Guess, safe: p.Safe}
	if head.State == engine.JobReserved {
		s.Head.safe = head.Start
	}
	s.doubt, err = listing.DoubtOf(tx)
	return err
}

// readNodes finds nodes that are down, and those that were taken out of service with a reason.
func (s *Status) readNodes(tx *engine.Tx) error {
	by := s.Stats.ByState
	if by[engine.NodeDown]+by[engine.NodeOffline]+by[engine.NodeDrained] == 0 {
		return nil
	}
	return tx.Nodes().Scan(func(n *index.Node) error {
		if n.State == index.Down || n.State != index.Up && n.Reason != "" {
			help := "placectl node resume " + it
			if strings.HasPrefix(n.Reason, "unreachable: ") { // it comes back when its host is heard of
				help = "placectl doctor"
			}
			s.warn("node", nil, n.Name, help, "node %s is %s%s", it, n.State.NotUp(), because(n.Reason, time.UTC))
		}
		return nil
	})
}

// readRecent reads the latest starts, ends, failures and states of nodes, the last one first.
func (s *Status) readRecent(tx *engine.Tx) (err error) {
	s.Recent, err = latestEvents(tx, func(ev *engine.Event) bool {
		return slices.Contains([]string{"start", "end", "fail", "cancel", "again", "node"}, ev.Event)
	})
	s.Recent = s.Recent[:min(mostRecent, len(s.Recent))]
	return err
}

// count counts the jobs in any of some states.
func (s *Status) count(states ...engine.JobState) (n int) {
	for _, state := range states {
		n += s.Stats.Jobs[state]
	}
	return n
}

func (s *Status) running() int { return s.count(engine.JobRunning) }

func (s *Status) waitingJobs() int {
	return s.count(engine.JobHeld, engine.JobQueued, engine.JobReserved, engine.JobLate)
}
