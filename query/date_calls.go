package query

import (
	"fmt"
	"strings"
)

// dateFunction compiles date, time, datetime, julianday, unixepoch and strftime. Numbers
// are Julian days as in SQLite, but seconds where they are times.
func (s *scope) dateFunction(x *Call, seconds bool) func(*budget, []Value) Value {
	now := func(e *budget) (instant, bool) {
		if s.c.opt.Now == nil {
			e.fail(&Error{s.c.text, x.pos, "what time it is now is not known here"})
			return 0, false
		}
		return ofSeconds(s.c.opt.Now()), true
	}
	if x.Name == "now" {
		return func(e *budget, _ []Value) Value {
			t, _ := now(e)
			return Int(t.seconds())
		}
	}
	show := map[string]string{"date": "%F", "time": "%T", "datetime": "%F %T"}[x.Name]
	return func(e *budget, args []Value) Value {
		format := show
		if x.Name == "strftime" {
			format, args = args[0].String(), args[1:]
		}
		t, ok := s.instantOf(e, x, args, seconds, now)
		switch {
		case !ok || e.err != nil:
			return Value{}
		case x.Name == "unixepoch":
			return Int(t.seconds())
		case x.Name == "julianday":
			return Float(t.julianDay())
		}
		text, ok := strftime(format, t)
		if !ok {
			return e.fail(&Error{s.c.text, x.pos, fmt.Sprintf("strftime does not know all of %s", quoteText(format))})
		}
		return e.text(text)
	}
}

// instantOf reads a time value and its modifiers; not ok is NULL.
func (s *scope) instantOf(e *budget, x *Call, args []Value, seconds bool, now func(*budget) (instant, bool)) (instant, bool) {
	if len(args) == 0 {
		return now(e)
	}
	first, mods := args[0], args[1:]
	var t instant
	ok := true
	if text := strings.TrimSpace(first.String()); first.kind == Text && strings.EqualFold(text, "now") {
		t, ok = now(e)
	} else if v, whole := leadingNumber(text); whole {
		f := v.asFloat()
		marked := len(mods) > 0 && (strings.EqualFold(mods[0].String(), "unixepoch") || seconds && strings.EqualFold(mods[0].String(), "auto"))
		if marked {
			mods = mods[1:]
		}
		if marked || seconds {
			if t, ok = ofUnix(f); !ok {
				return 0, false
			}
		} else {
			if t, ok = ofJulianDay(f); !ok {
				return 0, false
			}
		}
	} else {
		t, ok = parseInstant(first.String())
	}
	for _, m := range mods {
		if !ok {
			return 0, false
		}
		var refused bool
		if t, ok, refused = s.modify(t, m.String()); refused {
			e.fail(&Error{s.c.text, x.pos, fmt.Sprintf("the modifier %s is not supported", quoteText(m.String()))})
		}
	}
	return t, ok && t.valid()
}

// modify applies a modifier; not ok is NULL, refused one that SQLite has and we do
// not.
func (s *scope) modify(t instant, m string) (out instant, ok, refused bool) {
	switch m = strings.ToLower(m); m {
	case "localtime", "utc":
		switch {
		case s.c.opt.Ahead == nil:
			return 0, false, true
		case m == "utc":
			return s.c.opt.toUTC(t), true, false
		}
		return t + instant(s.c.opt.Ahead(t.seconds())*1000), true, false
	case "auto", "julianday", "unixepoch", "subsec", "subsecond", "ceiling", "floor":
		return 0, false, true
	}
	return t.modify(m)
}
