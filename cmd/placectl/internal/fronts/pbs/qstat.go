package pbs

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// status is a call of qstat.
type status struct {
	c      *fronts.Call
	set    fronts.Set
	about  *fronts.About
	b      strings.Builder
	missed []string // messages for standard error
	code   int
}

// qstat lists jobs, queues and the server.
func qstat(c *fronts.Call) error {
	given, rest, err := options(c, "a B f F= D= E G H i J M n N p Q q r s t T u= w x 1 W=")
	if err != nil {
		return err
	}
	s := &status{c: c, set: fronts.SetOf(given)}
	// Options may also follow the arguments: qstat -f 12 -x.
	for i, w := range rest {
		if strings.HasPrefix(w, "-") {
			more, tail, err := fronts.Declare("a B f F= D= H i J n Q q r s t T u= w x 1").Read(rest[i:],
				fronts.Anywhere)
			if err != nil {
				return fronts.Failf(2, "qstat: %v", err)
			}
			for _, g := range more {
				s.set[g.Name] = g.Value
			}
			rest = append(slices.Clone(rest[:i]), tail...)
			break
		}
	}
	if form, ok := s.set["F"]; ok && form != "json" && form != "dsv" && form != "default" {
		return fronts.Failf(2, "qstat: -F: %s is neither json nor dsv", form)
	}
	err = c.View(func(v fronts.View) (err error) {
		s.b.Reset()
		s.missed, s.code = nil, 0
		if s.about, err = v.About(); err != nil {
			return err
		}
		switch {
		case s.set.Has("B"):
			return s.server(v)
		case s.set.Has("Q") || s.set.Has("q"):
			return s.queues(v, rest)
		}
		return s.jobs(v, rest)
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.Stdout, s.b.String()); err != nil {
		return err
	}
	if len(s.missed) > 0 {
		return &fronts.Status{Code: s.code, Text: strings.Join(s.missed, "\n") + "\n"}
	}
	return nil
}

// history reports whether ended jobs are shown, and whether only they are.
func (s *status) history() (too, alone bool) { return s.set.Has("x", "H"), s.set.Has("H") }

func (s *status) jobs(v fronts.View, words []string) error {
	too, alone := s.history()
	var refs []ref
	var queues []string
	everything := len(words) == 0
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "@"):
			everything = true
		case looksLikeJob(w):
			r, err := parseRef(w)
			if err != nil {
				s.miss(1, "qstat: illegally formed job identifier: %s", w)
				continue
			}
			refs = append(refs, r)
		default:
			q, _, _ := strings.Cut(w, "@")
			if q != s.about.Partition && !slices.Contains(s.about.Queues, q) {
				s.miss(noQueue, "qstat: Unknown queue %s", q)
				continue
			}
			queues = append(queues, q)
		}
	}
	var list []*entry
	details := s.set.Has("f")
	if everything || len(queues) > 0 {
		all, err := s.entries(v, fronts.Selection{Ended: too, Details: details, Why: true, Starts: s.set.Has("T")})
		if err != nil {
			return err
		}
		for _, e := range all {
			ended := e.State.Over() && e.all == nil || e.all != nil && e.over()
			if (everything || slices.Contains(queues, s.about.QueueOf(e.Queue))) && (!alone || ended) &&
				s.shows(e) {
				list = append(list, e)
			}
		}
	}
	for _, r := range refs {
		all, err := s.entries(v, fronts.Selection{IDs: []uint64{r.id}, Ended: true, Details: details || s.set.Has("x"),
			Why: true, Starts: s.set.Has("T")})
		if err != nil {
			return err
		}
		found := s.pick(r, all)
		switch {
		case len(found) == 0:
			s.miss(noJob, "qstat: Unknown Job Id %s", s.full(r))
		case !too && !slices.ContainsFunc(found, func(e *entry) bool { return !e.over() }):
			s.miss(finished, "qstat: %s Job has finished, use -x or -H to obtain historical job information", s.full(r))
		default:
			list = append(list, found...)
		}
	}
	return s.print(list)
}

func (s *status) miss(code int, format string, args ...any) {
	s.missed = append(s.missed, fmt.Sprintf(format, args...))
	s.code = code
}

// full returns a name with the server.
func (s *status) full(r ref) string {
	if strings.Contains(r.text, ".") {
		return r.text
	}
	return r.text + "." + s.about.Server
}
