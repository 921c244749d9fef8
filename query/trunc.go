package query

import (
	"fmt"
)

// truncations are the parts of time that date_trunc cuts to.
var truncations = []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}

// dateTrunc compiles date_trunc(part, time [, 'localtime']): the beginning of the part of
// time in which an instant lies, by the clocks of UTC or those of 'localtime'. Weeks
// begin on Mondays.
func (s *scope) dateTrunc(x *Call, args []code) code {
	args[1] = s.read(args[1], Time, x.Args[1])
	c := over(args...)
	c.unit = Time
	c.eval = func(e *env) Value {
		part, at := args[0].eval(e), args[1].eval(e)
		local := false
		if len(args) == 3 {
			zone := args[2].eval(e)
			if local = lowerASCII(zone.String()) == "localtime"; !local && lowerASCII(zone.String()) != "utc" {
				return e.fail(&Error{s.c.text, x.Args[2].Pos(), "the third argument of date_trunc is 'localtime' or 'utc'"})
			}
		}
		if part.kind == Null || at.kind == Null {
			return Value{}
		}
		t := ofSeconds(at.asInt())
		if local && s.c.opt.Ahead != nil {
			t += instant(s.c.opt.Ahead(t.seconds()) * 1000)
		}
		if !t.valid() {
			return Value{}
		}
		if t, local = t.cutTo(lowerASCII(part.String())), local && s.c.opt.Ahead != nil; t < 0 {
			return e.fail(&Error{s.c.text, x.Args[0].Pos(), fmt.Sprintf("date_trunc cuts to second, minute, hour, day, week, month, quarter or year, not to %s%s",
				part.Literal(), didYouMean(part.String(), truncations))})
		}
		if local {
			t = s.c.opt.toUTC(t)
		}
		return Int(t.seconds())
	}
	return c
}
