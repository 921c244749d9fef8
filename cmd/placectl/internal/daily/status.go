package daily

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Status is one screen of a cluster.
type Status struct {
	Now      time.Time
	Stats    *store.Stats
	NextEnd  *Moment // the first running job to end
	Head     *Moment // the first waiting job to start, as far as is known
	Recent   []*Happening
	Warnings []Warning
	Log      int64     // size of the database's log in bytes, 0 if it has none
	Attended *Attended // which process runs the queue on this host; nil if start is manual
	waiting  []*store.Job
	told     map[string]int // the number of warnings by kind

	unverified func(*store.Job) (why, help string, err error)
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
		return fmt.Sprintf("here, pid %d, since %s%s", a.PID, text.BriefTime(a.Since, now, zone), because(a.Why, zone))
	case waiting == 0:
		return "by no process: " + a.Why
	case a.Why == "":
		return fmt.Sprintf("by no process until now: %s waited", text.Plural(waiting, "job"))
	}
	s := fmt.Sprintf("by no process: %s, while %s", a.Why, text.Plural(waiting, "job"))
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
}

// Happening is an event on a line.
type Happening struct {
	At   time.Time
	Text string
}

// Warning is a problem that needs attention.
type Warning struct {
	// copy, locks, overdue, starting, late, node, never, held, hook, unattended, cycles, keeper
	Kind string
	Of   string // a job's number, or a node's name
	Text string
	Help string // the command that explains it, or helps
}

// The greatest numbers that are listed one by one.
const (
	mostRecent   = 8
	mostWarnings = 5
)

// ReadStatus reads the status of a store. unverified says of a job why unhold does not help, and what does, or "".
func ReadStatus(tx *store.Tx, unverified func(*store.Job) (why, help string, err error)) (*Status, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	s := &Status{Now: tx.Now(), Stats: stats, unverified: unverified}
	for _, read := range []func(*store.Tx) error{s.readCopy, s.readRunning, s.readWaiting, s.readNodes, s.readHook,
		s.readRecent} {
		if err := read(tx); err != nil {
			return nil, err
		}
	}
	s.countOthers()
	return s, nil
}

// readCopy warns of a copy of a database, from which nothing is executed.
func (s *Status) readCopy(tx *store.Tx) error {
	why, err := tx.Copy()
	if err == nil && why != "" {
		s.warn("copy", "", "placectl adopt", "nothing is executed from this file, because %s", why)
	}
	return err
}

