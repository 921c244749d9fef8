package plan

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/dates"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// dateFunction compiles date, time, datetime, julianday, unixepoch and strftime. Numbers are Julian
// days, as in SQLite, or seconds if they are times.
func (s *scope) dateFunction(x *syntax.Call, seconds bool) func(*functions.Budget, []values.Value) values.Value {
	now := func(e *functions.Budget) (dates.Instant, bool) {
		if s.c.opt.Now == nil {
			e.Fail(&fault.Error{Text: s.c.text, Offset: x.Pos(), Msg: "what time it is now is not known here"})
			return 0, false
		}
		return dates.OfSeconds(s.c.opt.Now()), true
	}
	if x.Name == "now" {
		return func(e *functions.Budget, _ []values.Value) values.Value {
			t, _ := now(e)
			return values.Int(t.Seconds())
		}
	}
	show := map[string]string{"date": "%F", "time": "%T", "datetime": "%F %T"}[x.Name]
	return func(e *functions.Budget, args []values.Value) values.Value {
		format := show
		if x.Name == "strftime" {
			format, args = args[0].String(), args[1:]
		}
		t, ok := s.instantOf(e, x, args, seconds, now)
		switch {
		case !ok || e.Err != nil:
			return values.Value{}
		case x.Name == "unixepoch":
			return values.Int(t.Seconds())
		case x.Name == "julianday":
			return values.Float(t.JulianDay())
		}
		text, ok := dates.Format(format, t)
		if !ok {
			return e.Fail(&fault.Error{Text: s.c.text, Offset: x.Pos(),
				Msg: fmt.Sprintf("strftime does not know all of %s", values.Quote(format))})
		}
		if show != "" && strings.HasPrefix(text, "-") && text[4] == '-' { // years before 0 have four digits here
			text = "-0" + text[1:]
		}
		return e.Text(text)
	}
}

// instantOf reads a time value and its modifiers. If ok is false the result is NULL.
func (s *scope) instantOf(e *functions.Budget, x *syntax.Call, args []values.Value, seconds bool,
	now func(*functions.Budget) (dates.Instant, bool)) (dates.Instant, bool) {
	if len(args) == 0 {
		return now(e)
	}
	first, mods := args[0], args[1:]
	var t dates.Instant
	ok := true
	text := first.String()
	if first.Kind() == values.Text && strings.EqualFold(text, "now") {
		t, ok = now(e)
	} else if v, whole := values.LeadingNumber(text); whole {
		f := v.AsFloat()
		marked := len(mods) > 0 && (strings.EqualFold(mods[0].String(), "unixepoch") ||
			seconds && strings.EqualFold(mods[0].String(), "auto"))
		if marked {
			mods = mods[1:]
		}
		if marked || seconds {
			t, ok = dates.OfUnix(f)
		} else {
			t, ok = dates.OfJulianDay(f)
		}
	} else {
		t, ok = dates.Parse(first.String())
	}
	beyond := 0
	if ok && first.Kind() == values.Text {
		beyond = dates.Beyond(text)
	}
	for _, m := range mods {
		moved, possible, refused := s.modify(t, m.String(), beyond)
		t, ok, beyond = moved, ok && possible, 0
		if refused {
			e.Fail(&fault.Error{Text: s.c.text, Offset: x.Pos(), Msg: fmt.Sprintf("the modifier %s is not supported",
				values.Quote(m.String()))})
		}
	}
	return t, ok && t.Valid()
}

// modify applies a modifier. If ok is false the result is NULL; refused marks a modifier of SQLite's
// that we lack.
func (s *scope) modify(t dates.Instant, m string, beyond int) (out dates.Instant, ok, refused bool) {
	switch m = strings.ToLower(m); m {
	case "localtime", "utc":
		switch {
		case s.c.opt.Ahead == nil:
			return 0, false, true
		case m == "utc":
			return s.c.opt.toUTC(t), true, false
		}
		return t + dates.Instant(s.c.opt.Ahead(t.Seconds())*1000), true, false
	case "auto", "julianday", "unixepoch", "subsec", "subsecond", "ceiling", "floor":
		return 0, false, true
	}
	return t.Modify(m, beyond)
}
