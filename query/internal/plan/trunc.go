package plan

import (
	"fmt"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/dates"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// truncations are the parts of time for date_trunc.
var truncations = []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}

// dateTrunc compiles date_trunc(part, time [, 'localtime']): the beginning of the part of time that
// contains an instant, by the clocks of UTC or 'localtime'. Weeks begin on Mondays.
func (s *scope) dateTrunc(x *syntax.Call, args []exec.Code) exec.Code {
	args[1] = s.read(args[1], tables.Time, x.Args[1])
	c := exec.Over(args...)
	c.Unit = tables.Time
	c.Eval = func(e *exec.Env) values.Value {
		part, at := args[0].Eval(e), args[1].Eval(e)
		local := false
		if len(args) == 3 {
			zone := args[2].Eval(e)
			if local = values.Lower(zone.String()) == "localtime"; !local && values.Lower(zone.String()) != "utc" {
				return e.Fail(&fault.Error{Text: s.c.text, Offset: x.Args[2].Pos(),
					Msg: "the third argument of date_trunc is 'localtime' or 'utc'"})
			}
		}
		if part.Kind() == values.Null || at.Kind() == values.Null {
			return values.Value{}
		}
		t := dates.OfSeconds(at.AsInt())
		if local && s.c.opt.Ahead != nil {
			t += dates.Instant(s.c.opt.Ahead(t.Seconds()) * 1000)
		}
		if !t.Valid() {
			return values.Value{}
		}
		if t, local = t.CutTo(values.Lower(part.String())), local && s.c.opt.Ahead != nil; t < 0 {
			return e.Fail(&fault.Error{Text: s.c.text, Offset: x.Args[0].Pos(),
				Msg: fmt.Sprintf(
					"date_trunc cuts to second, minute, hour, day, week, month, quarter or year, not to %s%s",
					part.Literal(), didYouMean(part.String(), truncations))})
		}
		if local {
			t = s.c.opt.toUTC(t)
		}
		return values.Int(t.Seconds())
	}
	return c
}