// readHook warns of a hook that does not accept events.
func (s *Status) readHook(tx *store.Tx) error {
	h, err := tx.Hook().State()
	if err == nil && !h.Failing.IsZero() {
		s.warn("hook", strings.Join(h.Program, " "), "placectl cycle runs it again",
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
	{"unattended", "users whose jobs no process starts"}, {"never", "jobs that can never run"},
	{"held", "jobs that are held for a reason"}, {"node", "nodes that are down or were taken out"}}

// WarnOfLocks warns that locks of the database's file may not keep others out.
func (s *Status) WarnOfLocks(why string) {
	if why != "" {
		s.warn("locks", "", "placectl doctor", "%s", why)
	}
}

// WarnOfKeeper warns of the process that executes the user's jobs here if it is stopped.
func (s *Status) WarnOfKeeper(why, help string) {
	if why != "" {
		s.warn("keeper", "", help, "%s", why)
	}
}

// WarnOfCycles warns that waiting jobs may wait for ever.
func (s *Status) WarnOfCycles(why string) {
	if why != "" {
		s.warn("cycles", "", "", "%s", why)
	}
}

// WaitsSince returns when the first of the waiting jobs was submitted, if one waits for a cycle.
func (s *Status) WaitsSince() (since time.Time, waits bool) {
	for _, j := range s.waiting {
		if j.State != store.JobReserved && (!waits || j.Submit.Before(since)) {
			since, waits = j.Submit, true
		}
	}
	return since, waits
}

// warn adds a warning. It lists the first few of a kind, and counts the others.
func (s *Status) warn(kind, of, help, format string, args ...any) {
	if s.told == nil {
		s.told = make(map[string]int)
	}
	if s.told[kind]++; s.told[kind] <= mostWarnings {
		s.Warnings = append(s.Warnings, Warning{kind, of, fmt.Sprintf(format, args...), help})
	}
}

// countOthers adds a warning that counts those left out.
func (s *Status) countOthers() {
	for _, k := range kinds {
		if more := s.told[k[0]] - mostWarnings; more > 0 {
			s.Warnings = append(s.Warnings, Warning{Kind: k[0], Text: fmt.Sprintf("and %d more %s", more, k[1])})
		}
	}
}

func (s *Status) readRunning(tx *store.Tx) error {
	return tx.Jobs().Each(func(j *store.Job) error {
		switch {
		case j.Starting() && j.Reason.Cause == store.CauseUnreached:
			s.warn("starting", fmt.Sprint(j.ID), "placectl doctor", "job %s has not started: %s", jobInWords(j),
				j.Reason)
		case j.Reason.Cause == store.CauseLeftover:
			s.warn("leftover", fmt.Sprint(j.ID), "placectl doctor", "job %s keeps its nodes: %s", jobInWords(j),
				j.Reason)
		case !j.End.After(s.Now):
			s.warn("overdue", fmt.Sprint(j.ID), "placectl release "+fmt.Sprint(j.ID),
				"job %s has been overdue since %s", jobInWords(j), stamp(j.End))
		case s.NextEnd == nil || j.End.Before(s.NextEnd.At):
			s.NextEnd = &Moment{Job: j.ID, At: j.End}
		}
		return nil
	}, store.JobRunning)
}

// readWaiting finds the next job to start, and those that can never start.
func (s *Status) readWaiting(tx *store.Tx) error {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	waits := []store.JobState{store.JobHeld, store.JobQueued, store.JobReserved, store.JobLate}
	unattended := make(map[string]int)
	err = tx.Jobs().Each(func(j *store.Job) error {
		p, err := look.Keeps(j)
		if err != nil {
			return err
		}
		id := fmt.Sprint(j.ID)
		switch {
		case p.Wait == store.WaitsNever:
			s.warn("never", id, "placectl explain "+id, "job %s can never run: %s", jobInWords(j), p.Reason)
		case p.Wait == store.WaitsLate:
			s.warn("late", id, "placectl explain "+id, "job %s could not start when it was planned to: %s",
				jobInWords(j), p.Reason)
		case p.Wait == store.WaitsUser:
			unattended[j.User]++
		case p.Wait == store.WaitsHeld && j.Reason.Text != "":
			why, help, err := s.unverified(j)
			if err != nil {
				return err
			}
			if why == "" {
				help = "placectl unhold " + id
			} else {
				why = ": " + why
			}
			s.warn("held", id, help, "job %s is held: %s%s", jobInWords(j), j.Reason, why)
		}
		if j.State != store.JobHeld && p.Wait != store.WaitsNever {
			s.waiting = append(s.waiting, j)
		}
		return nil
	}, waits...)
	for _, user := range slices.Sorted(maps.Keys(unattended)) {
		wait := "wait"
		if unattended[user] == 1 {
			wait = "waits"
		}
		s.warn("unattended", user, "",
			"%s of %s %s: no process of %s starts jobs; any placectl command of %s leaves one",
			text.Plural(unattended[user], "job"), user, wait, user, user)
	}
	if err != nil || len(s.waiting) == 0 {
		return err
	}
	head := slices.MinFunc(s.waiting, byNext)
	p, err := look.Prospect(head)
	if err != nil {
		return err
	}
	s.Head = &Moment{Job: head.ID, At: p.Start, Why: waitWord(p, time.UTC), Guess: p.Guess}
	return nil
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// readNodes finds nodes that are down, and those that were taken out of service with a reason.
func (s *Status) readNodes(tx *store.Tx) error {
	by := s.Stats.ByState
	left := by[store.NodeDown] + by[store.NodeOffline] + by[store.NodeDrained]
	if left == 0 {
		return nil
	}
	err := tx.Nodes().Scan(func(n *index.Node) error {
		if n.State == index.Up {
			return nil
		}
		if n.State == index.Down || n.Reason != "" {
			help := "placectl node resume " + n.Name
			if strings.HasPrefix(n.Reason, "unreachable: ") { // it comes back when its host is heard of
				help = "placectl doctor"
			}
			s.warn("node", n.Name, help, "node %s is %s%s", n.Name, n.State.NotUp(), because(n.Reason, time.UTC))
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// readRecent reads the latest events, the last one first.
func (s *Status) readRecent(tx *store.Tx) error {
	from := uint64(0)
	if n := tx.RecordedEvents(); n > 4*mostRecent {
		from = n - 4*mostRecent
	}
	err := tx.EachEvent(from, func(ev *store.Event) (bool, error) {
		s.Recent = append(s.Recent, &Happening{ev.Time, EventInWords(ev)})
		return true, nil
	})
	slices.Reverse(s.Recent)
	s.Recent = s.Recent[:min(mostRecent, len(s.Recent))]
	return err
}

// count counts the jobs in any of some states.
func (s *Status) count(states ...store.JobState) (n int) {
	for _, state := range states {
		n += s.Stats.Jobs[state]
	}
	return n
}

func (s *Status) running() int { return s.count(store.JobRunning) }

func (s *Status) waitingJobs() int {
	return s.count(store.JobHeld, store.JobQueued, store.JobReserved, store.JobLate)
}
