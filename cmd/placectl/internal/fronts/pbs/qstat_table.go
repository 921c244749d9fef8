package pbs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// print writes the entries in the requested form.
func (s *status) print(list []*entry) error {
	if s.set.Has("t") {
		var each []*entry
		for _, e := range list {
			each = append(each, e)
			for _, j := range e.all {
				each = append(each, &entry{Job: j})
			}
		}
		list = each
	}
	switch {
	case s.set.Has("f") && s.set["F"] == "json":
		return s.json(list)
	case s.set.Has("f"):
		for _, e := range list {
			s.full1(e)
		}
	case len(list) == 0:
	case s.set.Has("a", "i", "r", "H", "n", "s", "u", "G", "M", "T"):
		s.alternative(list)
	default:
		s.plain(list)
	}
	return nil
}

// plain is the table of qstat without options.
func (s *status) plain(list []*entry) {
	w := [3]int{17, 16, 16}
	if s.set.Has("w") {
		w = [3]int{30, 15, 15}
	}
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s  %8s %1s %-16s\n", w[0], "Job id", w[1], "Name", w[2], "User", "Time Use", "S",
		"Queue")
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s  %8s %1s %-16s\n", w[0], strings.Repeat("-", w[0]-1), w[1],
		strings.Repeat("-", 16), w[2], strings.Repeat("-", 16), "--------", "-", "-----")
	for _, e := range list {
		when := used(e.Job, s.about.Now)
		if e.State < fronts.Running {
			when = "0"
		}
		letter := s.letter(e)
		if e.all == nil && e.Array != 0 && e.State.Over() && !s.set.Has("x") {
			letter = "X"
		}
		row := fmt.Sprintf("%-*s %-*s %-*s  %8s %1s %-16s", w[0], s.name(e), w[1], cut(e.Name, w[1]-1), w[2],
			cut(e.User, w[2]-1), when, letter, cut(s.about.QueueOf(e.Queue), 16))
		s.b.WriteString(row + "\n")
	}
}

// startsAt writes an expected start in five characters, as qstat -T does: a time today, a day of this
// week, or else month and day.
func startsAt(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.Unix() <= 0:
		return "--"
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		return at.Format("15:04")
	case at.Sub(now) < 6*24*time.Hour:
		return at.Format("Mon")
	}
	return at.Format("01/02")
}

// alternative is the table of -a and the like.
func (s *status) alternative(list []*entry) {
	w := [4]int{15, 8, 8, 10}
	if s.set.Has("w") {
		w = [4]int{30, 15, 15, 15}
	}
	pad := strings.Repeat(" ", w[0]+w[1]+w[2]+w[3]+19)
	if s.set.Has("T") {
		fmt.Fprintf(&s.b, "\n%s: \n%s                Est\n%sReq'd  Req'd   Start\n", s.about.Server, pad, pad)
	} else {
		fmt.Fprintf(&s.b, "\n%s: \n%sReq'd  Req'd   Elap\n", s.about.Server, pad)
	}
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s %-*s %6s %3s %3s %6s %s\n", w[0], "Job ID", w[1], "Username", w[2], "Queue", w[3],
		"Jobname", "SessID", "NDS", "TSK", "Memory", "Time  S Time")
	dash := func(n int) string { return strings.Repeat("-", n) }
	fmt.Fprintf(&s.b, "%s %s %s %s %s %s %s %s %s %s %s\n", dash(w[0]), dash(w[1]), dash(w[2]), dash(w[3]), dash(6),
		dash(3), dash(3), dash(6), dash(5), "-", dash(5))
	for _, e := range list {
		memory, elapsed := "--", "--"
		if e.Mem > 0 {
			memory = size(e.Mem)
		}
		switch {
		case s.set.Has("T") && e.State < fronts.Running:
			elapsed = startsAt(e.Start, s.about.Now)
		case e.State >= fronts.Running && !s.set.Has("T"):
			elapsed = hours(e.Elapsed(s.about.Now))
		}
		row := fmt.Sprintf("%-*s %-*s %-*s %-*s %6s %3d %3d %6.6s %5.5s %1s %5.5s", w[0], cut(s.name(e), w[0]), w[1],
			cut(e.User, w[1]), w[2], cut(s.about.QueueOf(e.Queue), w[2]), w[3], cut(e.Name, w[3]),
			"--", cmp.Or(e.NodeCount, 1), e.CPUs, memory, hours(e.Walltime), s.letter(e), elapsed)
		host := orDashes(execHost(e.Job))
		switch {
		case s.set.Has("n") && s.set.Has("1"):
			row += " " + host
		case s.set.Has("n"):
			row += "\n   " + host
		}
		s.b.WriteString(row + "\n")
		if s.set.Has("s") {
			s.b.WriteString("   " + orDashes(e.Reason) + "\n")
		}
	}
}
