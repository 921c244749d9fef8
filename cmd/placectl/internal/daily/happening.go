package daily

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// eventWords are the words for events of jobs in a sentence. Other events keep their own names.
var eventWords = map[string]string{"submit": "submitted", "start": "started", "end": "finished", "fail": "failed",
	"cancel": "cancelled",
	"hold":   "held", "unhold": "no longer held", "plan": "planned", "unplan": "no longer planned",
	"never": "can never run", "late": "late",
	"launch": "launched", "unreached": "starting", "claim": "being executed", "leftover": "not freeing all nodes",
	"again": "tried again", "requeue": "queued again", "queue": "queued"}

// Happening is an event on a line, or alike events of one command.
type Happening struct {
	At   time.Time
	Text string

	ID    uint64 // the last event's number
	first *engine.Event
	jobs  []*engine.Job
	nodes []string
}

// takes reports whether the line has room for another event.
func (h *Happening) takes(ev *engine.Event) bool {
	f := h.first
	return f.Event == ev.Event && f.Old == ev.Old && f.New == ev.New &&
		f.Reason == ev.Reason && (f.Job == 0) == (ev.Job == 0) && (f.Node == "") == (ev.Node == "") &&
		(ev.Job != 0 || ev.Node != "")
}

// tell puts the events into words.
func (h *Happening) tell() {
	ev, words := h.first, h.first.Reason.String()
	said := []string{ev.Event, ev.New}
	if nodes := index.FoldNodeList(h.nodes); ev.Job != 0 {
		said = []string{"job", listing.Elements(h.jobs), cmp.Or(eventWords[ev.Event], ev.Event)}
		if len(h.jobs) > 1 {
			said[0] = "jobs"
		}
		switch {
		case ev.Event == "never" && words != "": // the refusal is a sentence already
			said[2], words = words, ""
		case nodes != "":
			said = append(said, "on", nodes)
		}
	} else if nodes != "" {
		said = []string{"node", nodes, ev.New}
		if len(h.nodes) > 1 {
			said[0] = "nodes"
		}
	}
	if h.Text = strings.TrimSpace(strings.Join(said, " ")); words != "" {
		h.Text += ": " + words
	}
}

// Happenings puts events into words. Each gets the lines of an instant as soon as it is over.
type Happenings struct {
	Tx   *engine.Tx
	Each func(*Happening) error
	open []*Happening // of this instant
}

// Add adds an event.
func (hs *Happenings) Add(ev *engine.Event) error {
	if len(hs.open) > 0 && !hs.open[0].At.Equal(ev.Time) {
		if err := hs.End(); err != nil {
			return err
		}
	}
	last := hs.open[max(0, len(hs.open)-4):] // a command may make several events of each job
	i := slices.IndexFunc(last, func(h *Happening) bool { return h.takes(ev) })
	if i < 0 {
		i, last = 0, []*Happening{{At: ev.Time, first: ev}}
		hs.open = append(hs.open, last[0])
	}
	h := last[i]
	h.ID = ev.ID
	if ev.Node != "" && (len(h.nodes) == 0 || h.nodes[len(h.nodes)-1] != ev.Node) {
		h.nodes = append(h.nodes, ev.Node)
	}
	if ev.Job == 0 {
		return nil
	}
	j, err := hs.Tx.Jobs().Get(ev.Job)
	if errors.Is(err, engine.ErrNotFound) { // it was archived
		j, err = new(engine.Job), nil
		j.ID = ev.Job
	}
	h.jobs = append(h.jobs, j)
	return err
}

// End ends the last instant.
func (hs *Happenings) End() error {
	for _, h := range hs.open {
		h.tell()
		if err := hs.Each(h); err != nil {
			return err
		}
	}
	hs.open = nil
	return nil
}

// HappeningFields are the columns of a list of events for people.
var HappeningFields = output.Fields[*Happening]{
	{Name: "id", Kind: output.Integer, Value: func(h *Happening) any { return h.ID }},
	{Name: "time", Kind: output.Time, Value: func(h *Happening) any { return h.At }},
	{Name: "event", Kind: output.Prose, Value: func(h *Happening) any { return h.Text }},
}

// latestEvents lists events that matter, the latest first: those among the last few hundred, or of more where one
// command made that many.
func latestEvents(tx *engine.Tx, matters func(*engine.Event) bool) (list []*Happening, err error) {
	hs := &Happenings{Tx: tx, Each: func(h *Happening) error { list = append(list, h); return nil }}
	for last := uint64(250); last < mostEvents && len(list) <= mostRecent && err == nil; last *= 8 {
		list = nil
		err = tx.EachEvent(max(tx.RecordedEvents(), last)-last, func(ev *engine.Event) (bool, error) {
			if !matters(ev) {
				return true, nil
			}
			return true, hs.Add(ev)
		})
		err = errors.Join(err, hs.End())
	}
	slices.Reverse(list)
	return list, err
}
