package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
)

// wording puts reasons and helps into words. Times in them are short and local for
// people, RFC 3339 for programs.
type wording struct {
	tx   *store.Tx
	defs *index.Defs
	ask  placer.Ask
	at   func(int64) string
}

func (r *runner) wording(tx *store.Tx, ask placer.Ask) (*wording, error) {
	defs, err := tx.Resources()
	w := &wording{tx: tx, defs: defs, ask: ask, at: func(t int64) string { return r.shortTime(t, tx.Now()) }}
	if r.Output != output.Table && r.Output != output.Line && r.Output != output.MD {
		w.at = func(t int64) string { return string(spell.AppendRFC3339(nil, t)) }
	}
	return w, err
}

// shortTime is an instant as it would be said: the time of day, with the day when
// that is not today's, and seconds only where there are some.
func (r *runner) shortTime(t, now int64) string {
	at, today := time.Unix(t, 0).In(r.loc), time.Unix(now, 0).In(r.loc)
	form := "15:04"
	if at.Second() != 0 {
		form = time.TimeOnly
	}
	if y, m, d := at.Date(); y != today.Year() || m != today.Month() || d != today.Day() {
		form = time.DateOnly + " " + form
	}
	return at.Format(form)
}

// who names the owner of a stretch of the calendar.
func (w *wording) who(owner uint64) (string, error) {
	o, err := w.tx.Owner(timeline.Busy{Owner: owner})
	if o.Job != 0 {
		return o.String(), err
	}
	return o.Reservation, err
}

// reason says why nodes cannot serve a chunk, or that they can.
func (w *wording) reason(v *placer.Reason) (string, error) {
	one := len(v.Nodes) == 1
	number := func(singular, plural string) string {
		if one {
			return singular
		}
		return plural
	}
	tooSoon := "too soon for " + string(spell.AppendDuration(nil, w.ask.Duration))
	switch v.Cause {
	case placer.CauseFits:
		text := number("fits now", "fit now")
		if v.Chunks != int64(len(v.Nodes)) {
			text += fmt.Sprintf(", with room for %d", v.Chunks)
		}
		return text, nil
	case placer.CauseNotUp:
		if v.Note != "" {
			return v.State.String() + ": " + v.Note, nil
		}
		return v.State.String(), nil
	case placer.CauseQueue:
		if v.Queue == "" {
			return fmt.Sprintf("of no queue, and queue %s has nodes of its own", w.ask.Queue), nil
		}
		return number("belongs", "belong") + " to queue " + v.Queue, nil
	case placer.CauseLacks:
		return w.lacks(v, one), nil
	case placer.CauseNotNamed:
		return "not named in the request", nil
	case placer.CauseSet:
		return "in no placement set that could hold the request", nil
	case placer.CauseOneChunk:
		return number("takes", "take") + " one chunk only, and place=pack puts all on one host", nil
	case placer.CauseTaken:
		if v.Whole {
			return "taken whole by " + number("a job", "jobs"), nil
		}
		return "in use by jobs, and whole nodes are asked for", nil
	case placer.CauseShort:
		def, _ := w.defs.Get(v.Want.Res)
		return fmt.Sprintf("%s: %s asked for, %s left%s", def.Name, def.Format(v.Want.Value), def.Format(v.Best), number("", " at most")), nil
	case placer.CauseTooSoon:
		return fmt.Sprintf("taken again %s, %s", number("at ", "by ")+w.at(v.From), tooSoon), nil
	case placer.CauseUser:
		return "other users' jobs are there, and " + number("it is", "they are") + " not shared with them", nil
	case placer.CauseHost:
		return "another node of the host is taken, and whole hosts are asked for", nil
	}
	return w.reserved(v, tooSoon)
}

// lacks says what nodes do not have, and what they have instead.
func (w *wording) lacks(v *placer.Reason, one bool) string {
	def, _ := w.defs.Get(v.Want.Res)
	asked := def.Name + "=" + def.Format(v.Want.Value)
	switch {
	case v.None && def.Type.Numeric():
		return fmt.Sprintf("no %s, %s asked for", def.Name, def.Format(v.Want.Value))
	case v.None, def.Type == index.Boolean:
		return "not " + asked
	case def.Type.Numeric() && one:
		return fmt.Sprintf("%s: %s asked for, it has %s", def.Name, def.Format(v.Want.Value), def.Format(v.Best))
	case def.Type.Numeric():
		return fmt.Sprintf("%s: %s asked for, %s is the most one has", def.Name, def.Format(v.Want.Value), def.Format(v.Best))
	case one:
		return fmt.Sprintf("not %s but %s", asked, def.Format(v.Best))
	}
	return fmt.Sprintf("not %s; most have %s", asked, def.Format(v.Best))
}

