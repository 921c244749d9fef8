package pbs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// qselect lists the ids of jobs.
func qselect(c *fronts.Call) error {
	given, rest, err := options(c, "s= u= q= N= l= A= P= h= p= a= r= x H J T t=")
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fronts.Failf(2, "usage: qselect [options]")
	}
	set := fronts.SetOf(given)
	var b strings.Builder
	err = c.View(func(v fronts.View) error {
		b.Reset()
		about, err := v.About()
		if err != nil {
			return err
		}
		seen := make(map[uint64]bool)
		return v.Jobs(fronts.Selection{Ended: set.Has("x", "H"), Why: true}, func(j *fronts.Job) error {
			ok, err := selected(j, given, about)
			if err != nil || !ok || set.Has("H") && !j.State.Over() || set.Has("J") && j.Array == 0 {
				return err
			}
			if j.Array != 0 && !set.Has("T") {
				if !seen[j.Array] {
					seen[j.Array] = true
					fmt.Fprintf(&b, "%d[].%s\n", j.Array, about.Server)
				}
				return nil
			}
			b.WriteString(name(j, about.Server) + "\n")
			return nil
		})
	})
	if err == nil {
		_, err = io.WriteString(c.Stdout, b.String())
	}
	return err
}

// selected reports whether a job satisfies all options.
func selected(j *fronts.Job, given []fronts.Given, about *fronts.About) (bool, error) {
	for _, g := range given {
		ok := true
		switch g.Name {
		case "s":
			ok = strings.Contains(g.Value, state(j, about.Now))
		case "u":
			ok = slices.ContainsFunc(strings.Split(g.Value, ","), func(u string) bool {
				name, _, _ := strings.Cut(u, "@")
				return name == j.User
			})
		case "q":
			q, _, _ := strings.Cut(g.Value, "@")
			ok = q == "" || q == about.QueueOf(j.Queue)
		case "N":
			ok = j.Name == g.Value
		case "A", "P":
			ok = j.Account == g.Value
		case "h":
			ok = (j.State == fronts.Held) == strings.Contains(g.Value, "u")
		case "r":
			ok = j.Requeue == (g.Value == "y")
		case "p":
			op, value := operator(g.Value)
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return false, fronts.Failf(badValue, "qselect: illegal -p value")
			}
			ok = holds(op, cmp.Compare(j.Priority, n))
		case "l":
			for part := range strings.SplitSeq(g.Value, ",") {
				one, err := resource(j, part)
				if err != nil {
					return false, err
				}
				ok = ok && one
			}
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// operator splits .gt.5 into operator and value.
func operator(text string) (op, value string) {
	if strings.HasPrefix(text, ".") {
		if op, value, ok := strings.Cut(text[1:], "."); ok {
			return op, value
		}
	}
	return "eq", text
}

func holds(op string, order int) bool {
	switch op {
	case "ne":
		return order != 0
	case "lt":
		return order < 0
	case "le":
		return order <= 0
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	}
	return order == 0
}

// resource reports whether a job satisfies RESOURCE.op.VALUE.
func resource(j *fronts.Job, text string) (bool, error) {
	name, rest, _ := strings.Cut(text, ".")
	op, value, ok := strings.Cut(rest, ".")
	if !ok {
		name, value, ok = strings.Cut(text, "=")
		op = "eq"
	}
	bad := fronts.Failf(badValue, "qselect: illegal -l value")
	if !ok {
		return false, bad
	}
	var has int64
	want, err := strconv.ParseInt(value, 10, 64)
	switch name {
	case "ncpus":
		has = int64(j.CPUs)
	case "ngpus":
		has = int64(j.GPUs)
	case "nodect":
		has = int64(j.NodeCount)
	case "mem":
		has = j.Mem
		want, err = parseSize(value)
	case "walltime":
		has = int64(j.Walltime / time.Second)
		want, err = parseClock(value)
	default:
		return false, fronts.Failf(noResource, "qselect: Unknown resource: %s", name)
	}
	if err != nil {
		return false, bad
	}
	return holds(op, cmp.Compare(has, want)), nil
}

func parseClock(text string) (n int64, err error) {
	for part := range strings.SplitSeq(text, ":") {
		v, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return 0, err
		}
		n = n*60 + v
	}
	return n, nil
}
