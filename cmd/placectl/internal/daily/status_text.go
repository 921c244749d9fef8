package daily

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// jobInWords returns what stands for a job's number, its name and user.
func jobInWords(j *engine.Job) string {
	if more := strings.TrimSpace(j.User + " " + j.Name); more != "" {
		return fmt.Sprintf("%s (%s)", it, more)
	}
	return it
}

// stamp formats an instant within a message.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// nodeWord returns the word for a state of nodes, given its number.
func nodeWord(state int) string { return engine.NodeState(state).String() }

// Record returns the status for programs.
func (s *Status) Record() (columns []output.Column, row []any) {
	add := func(name string, k output.Kind, v any) {
		columns, row = append(columns, output.Column{Name: name, Kind: k}), append(row, v)
	}
	add("time", output.Time, s.Now)
	add("nodes", output.Integer, s.Stats.Nodes)
	for state, n := range s.Stats.ByState {
		add("nodes_"+nodeWord(state), output.Integer, n)
	}
	add("cpus", output.Integer, s.Stats.CPUs)
	add("cpus_taken", output.Integer, s.Stats.CPUsTaken)
	for _, state := range engine.JobStates() {
		add("jobs_"+state.String(), output.Integer, s.Stats.Jobs[state])
	}
	add("next_end", output.Object, s.NextEnd.object())
	add("head", output.Object, s.Head.object())
	add("recent", output.Object, output.ObjectsOf(output.Fields[int]{
		{Name: "time", Kind: output.Time, Required: true, Value: func(i int) any { return s.Recent[i].At }},
		{Name: "text", Required: true, Value: func(i int) any { return s.Recent[i].Text }},
	}, len(s.Recent)))
	add("warnings", output.Object, output.ObjectsOf(output.Fields[int]{
		{Name: "kind", Required: true, Value: func(i int) any { return s.Warnings[i].Kind }},
		{Name: "of", Value: func(i int) any { return output.OrNil(s.Warnings[i].Of) }},
		{Name: "text", Required: true, Value: func(i int) any { return s.Warnings[i].Text }},
		{Name: "help", Value: func(i int) any { return output.OrNil(s.Warnings[i].Help) }},
	}, len(s.Warnings)))
	add("attended", output.Object, s.Attended.object())
	add("format", output.Integer, s.Stats.Format)
	add("file", output.Size, s.Stats.Bytes)
	add("log", output.Size, output.OrNil(s.Log))
	add("buckets", output.Integer, s.Stats.Buckets)
	add("reservations", output.Integer, s.Stats.Reserved)
	add("usage_since", output.Time, output.OrNil(s.Stats.UsageSince))
	by := s.Stats.ByState
	add("nodes_not_up", output.Integer, by[engine.NodeDown]+by[engine.NodeOffline]+by[engine.NodeDrained])
	return columns, row
}

// object returns the moment for programs, nil for none.
func (m *Moment) object() any {
	if m == nil {
		return nil
	}
	f := new(output.Record)
	f.Must("job", output.Integer, m.Job)
	f.Add("at", output.Time, output.OrNil(m.At))
	f.Add("why", output.Text, output.OrNil(m.Why))
	f.Add("guess", output.Integer, output.OrNil(m.Guess))
	return f.Object()
}

// object returns which process runs the queue for programs, nil if start is manual.
func (a *Attended) object() any {
	if a == nil {
		return nil
	}
	f := new(output.Record)
	f.Add("pid", output.Integer, output.OrNil(a.PID))
	f.Add("since", output.Time, output.OrNil(a.Since))
	f.Add("why", output.Text, output.OrNil(a.Why))
	f.Add("help", output.Text, output.OrNil(a.Help))
	return f.Object()
}

// nodes says how many nodes are in which state.
func (s *Status) nodes() string {
	var states []string
	for state, n := range s.Stats.ByState {
		if n > 0 {
			states = append(states, fmt.Sprint(n, " ", nodeWord(state)))
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%d: %s", s.Stats.Nodes, strings.Join(states, ", ")), ": ")
}

// Text returns the status as a screen of at most width columns (0: no limit).
func (s *Status) Text(width int, zone *time.Location, blocks bool) []byte {
	t := screen{width: width, zone: zone, now: s.Now}
	t.line("nodes    %s", s.nodes())
	if s.Stats.CPUs > 0 {
		t.line("cpus     %s  %d of %d taken", meter(s.Stats.CPUsTaken, s.Stats.CPUs, 20, blocks), s.Stats.CPUsTaken,
			s.Stats.CPUs)
	}
	label := fmt.Sprint(s.running())
	if s.NextEnd != nil {
		label += fmt.Sprintf(", the first to end is job %d at %s", s.NextEnd.Job, t.at(s.NextEnd.At))
	}
	t.line("running  %s", label)
	t.line("waiting  %s", s.waitingText(&t))
	if who := s.Attended.text(s.waitingJobs(), s.Now, zone); who != "" {
		t.line("queue runner: %s", who)
	}
	t.line("ended    %d finished, %d failed, %d cancelled", s.count(engine.JobFinished), s.count(engine.JobFailed),
		s.count(engine.JobCancelled))
	if len(s.Recent) > 0 {
		t.line("")
		t.line("RECENT")
	}
	for _, h := range s.Recent {
		t.line("  %-12s %s", t.at(h.At), text.LocalTimes(h.Text, zone))
	}
	if len(s.Warnings) > 0 {
		t.line("")
		t.line("WARNINGS")
	}
	for _, w := range s.Warnings {
		t.wrapped("  ", text.LocalTimes(w.Text, zone))
		if w.Help != "" {
			t.wrapped("      ", w.Help)
		}
	}
	return t.text
}

func (s *Status) waitingText(t *screen) string {
	line := fmt.Sprint(s.waitingJobs())
	var parts []string
	for _, state := range []engine.JobState{engine.JobReserved, engine.JobLate, engine.JobHeld} {
		if k := s.count(state); k > 0 {
			parts = append(parts, fmt.Sprint(k, " ", state))
		}
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	switch {
	case s.Head == nil:
		return line
	case s.Head.At.IsZero():
		return line + fmt.Sprintf(", the first is job %d: %s", s.Head.Job, s.Head.Why)
	case !s.Head.At.After(s.Now) && !s.Head.safe.After(s.Now):
		return line + fmt.Sprintf(", the first, job %d, starts with the next cycle", s.Head.Job)
	}
	start := strings.TrimPrefix(s.doubt.Start(s.Head.At, s.Head.safe, t.at), "~")
	return string(text.AppendGuess(fmt.Appendf(nil, "%s, the first, job %d, starts %s", line, s.Head.Job, start),
		s.Head.Guess))
}
