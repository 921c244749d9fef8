package daily

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Line is a job in a list for people, or elements of an array that are alike.
type Line struct {
	Job   string
	Name  string
	User  string
	State string
	When  string // when it ends, starts or ended, and why not sooner
	Nodes []string

	start, safe, after time.Time // of a waiting job, zero if unknown
	jobs               []*engine.Job
	on                 []uint32
}

// lineColumns are the columns of a list. Columns that do not fit are cut, except the state.
var lineColumns = output.Fields[*Line]{
	{Name: "job", Least: 12, Value: func(l *Line) any { return l.Job }},
	{Name: "name", Least: 5, Value: func(l *Line) any { return output.OrNil(l.Name) }},
	{Name: "user", Least: 5, Value: func(l *Line) any { return output.OrNil(l.User) }},
	{Name: "state", Value: func(l *Line) any { return l.State }},
	{Name: "when", Least: 18, Value: func(l *Line) any { return output.OrNil(l.When) }},
	{Name: "nodes", Kind: output.List, Nodes: true, Least: 5, Value: func(l *Line) any { return l.Nodes }},
}

// Lines makes the lines of a list. In a list for people elements of an array share one if they differ only in
// their nodes and expected starts.
type Lines struct {
	tx     *engine.Tx
	look   *engine.Outlook
	zone   *time.Location
	doubt  listing.Doubt
	people bool
	list   []*Line
	shared map[string]*Line // by what their elements have in common
}

// NewLines starts a list with times in a zone.
func NewLines(tx *engine.Tx, zone *time.Location, people bool) (*Lines, error) {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return nil, err
	}
	doubt, err := listing.DoubtOf(tx)
	return &Lines{tx: tx, look: look, zone: zone, doubt: doubt, people: people, shared: make(map[string]*Line)}, err
}

// Add adds a job.
func (p *Lines) Add(j *engine.Job) error {
	l := &Line{Name: j.Name, User: j.User, State: j.Shown(), jobs: []*engine.Job{j}, on: j.AllNodes()}
	if err := p.when(j, l); err != nil {
		return err
	}
	if p.people && j.Array != 0 {
		key := fmt.Sprintf("%d %q %q %q %q %t %t", j.Array, l.Name, l.User, l.State, l.When, l.start.IsZero(),
			l.after.IsZero())
		if first := p.shared[key]; first != nil {
			first.jobs, first.on = append(first.jobs, j), slices.Concat(first.on, l.on)
			if l.start.Before(first.start) {
				first.start = l.start
			}
			if l.safe.After(first.safe) {
				first.safe = l.safe
			}
			return nil
		}
		p.shared[key] = l
	}
	p.list = append(p.list, l)
	return nil
}

// Lines returns the lines.
func (p *Lines) Lines() (_ []*Line, err error) {
	for _, l := range p.list {
		l.Job = fmt.Sprint(l.jobs[0].ID)
		if p.people {
			l.Job = listing.Elements(l.jobs)
		}
		slices.Sort(l.on)
		if l.Nodes, err = p.tx.Nodes().Names(slices.Compact(l.on)); err != nil {
			return nil, err
		}
		switch doubt := p.doubt; {
		case !l.after.IsZero():
			l.When = "after ~" + p.at(l.after) + ", " + l.When
		case !l.start.IsZero():
			doubt.Few = doubt.Few || len(l.jobs) > 1
			start := doubt.Start(l.start, l.safe, p.at)
			if l.jobs[0].State == engine.JobReserved {
				start = strings.Replace(start, "~", "starts ", 1)
			}
			l.When = start + l.When
		}
	}
	return p.list, nil
}

// when finds the most important fact about a job in its state.
func (p *Lines) when(j *engine.Job, l *Line) error {
	now := p.tx.Now()
	why := text.LocalTimes(j.Why(), p.zone)
	switch {
	case j.Ending:
		l.When = why
	case j.State == engine.JobRunning && j.Reason.Cause == engine.CauseLeftover:
		l.When = "ending: " + why
	case j.State == engine.JobRunning && !j.End.After(now):
		l.When = "overdue since " + p.at(j.End)
	case j.Starting():
		l.When = "starting" + because(why, p.zone)
	case j.State == engine.JobRunning:
		l.When = "ends " + p.at(j.End) + because(why, p.zone)
	case j.State == engine.JobReserved:
		prospect, err := p.look.Prospect(j)
		l.start, l.safe = prospect.Start, j.Start
		l.When = string(text.AppendGuess(nil, prospect.Guess)) + because(why, p.zone)
		return err
	case j.State == engine.JobFailed && j.HasExit():
		l.When = fmt.Sprintf("exit %d, %s", j.Exit, p.at(j.End))
		if why != fmt.Sprintf("exit status %d", j.Exit) { // otherwise the line already shows it
			l.When += because(why, p.zone)
		}
	case !j.State.Live():
		l.When = p.at(j.End) + because(why, p.zone)
	default:
		prospect, err := p.look.Prospect(j)
		l.When, l.after = waitWord(prospect, p.zone), prospect.After
		if l.after.IsZero() && (prospect.Start.After(now) || prospect.Safe.After(now)) {
			l.start, l.safe = prospect.Start, prospect.Safe
			if l.When = ", " + l.When; prospect.Wait == engine.WaitsTurn {
				l.When = ""
			}
		}
		return err
	}
	return nil
}

func (p *Lines) at(t time.Time) string { return text.BriefTime(t, p.tx.Now(), p.zone) }

// PrintLines prints lines as the rows of an answer.
func PrintLines(begin func(output.Result) *output.Printer, lines []*Line) error {
	p := begin(output.Result{Columns: lineColumns.Columns()})
	for _, l := range lines {
		if err := lineColumns.Print(p, l); err != nil {
			return err
		}
	}
	return p.Close()
}

// waitWord says briefly why a job waits. Explain tells which chunk lacks what.
func waitWord(p engine.Prospect, zone *time.Location) string {
	switch p.Wait {
	case engine.WaitsRoom:
		return "no room"
	case engine.WaitsTurn:
		return "next cycle"
	case engine.WaitsBegin:
		return "its begin time"
	case engine.WaitsClass:
		return "share of its class"
	case engine.WaitsUser:
		return "unattended"
	case engine.WaitsHeld:
		return strings.TrimSpace("held " + text.LocalTimes(p.Reason, zone))
	case engine.WaitsNever:
		return "never: " + text.LocalTimes(p.Reason, zone)
	}
	if p.Reason != "" {
		return text.LocalTimes(p.Reason, zone)
	}
	return string(p.Wait)
}

// because formats a reason that follows other text, if there is one.
func because(reason string, zone *time.Location) string {
	if reason == "" {
		return ""
	}
	return ", " + text.LocalTimes(reason, zone)
}
