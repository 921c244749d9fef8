package explain

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// reason is why nodes cannot serve a chunk, or that they can.
type reason struct {
	*placer.Reason
	chunk int
}

func (c chunk) reasons() (list []reason) {
	for i := range c.Reasons {
		list = append(list, reason{&c.Reasons[i], c.number})
	}
	return list
}

// reasons returns the reasons of all chunks.
func (p *page) reasons() (list []reason) {
	for _, c := range numbered(p.ex.Chunks) {
		list = append(list, c.reasons()...)
	}
	return list
}

// reasonFields are the fields of reasons. People read the beginning of a long list of nodes.
func (p *page) reasonFields(list []reason) output.Fields[int] {
	// of returns a field of reasons that are about a resource
	of := func(name string, value func(reason, index.Def) any) output.Field[int] {
		return output.Field[int]{Name: name, Value: func(i int) any {
			if list[i].Cause != placer.CauseLacks && list[i].Cause != placer.CauseShort {
				return nil
			}
			def, _ := p.defs.Get(list[i].Want.Res)
			return value(list[i], def)
		}}
	}
	return output.Fields[int]{
		{Name: "chunk", Kind: output.Integer, Value: func(i int) any { return list[i].chunk }},
		{Name: "reason", Required: true, Value: func(i int) any { return p.cause(list[i].Reason) }},
		{Name: "detail", Required: true, Value: func(i int) any { return p.why(list[i].Reason) }},
		{Name: "nodes", Kind: output.Integer, Required: true, Value: func(i int) any { return len(list[i].Nodes) }},
		{Name: "names", Required: true, Value: func(i int) any {
			if p.Format == output.Table {
				return p.nodeList(list[i].Nodes)
			}
			return index.FoldNodeList(p.named(list[i].Nodes...))
		}},
		{Name: "until", Kind: output.Time, Value: func(i int) any { return until(list[i].Reason) }},
		{Name: "reservation", Value: func(i int) any {
			if list[i].Cause != placer.CauseReserved && list[i].Cause != placer.CauseReservation {
				return nil
			}
			return output.OrNil(p.who(list[i].Owner))
		}},
		{Name: "from", Kind: output.Time, Value: func(i int) any {
			if list[i].From == timeline.Forever {
				return nil
			}
			return list[i].From
		}},
		of("resource", func(_ reason, def index.Def) any { return output.OrNil(def.Name) }),
		of("asked", func(r reason, def index.Def) any { return def.Format(r.Want.Value) }),
		of("best", func(r reason, def index.Def) any {
			if r.None {
				return nil
			}
			return def.Format(r.Best)
		}),
	}
}

// cause returns a reason in words for people, by name for programs.
func (p *page) cause(v *placer.Reason) string {
	if p.Format == output.Table {
		return p.why(v)
	}
	return string(v.Cause)
}

// why says why nodes cannot serve a chunk, or that they can.
func (p *page) why(v *placer.Reason) string {
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
		return label
	case placer.CauseNotUp:
		if v.Note != "" {
			return v.State.String() + ": " + v.Note
		}
		return v.State.String()
	case placer.CauseQueue:
		if v.Queue == "" {
			return fmt.Sprintf("of no queue, and queue %s has nodes of its own", p.ex.Ask.Queue)
		}
		return number("belongs", "belong") + " to queue " + v.Queue
	case placer.CauseLacks:
		return p.lacks(v, one)
	case placer.CauseNotNamed:
		return "not named in the request"
	case placer.CauseSet:
		return "in no placement set that could hold the request"
	case placer.CauseOneChunk:
		return number("takes", "take") + " one chunk only, and place=pack puts all on one host"
	case placer.CauseTaken:
		if v.Whole {
			return "taken whole by " + number("a job", "jobs")
		}
		return "in use by jobs, and whole nodes are asked for"
	case placer.CauseShort:
		def, _ := p.defs.Get(v.Want.Res)
		return fmt.Sprintf("%s: %s asked for, %s left%s", def.Name, def.Format(v.Want.Value), def.Format(v.Best),
			number("", " at most"))
	case placer.CauseTooSoon:
		return fmt.Sprintf("taken again %s, %s", number("at ", "by ")+p.at(v.From), tooSoon)
	case placer.CauseUser:
		return "other users' jobs are there, and " + number("it is", "they are") + " not shared with them"
	case placer.CauseHost:
		return "another node of the host is taken, and whole hosts are asked for"
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
func (p *page) reserved(v *placer.Reason, tooSoon string) string {
	name := p.who(v.Owner)
	inside := v.Cause == placer.CauseReservation
	switch {
	case inside && v.Whole:
		return fmt.Sprintf("reservation %s keeps parts of nodes, and whole ones are asked for", name)
	case inside && v.Limit > 0:
		return fmt.Sprintf("reservation %s takes jobs of %s at most", name, text.AppendDuration(nil, v.Limit))
	case inside && v.From != timeline.Forever:
		return fmt.Sprintf("reservation %s begins at %s", name, p.at(v.From))
	case inside && v.Over != timeline.Forever:
		return fmt.Sprintf("reservation %s is over at %s, %s", name, p.at(v.Over), tooSoon)
	case inside:
		return "not in reservation " + name
	case !v.Whole && v.From != timeline.Forever:
		return fmt.Sprintf("too little left beside reservation %s, from %s on", name, p.at(v.From))
	case !v.Whole:
		return "too little left beside reservation " + name
	case v.From != timeline.Forever:
		return fmt.Sprintf("reserved (%s) from %s, %s", name, p.at(v.From), tooSoon)
	}
	return fmt.Sprintf("reserved (%s)", name)
}

// who names the owner of an allocation in the calendar.
func (p *page) who(owner uint64) string {
	o, err := p.names.Owner(timeline.Busy{Owner: owner})
	p.failed(err)
	if o.Job != 0 {
		return o.String()
	}
	return o.Reservation
}

// until returns when a reason ends, nil if never.
func until(v *placer.Reason) any {
	if v.Cause == placer.CauseFits || v.Until == timeline.Forever {
		return nil
	}
	return v.Until
}