// reserved says what a reservation has to do with it.
func (w *wording) reserved(v *placer.Reason, tooSoon string) (string, error) {
	name, err := w.who(v.Owner)
	inside := v.Cause == placer.CauseReservation
	switch {
	case err != nil:
		return "", err
	case inside && v.Whole:
		return fmt.Sprintf("reservation %s keeps parts of nodes, and whole ones are asked for", name), nil
	case inside && v.Limit > 0:
		return fmt.Sprintf("reservation %s takes jobs of %s at most", name, spell.AppendDuration(nil, v.Limit)), nil
	case inside && v.From != timeline.Forever:
		return fmt.Sprintf("reservation %s begins at %s", name, w.at(v.From)), nil
	case inside && v.Over != timeline.Forever:
		return fmt.Sprintf("reservation %s is over at %s, %s", name, w.at(v.Over), tooSoon), nil
	case inside:
		return "not in reservation " + name, nil
	case !v.Whole && v.From != timeline.Forever:
		return fmt.Sprintf("too little left beside reservation %s, from %s on", name, w.at(v.From)), nil
	case !v.Whole:
		return "too little left beside reservation " + name, nil
	case v.From != timeline.Forever:
		return fmt.Sprintf("reserved (%s) from %s, %s", name, w.at(v.From), tooSoon), nil
	}
	return fmt.Sprintf("reserved (%s)", name), nil
}

// help says what to change, and with which flag.
func (w *wording) help(h *placer.Help) (words, flag string) {
	flag = "--" + h.Change + " " + flagWord(h.To)
	switch h.Change {
	case "select":
		words = w.fewer(h)
		flag = "-l " + flagWord(h.To)
	case "walltime":
		words = string(spell.AppendDuration(nil, w.ask.Duration-h.Ask.Duration)) + " shorter"
		flag = "-t " + string(spell.AppendDuration(nil, h.Ask.Duration))
	case "place":
		words = w.placed(h.Ask.Spec.Place)
	case "access":
		words = fmt.Sprintf("access %s instead of %s", h.To, w.ask.Access)
	case "policy":
		words = "nodes that are not in a row"
	case "queue":
		if words = "in queue " + h.To; h.To == "" {
			words = "in no queue"
		}
	case "reservation":
		words = "without the reservation"
	}
	return words, flag
}

func (w *wording) fewer(h *placer.Help) string {
	kinds := len(w.ask.Chunks)
	switch {
	case h.Fewer == w.ask.Chunks[h.Chunk].Count:
		return fmt.Sprintf("without chunk %d", h.Chunk+1)
	case kinds == 1:
		return fmt.Sprintf("%s fewer", spell.Plural(h.Fewer, "chunk"))
	}
	return fmt.Sprintf("%d fewer of chunk %d", h.Fewer, h.Chunk+1)
}

// placed says in what a place differs from the one asked for.
func (w *wording) placed(p placer.Place) string {
	was := w.ask.Spec.Place
	var parts []string
	if p.Arrange != was.Arrange {
		parts = append(parts, fmt.Sprintf("place %s instead of %s", p.Arrange, was.Arrange))
	}
	switch {
	case p.Share == was.Share:
	case p.Exclusive():
		parts = append(parts, "whole nodes instead of whole hosts")
	default:
		parts = append(parts, "shared nodes instead of whole ones")
	}
	if p.HasGroup != was.HasGroup {
		parts = append(parts, "across placement sets")
	}
	return strings.Join(parts, ", ")
}

// flagWord is a flag's value for a shell.
func flagWord(s string) string {
	if s == "" || shellWord(strings.ReplaceAll(s, "=", "")) != strings.ReplaceAll(s, "=", "") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// asked is a request in a line.
func (w *wording) asked(q placer.Request) string {
	text := w.ask.Text(w.defs)
	if w.ask.Spec.Place != (placer.Place{}) {
		text += ", place " + w.ask.Spec.Place.Format(w.defs)
	}
	text += ", for " + string(spell.AppendDuration(nil, w.ask.Duration))
	for _, x := range []struct{ name, value string }{{"in queue", q.Queue}, {"in reservation", q.Reservation}, {"access", q.Access}} {
		if x.value != "" {
			text += ", " + x.name + " " + x.value
		}
	}
	return text
}
