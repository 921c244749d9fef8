package pbs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// counts are the numbers of jobs in each state.
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

// counted counts live jobs by queue.
func (s *status) counted(v fronts.View) (all counts, by map[string]*counts, err error) {
	by = map[string]*counts{}
	for _, q := range s.about.Queues {
		by[q] = new(counts)
	}
	err = v.Jobs(fronts.Selection{Why: true}, func(j *fronts.Job) error {
		q := s.about.QueueOf(j.Queue)
		if by[q] == nil {
			by[q] = new(counts)
		}
		by[q].add(j, s.about.Now)
		all.add(j, s.about.Now)
		return nil
	})
	if by[s.about.Partition] == nil {
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
		fmt.Fprintf(&s.b, "Server: %s\n    server_state = Active\n    server_host = %s\n    scheduling = True\n    "+
			"total_jobs = %d\n"+
			"    state_count = Transit:0 Queued:%d Held:%d Waiting:%d Running:%d Exiting:%d Begun:0\n    "+
			"default_queue = %s\n    %s\n\n",
			s.about.Server, s.c.Exec, n.total, n.queued, n.held, n.waiting, n.running, n.exiting, s.about.Partition,
			version)
		return nil
	}
	s.b.WriteString("Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n" +
		"---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n")
	fmt.Fprintf(&s.b, "%-16s %5d %5d %5d %5d %5d %5d %5d %5d %s\n", cut(s.about.Server, 16), 0, n.total, n.queued,
		n.running, n.held, n.waiting, 0, n.exiting, "Active")
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
	for _, q := range words {
		if !slices.Contains(names, q) && !strings.HasPrefix(q, "@") {
			s.miss(noQueue, "qstat: Unknown queue %s", q)
		}
	}
	if len(words) > 0 && len(names) == 0 {
		return nil
	}
	switch {
	case s.set.Has("f"):
		for _, q := range names {
			n := by[q]
			fmt.Fprintf(&s.b, "Queue: %s\n    queue_type = Execution\n    total_jobs = %d\n    state_count = "+
				"Transit:0 Queued:%d Held:%d Waiting:%d Running:%d Exiting:%d Begun:0\n    enabled = True\n    "+
				"started = True\n\n",
				q, n.total, n.queued, n.held, n.waiting, n.running, n.exiting)
		}
	case s.set.Has("q"):
		fmt.Fprintf(&s.b, "\nserver: %s\n\nQueue            Memory CPU Time Walltime Node   Run   Que   Lm  "+
			"State\n---------------- ------ -------- -------- ---- ----- ----- ----  -----\n", s.about.Server)
		for _, q := range names {
			fmt.Fprintf(&s.b, "%-16s %6s %8s %8s %4s %5d %5d %4s  E R\n", cut(q, 16), "--", "--", "--", "--",
				by[q].running, by[q].queued, "--")
		}
		fmt.Fprintf(&s.b, "%46s----- -----\n%46s%5d %5d\n", "", "", all.running, all.queued)
	default:
		s.b.WriteString("Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n" +
			"---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n")
		for _, q := range names {
			n := by[q]
			fmt.Fprintf(&s.b, "%-16s %5d %5d %3s %3s %5d %5d %5d %5d %5d %5d %4s\n", cut(q, 16), 0, n.total, "yes",
				"yes", n.queued, n.running, n.held, n.waiting, 0, n.exiting, "Exec")
		}
	}
	return nil
}
