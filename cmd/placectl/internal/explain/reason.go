package explain

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// reason says why nodes cannot serve a chunk, or that they can.
func (p *page) reason(v *placer.Reason) (string, error) {
	one := len(v.Nodes) == 1
	number := func(singular, plural string) string {
		if one {
			return singular
		}
		return plural
	}
	tooSoon := "too soon for " + string(text.AppendDuration(nil, p.ex.Ask.Duration))
	switch v.Cause {
	case placer.CauseFits:
		label := number("fits now", "fit now")
		if v.Chunks != int64(len(v.Nodes)) {
			label += fmt.Sprintf(", with room for %d", v.Chunks)
		}
		return label, nil
	case placer.CauseNotUp:
		if v.Note != "" {
			return v.State.String() + ": " + v.Note, nil
		}
		return v.State.String(), nil
	case placer.CauseQueue:
		if v.Queue == "" {
			return fmt.Sprintf("of no queue, and queue %s has nodes of its own", p.ex.Ask.Queue), nil
		}
		return number("belongs", "belong") + " to queue " + v.Queue, nil
	case placer.CauseLacks:
		return p.lacks(v, one), nil
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
		def, _ := p.defs.Get(v.Want.Res)
		return fmt.Sprintf("%s: %s asked for, %s left%s", def.Name, def.Format(v.Want.Value), def.Format(v.Best),
			number("", " at most")), nil
	case placer.CauseTooSoon:
		return fmt.Sprintf("taken again %s, %s", number("at ", "by ")+p.at(v.From), tooSoon), nil
	case placer.CauseUser:
		return "other users' jobs are there, and " + number("it is", "they are") + " not shared with them", nil
	case placer.CauseHost:
		return "another node of the host is taken, and whole hosts are asked for", nil
	}
	return p.reserved(v, tooSoon)
}

// lacks says what nodes lack, and what they have instead.
func (p *page) lacks(v *placer.Reason, one bool) string {
	def, _ := p.defs.Get(v.Want.Res)
	asked := def.Name + "=" + def.Format(v.Want.Value)
	switch {
	case v.None && def.Type.Numeric():
		return fmt.Sprintf("no %s, %s asked for", def.Name, def.Format(v.Want.Value))
	case v.None, def.Type == index.Boolean:
		return "not " + asked
	case def.Type.Numeric() && one:
		return fmt.Sprintf("%s: %s asked for, it has %s", def.Name, def.Format(v.Want.Value), def.Format(v.Best))
	case def.Type.Numeric():
		return fmt.Sprintf("%s: %s asked for, %s is the most one has", def.Name, def.Format(v.Want.Value),
			def.Format(v.Best))
	case one:
		return fmt.Sprintf("not %s but %s", asked, def.Format(v.Best))
	}
	return fmt.Sprintf("not %s; most have %s", asked, def.Format(v.Best))
}

// reserved says how a reservation is involved.
func (p *page) reserved(v *placer.Reason, tooSoon string) (string, error) {
	name, err := p.who(v.Owner)
	inside := v.Cause == placer.CauseReservation
	switch {
	case err != nil:
		return "", err
	case inside && v.Whole:
		return fmt.Sprintf("reservation %s keeps parts of nodes, and whole ones are asked for", name), nil
	case inside && v.Limit > 0:
		return fmt.Sprintf("reservation %s takes jobs of %s at most", name, text.AppendDuration(nil, v.Limit)), nil
	case inside && v.From != timeline.Forever:
		return fmt.Sprintf("reservation %s begins at %s", name, p.at(v.From)), nil
	case inside && v.Over != timeline.Forever:
		return fmt.Sprintf("reservation %s is over at %s, %s", name, p.at(v.Over), tooSoon), nil
	case inside:
		return "not in reservation " + name, nil
	case !v.Whole && v.From != timeline.Forever:
		return fmt.Sprintf("too little left beside reservation %s, from %s on", name, p.at(v.From)), nil
	case !v.Whole:
		return "too little left beside reservation " + name, nil
	case v.From != timeline.Forever:
		return fmt.Sprintf("reserved (%s) from %s, %s", name, p.at(v.From), tooSoon), nil
	}
	return fmt.Sprintf("reserved (%s)", name), nil
}

// who names the owner of an allocation in the calendar.
func (p *page) who(owner uint64) (string, error) {
	o, err := p.names.Owner(timeline.Busy{Owner: owner})
	if o.Job != 0 {
		return o.String(), err
	}
	return o.Reservation, err
}

// until returns when a reason ends, nil if never.
func until(v *placer.Reason) any {
	if v.Cause == placer.CauseFits || v.Until == timeline.Forever {
		return nil
	}
	return v.Until
}

// forever returns a time, nil for one that never comes.
func forever(t int64) any {
	if t == timeline.Forever {
		return nil
	}
	return string(text.AppendRFC3339(nil, t))
}
