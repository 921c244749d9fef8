package pbs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// status is a call of qstat.
type status struct {
	c      *fronts.Call
	set    fronts.Set
	about  *fronts.About
	b      strings.Builder
	missed []string // what is to be said on standard error
	code   int
}

// entry is what qstat shows in one place: a job, or an array as a whole.
type entry struct {
	*fronts.Job
	all []*fronts.Job // of the array; nil: it is one job
}

// qstat lists jobs, queues and the server.
func qstat(c *fronts.Call) error {
	given, rest, err := options(c, "a B f F= D= E G H i J M n N p Q q r s t T u= w x 1 W=")
	if err != nil {
		return err
	}
	s := &status{c: c, set: fronts.SetOf(given)}
	// Options may stand behind what is asked for, too: qstat -f 12 -x.
	for i, w := range rest {
		if strings.HasPrefix(w, "-") {
			more, tail, err := fronts.Declare("a B f F= D= H i J n Q q r s t T u= w x 1").Read(rest[i:], fronts.Anywhere)
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

// history reports whether jobs that have ended are shown, and whether they alone.
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
		all, err := s.entries(v, fronts.Selection{Ended: too, Details: details, Why: true})
		if err != nil {
			return err
		}
		for _, e := range all {
			ended := e.State.Over() && e.all == nil || e.all != nil && e.over()
			if (everything || slices.Contains(queues, cmp.Or(e.Queue, s.about.Partition))) && (!alone || ended) && s.shows(e) {
				list = append(list, e)
			}
		}
	}
	for _, r := range refs {
		all, err := s.entries(v, fronts.Selection{IDs: []uint64{r.id}, Ended: true, Details: details || s.set.Has("x"), Why: true})
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

// full is a name with the server behind it.
func (s *status) full(r ref) string {
	if strings.Contains(r.text, ".") {
		return r.text
	}
	return r.text + "." + s.about.Server
}

// entries are the jobs of a selection, those of an array together.
func (s *status) entries(v fronts.View, sel fronts.Selection) (list []*entry, err error) {
	arrays := make(map[uint64]*entry)
	err = v.Jobs(sel, func(j *fronts.Job) error {
		if j.Array == 0 {
			list = append(list, &entry{Job: j})
			return nil
		}
		e := arrays[j.Array]
		if e == nil {
			e = &entry{Job: j}
			arrays[j.Array] = e
			list = append(list, e)
		}
		e.all = append(e.all, j)
		return nil
	})
	return list, err
}

// pick is what a name stands for among entries: an array as a whole, or with an index, or
// -t, its elements.
func (s *status) pick(r ref, all []*entry) (found []*entry) {
	for _, e := range all {
		if e.all == nil {
			if r.names(e.Job) {
				found = append(found, e)
			}
			continue
		}
		if r.from < 0 {
			found = append(found, e)
			continue
		}
		for _, j := range e.all {
			if r.names(j) {
				found = append(found, &entry{Job: j})
			}
		}
	}
	return found
}

func (e *entry) over() bool {
	if e.all == nil {
		return e.State.Over()
	}
	return !slices.ContainsFunc(e.all, func(j *fronts.Job) bool { return !j.State.Over() })
}

// shows reports whether an entry is among those that -u, -i, -r and -J ask for.
func (s *status) shows(e *entry) bool {
	if list, ok := s.set["u"]; ok && !slices.Contains(strings.Split(list, ","), e.User) {
		return false
	}
	running := e.State == fronts.Running
	switch {
	case s.set.Has("r") && !running, s.set.Has("i") && (running || e.State.Over()), s.set.Has("J") && e.all == nil:
		return false
	}
	return true
}

// letter is the state of an entry.
func (s *status) letter(e *entry) string {
	if e.all == nil {
		return state(e.Job, s.about.Now)
	}
	if e.over() {
		return "F"
	}
	begun := slices.ContainsFunc(e.all, func(j *fronts.Job) bool { return j.State >= fronts.Running })
	if begun {
		return "B"
	}
	return state(e.Job, s.about.Now)
}

func (s *status) name(e *entry) string {
	if e.all != nil {
		return fmt.Sprintf("%d[].%s", e.Array, s.about.Server)
	}
	return name(e.Job, s.about.Server)
}

// print writes the entries in the form that is asked for.
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

// plain is the table that qstat prints without options.
func (s *status) plain(list []*entry) {
	w := [3]int{17, 16, 16}
	if s.set.Has("w") {
		w = [3]int{30, 15, 15}
	}
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s  %8s %1s %-16s\n", w[0], "Job id", w[1], "Name", w[2], "User", "Time Use", "S", "Queue")
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s  %8s %1s %-16s\n", w[0], strings.Repeat("-", w[0]-1), w[1], strings.Repeat("-", 16), w[2], strings.Repeat("-", 16), "--------", "-", "-----")
	for _, e := range list {
		when := used(e.Job, s.about.Now)
		if e.State < fronts.Running {
			when = "0"
		}
		letter := s.letter(e)
		if e.all == nil && e.Array != 0 && e.State.Over() && !s.set.Has("x") {
			letter = "X"
		}
		row := fmt.Sprintf("%-*s %-*s %-*s  %8s %1s %-16s", w[0], s.name(e), w[1], cut(e.Name, w[1]-1), w[2], cut(e.User, w[2]-1), when, letter, cut(cmp.Or(e.Queue, s.about.Partition), 16))
		s.b.WriteString(row + "\n")
	}
}

// alternative is the table of -a and its likes.
func (s *status) alternative(list []*entry) {
	w := [4]int{15, 8, 8, 10}
	if s.set.Has("w") {
		w = [4]int{30, 15, 15, 15}
	}
	pad := strings.Repeat(" ", w[0]+w[1]+w[2]+w[3]+19)
	fmt.Fprintf(&s.b, "\n%s: \n%sReq'd  Req'd   Elap\n", s.about.Server, pad)
	fmt.Fprintf(&s.b, "%-*s %-*s %-*s %-*s %6s %3s %3s %6s %s\n", w[0], "Job ID", w[1], "Username", w[2], "Queue", w[3], "Jobname", "SessID", "NDS", "TSK", "Memory", "Time  S Time")
	dash := func(n int) string { return strings.Repeat("-", n) }
	fmt.Fprintf(&s.b, "%s %s %s %s %s %s %s %s %s %s %s\n", dash(w[0]), dash(w[1]), dash(w[2]), dash(w[3]), dash(6), dash(3), dash(3), dash(6), dash(5), "-", dash(5))
	for _, e := range list {
		memory, elapsed := "--", "--"
		if e.Mem > 0 {
			memory = size(e.Mem)
		}
		if e.State >= fronts.Running {
			elapsed = hours(e.Elapsed(s.about.Now))
		}
		row := fmt.Sprintf("%-*s %-*s %-*s %-*s %6s %3d %3d %6.6s %5.5s %1s %5.5s", w[0], cut(s.name(e), w[0]), w[1], cut(e.User, w[1]), w[2], cut(cmp.Or(e.Queue, s.about.Partition), w[2]), w[3], cut(e.Name, w[3]),
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

// counts are how many jobs are in a state.
type counts struct{ total, queued, running, held, waiting, exiting int }

func (n *counts) add(j *fronts.Job, now time.Time) {
	n.total++
	switch state(j, now) {
	case "Q":
		n.queued++
	case "R":
		n.running++
	case "H":
		n.held++
	case "W":
		n.waiting++
	case "E":
		n.exiting++
	}
}

// counted counts the jobs that have not ended by queue.
func (s *status) counted(v fronts.View) (all counts, by map[string]*counts, err error) {
	by = map[string]*counts{}
	for _, q := range s.about.Queues {
		by[q] = new(counts)
	}
	err = v.Jobs(fronts.Selection{Why: true}, func(j *fronts.Job) error {
		q := cmp.Or(j.Queue, s.about.Partition)
		if by[q] == nil {
			by[q] = new(counts)
		}
		by[q].add(j, s.about.Now)
		all.add(j, s.about.Now)
		return nil
	})
	if by[s.about.Partition] == nil && len(by) == 0 {
		by[s.about.Partition] = new(counts)
	}
	return all, by, err
}

// server is -B.
func (s *status) server(v fronts.View) error {
	n, _, err := s.counted(v)
	if err != nil {
		return err
	}
	if s.set.Has("f") {
		fmt.Fprintf(&s.b, "Server: %s\n    server_state = Active\n    server_host = %s\n    scheduling = True\n    total_jobs = %d\n"+
			"    state_count = Transit:0 Queued:%d Held:%d Waiting:%d Running:%d Exiting:%d Begun:0\n    default_queue = %s\n    %s\n\n",
			s.about.Server, s.c.Exec, n.total, n.queued, n.held, n.waiting, n.running, n.exiting, s.about.Partition, version)
		return nil
	}
	s.b.WriteString("Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n" +
		"---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n")
	fmt.Fprintf(&s.b, "%-16s %5d %5d %5d %5d %5d %5d %5d %5d %s\n", cut(s.about.Server, 16), 0, n.total, n.queued, n.running, n.held, n.waiting, 0, n.exiting, "Active")
	return nil
}

// queues is -Q and -q.
func (s *status) queues(v fronts.View, words []string) error {
	all, by, err := s.counted(v)
	if err != nil {
		return err
	}
	var names []string
	for q := range by {
		if len(words) == 0 || slices.Contains(words, q) || strings.HasPrefix(words[0], "@") {
			names = append(names, q)
		}
	}
	slices.Sort(names)
	switch {
	case s.set.Has("f"):
		for _, q := range names {
			n := by[q]
			fmt.Fprintf(&s.b, "Queue: %s\n    queue_type = Execution\n    total_jobs = %d\n    state_count = Transit:0 Queued:%d Held:%d Waiting:%d Running:%d Exiting:%d Begun:0\n    enabled = True\n    started = True\n\n",
				q, n.total, n.queued, n.held, n.waiting, n.running, n.exiting)
		}
	case s.set.Has("q"):
		fmt.Fprintf(&s.b, "\nserver: %s\n\nQueue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n---------------- ------ -------- -------- ---- ----- ----- ----  -----\n", s.about.Server)
		for _, q := range names {
			fmt.Fprintf(&s.b, "%-16s %6s %8s %8s %4s %5d %5d %4s  E R\n", cut(q, 16), "--", "--", "--", "--", by[q].running, by[q].queued, "--")
		}
		fmt.Fprintf(&s.b, "%46s----- -----\n%46s%5d %5d\n", "", "", all.running, all.queued)
	default:
		s.b.WriteString("Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n" +
			"---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n")
		for _, q := range names {
			n := by[q]
			fmt.Fprintf(&s.b, "%-16s %5d %5d %3s %3s %5d %5d %5d %5d %5d %5d %4s\n", cut(q, 16), 0, n.total, "yes", "yes", n.queued, n.running, n.held, n.waiting, 0, n.exiting, "Exec")
		}
	}
	return nil
}
