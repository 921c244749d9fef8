package daily

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Line is a job in a list for people.
type Line struct {
	Job   string
	Name  string
	User  string
	State string
	When  string // when it ends, starts or ended, and why not sooner
	Nodes []string
}

// lineColumns are the columns of a list. Columns that do not fit are cut, except number and state.
var lineColumns = output.Fields[*Line]{
	{Name: "job", Value: func(l *Line) any { return l.Job }},
	{Name: "name", Least: 5, Value: func(l *Line) any { return output.OrNil(l.Name) }},
	{Name: "user", Least: 5, Value: func(l *Line) any { return output.OrNil(l.User) }},
	{Name: "state", Value: func(l *Line) any { return l.State }},
	{Name: "when", Least: 18, Value: func(l *Line) any { return output.OrNil(l.When) }},
	{Name: "nodes", Kind: output.List, Nodes: true, Least: 5, Value: func(l *Line) any { return l.Nodes }},
}

// Lines prints jobs, one a line.
type Lines struct {
	*output.Printer
	tx   *store.Tx
	look *store.Outlook
	zone *time.Location
}

// PrintLines starts a list with times in a zone.
func PrintLines(begin func(output.Result) *output.Printer, tx *store.Tx, zone *time.Location) (*Lines, error) {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return nil, err
	}
	return &Lines{begin(output.Result{Columns: lineColumns.Columns()}), tx, look, zone}, nil
}

// Print prints one job.
func (p *Lines) Print(j *store.Job) error {
	l, err := p.line(j)
	if err != nil {
		return err
	}
	return lineColumns.Print(p.Printer, l)
}

func (p *Lines) line(j *store.Job) (*Line, error) {
	nodes, err := p.tx.Nodes().Names(j.AllNodes())
	if err != nil {
		return nil, err
	}
	when, err := p.when(j)
	return &Line{fmt.Sprint(j.ID), j.Name, j.User, j.Shown(), when, nodes}, err
}

// when returns the most important fact about a job in its state.
func (p *Lines) when(j *store.Job) (string, error) {
	now := p.tx.Now()
	at := func(t time.Time) string { return text.BriefTime(t, now, p.zone) }
	switch {
	case j.Ending:
		return text.LocalTimes(j.Why(), p.zone), nil
	case j.State == store.JobRunning && j.Reason.Cause == store.CauseLeftover:
		return "ending: " + text.LocalTimes(j.Why(), p.zone), nil
	case j.State == store.JobRunning && !j.End.After(now):
		return "overdue since " + at(j.End), nil
	case j.Starting():
		return "starting" + because(j.Why(), p.zone), nil
	case j.State == store.JobRunning:
		return "ends " + at(j.End) + because(j.Why(), p.zone), nil
	case j.State == store.JobReserved:
		prospect, err := p.look.Prospect(j)
		return string(text.AppendGuess([]byte("starts "+at(j.Start)), prospect.Guess)) + because(j.Why(), p.zone), err
	case j.State == store.JobFailed && j.HasExit():
		line := fmt.Sprintf("exit %d, %s", j.Exit, at(j.End))
		if why := j.Why(); why != fmt.Sprintf("exit status %d", j.Exit) { // otherwise the line already shows it
			line += because(why, p.zone)
		}
		return line, nil
	case !j.State.Live():
		return at(j.End) + because(j.Why(), p.zone), nil
	}
	prospect, err := p.look.Prospect(j)
	if err != nil {
		return "", err
	}
	why := waitWord(prospect, p.zone)
	if !prospect.After.IsZero() {
		return "after ~" + at(prospect.After) + ", " + why, nil
	}
	if prospect.Start.IsZero() || !prospect.Start.After(now) {
		return why, nil
	}
	return "~" + at(prospect.Start) + ", " + why, nil
}

// waitWord says briefly why a job waits. Explain tells which chunk lacks what.
func waitWord(p store.Prospect, zone *time.Location) string {
	switch p.Wait {
	case store.WaitsRoom:
		return "no room"
	case store.WaitsTurn:
		return "next cycle"
	case store.WaitsBegin:
		return "its begin time"
	case store.WaitsClass:
		return "share of its class"
	case store.WaitsUser:
		return "unattended"
	case store.WaitsHeld:
		return strings.TrimSpace("held " + text.LocalTimes(p.Reason, zone))
	case store.WaitsNever:
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
