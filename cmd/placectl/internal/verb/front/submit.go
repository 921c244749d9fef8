package front

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	frontrows "github.com/placectl/placectl/cmd/placectl/internal/fronts/rows"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/queue"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/run"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/placer"
)

// Submit submits as our own verb does. The options of qsub or sbatch become flags of submit, and
// the job's environment is that of this process.
func (ch *change) Submit(s fronts.Submission) ([]*fronts.Job, error) {
	r, v := *ch.r, queue.Submit()
	r.Front, r.Verb, r.Inv, r.Dash = &s, v, session.Invocation{Path: []*session.Verb{v}, Dash: -1}, -1
	sc := &queue.Script{Script: &payload.Script{Name: s.Source, Text: s.Script}}
	empty, err := r.Inv.Context(r.Ctx)
	if err != nil {
		return nil, err
	}
	c, err := queue.Directed(&r, empty, ch.Tx, sc)
	if err != nil {
		return nil, err
	}
	sub, err := queue.Submission(&r, c, nil, sc)
	if err != nil {
		return nil, queue.Blame(&r, err, nil, sc)
	}
	if err := queue.Dependencies(&r, ch.Tx, c, &sub); err != nil {
		return nil, err
	}
	if err := ch.complete(&sub, &s, sc, c.IsSet("umask"), c.IsSet("chdir")); err != nil {
		return nil, err
	}
	if err := queue.Singleton(ch.Tx, c, &sub); err != nil {
		return nil, err
	}
	if err := session.ClassOf(ch.Tx, c, &sub); err != nil {
		return nil, err
	}
	sub.Notes = bounded(s.Notes)
	if s.Plan {
		return ch.planned(sub)
	}
	jobs, err := ch.Tx.Jobs().Submit(sub)
	var why *placer.Refusal
	switch {
	case errors.As(err, &why) && why.Rule:
		return nil, fmt.Errorf("%w: %w", fronts.ErrLimit, err)
	case errors.As(err, &why):
		return nil, fmt.Errorf("%w: %w", fronts.ErrNever, err)
	case err != nil:
		return nil, err
	}
	out := make([]*fronts.Job, len(jobs))
	for i, j := range jobs {
		if out[i], err = ch.Row(j); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxNotes bounds the notes about a submission, because a script may have any number of ignored
// options.
const maxNotes = 16

func bounded(notes []string) []string {
	if len(notes) <= maxNotes {
		return notes
	}
	return append(notes[:maxNotes:maxNotes], fmt.Sprintf("and %d more", len(notes)-maxNotes))
}

// complete adds to a submission what qsub and sbatch give a job and submit does not.
func (ch *change) complete(sub *engine.Submission, s *fronts.Submission, sc *queue.Script, umask, chdir bool) error {
	settings, err := ch.Tx.Config().Settings()
	if err != nil {
		return err
	}
	queues, err := ch.Tx.Queues().All()
	if err != nil {
		return err
	}
	if sub.Queue == settings.Partition && !slices.ContainsFunc(queues, func(q engine.Queue) bool {
		return q.Name == sub.Queue
	}) {
		sub.Queue = ""
	}
	if sub.Name == "" {
		sub.Name = s.Name
	}
	sub.User, sub.Command = ch.Host.User, s.Args
	if s.Attended { // it runs where it was typed, in the same environment
		sub.Attended, sub.Payload = true, nil
		return nil
	}
	p := sub.Payload
	p.Compat = string(s.Family)
	p.Variables = append(p.Variables, frontrows.LineVariable+"="+s.Line)
	if s.Path != "" {
		p.Variables = append(p.Variables, frontrows.ScriptVariable+"="+s.Path)
	}
	if s.Family == directives.PBS {
		ch.asPBS(p, sub, s, settings.Server, sc.Joined, umask, chdir)
	}
	return nil
}

// asPBS makes a job begin in the home directory, with output files named as PBS does, in the
// directory where the job was submitted.
func (ch *change) asPBS(p *engine.Payload, sub *engine.Submission, s *fronts.Submission, server string, joined, umask,
	chdir bool) {
	dir := strings.ReplaceAll(ch.Host.Dir, "%", "%%")
	number, id := "%j", "%j."+server
	if sub.Array > 0 || len(sub.Indexes) > 0 {
		number, id = "%A.%a", "%A[%a]."+server
	}
	file := func(pattern, letter, suffix string) string {
		switch {
		case pattern == "":
			return dir + "/%x." + letter + number
		case !filepath.IsAbs(pattern):
			pattern = dir + "/" + pattern
		}
		pattern = strings.ReplaceAll(pattern, "%j."+server, id)
		if info, err := os.Stat(strings.ReplaceAll(pattern, "%%", "%")); err == nil && info.IsDir() {
			pattern += "/" + id + suffix
		}
		return pattern
	}
	if p.Out = file(p.Out, "o", ".OU"); p.Err != "" || !joined {
		p.Err = file(p.Err, "e", ".ER")
	}
	if !umask {
		p.Umask = 0o077
	}
	if home := ch.r.Home(); home != "" && !chdir {
		p.Dir = home
	}
	p.Variables = append(p.Variables, "PBS_O_WORKDIR="+ch.Host.Dir)
}

// typed is the process of a typed command that starts programs.
type typed struct {
	stepHost
	cl *cluster
}

// Allocate does what run does, for a job requested with options of sbatch.
func (h *typed) Allocate(s fronts.Submission, told func(*fronts.Job), env func(*fronts.Job) []string) (int, error) {
	r, program, words := h.cl.r, launch.Itself(), s.Args
	if words[0] != fronts.Ourselves {
		var err error
		if program, err = launch.Find(words[0]); err != nil {
			return 0, err
		}
	}
	own, err := run.InForeground(r)
	if err != nil {
		return 0, err
	}
	defer own.End()
	var job *engine.Job
	err = h.cl.Update(func(ch fronts.Change) error {
		tx := ch.(*change).Tx
		if err := engine.Executing(tx); err != nil {
			return err
		}
		jobs, err := ch.Submit(s)
		if err != nil {
			return &fronts.Refusal{View: ch, Err: err}
		}
		if job, err = tx.Jobs().Get(jobs[0].ID); err != nil {
			return err
		}
		return errors.Join(own.Attends(tx, job), own.Pass(tx, &job))
	})
	if err != nil {
		return 0, err
	}
	if job.State != engine.JobRunning {
		waits, err := h.row(job)
		if err != nil {
			return 0, err
		}
		told(waits)
		c, err := r.Inv.Context(r.Ctx)
		if err != nil {
			return 0, err
		}
		if job, err = own.AwaitTurn(c, job, run.Forever); err != nil {
			return 0, err
		}
	}
	begun, err := h.row(job)
	if err != nil {
		return 0, err
	}
	told(begun)
	var status exit.Status
	var nodeFiles []string
	if s.Family == directives.PBS {
		nodeFiles = []string{"PBS_NODEFILE"}
	}
	if err = own.RunJob(job, program, words, env(begun), nodeFiles...); errors.As(err, &status) {
		return int(status), nil
	}
	return 0, err
}

// row converts a job for front-ends.
func (h *typed) row(job *engine.Job) (row *fronts.Job, err error) {
	err = h.cl.r.View(func(tx *engine.Tx) error {
		row, err = h.cl.rows(tx).Row(job)
		return err
	})
	return row, err
}

// planned returns when and where a job would start, without making it.
func (ch *change) planned(sub engine.Submission) ([]*fronts.Job, error) {
	after := ch.Tx.Now()
	if sub.Begin.After(after) {
		after = sub.Begin
	}
	list, err := ch.Tx.Ask().When(sub.Request, after, 1)
	if err != nil || len(list) == 0 {
		return []*fronts.Job{{}}, err
	}
	settings, err := ch.Tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	j := &fronts.Job{Name: sub.Name, Queue: cmp.Or(sub.Queue, settings.Partition), Start: list[0].Start,
		End: list[0].End}
	var numbers []uint32
	for _, a := range list[0].Plan.Chunks {
		for _, p := range a.Picks {
			if !slices.Contains(numbers, p.Node) {
				numbers = append(numbers, p.Node)
			}
		}
	}
	if j.Nodes, err = ch.Tx.Nodes().Names(numbers); err != nil {
		return nil, err
	}
	j.CPUs, err = ch.Cores(cmp.Or(sub.Select, "1"))
	return []*fronts.Job{j}, err
}

// Alter changes a job as the options ask.
func (ch *change) Alter(job uint64, family directives.Family, given []directives.Given) error {
	r, v := *ch.r, queue.Submit()
	s := &fronts.Submission{Family: family, Given: given}
	r.Front, r.Verb, r.Inv, r.Dash = s, v, session.Invocation{Path: []*session.Verb{v}, Dash: -1}, -1
	empty, err := r.Inv.Context(r.Ctx)
	if err != nil {
		return err
	}
	sc := &queue.Script{Script: &payload.Script{Name: "the command line"}}
	c, err := queue.Directed(&r, empty, ch.Tx, sc)
	if err != nil {
		return err
	}
	j, err := ch.Tx.Jobs().Get(job)
	if err != nil {
		return err
	}
	for _, g := range sc.Counts {
		if j.State == engine.JobRunning && !engine.AltersRunning(attribute.FieldName(g.Name())) {
			return queue.Fixed(g)
		}
	}
	sub, err := queue.Submission(&r, c, nil, sc)
	if err != nil {
		return queue.Blame(&r, err, nil, sc)
	}
	if err := queue.Dependencies(&r, ch.Tx, c, &sub); err != nil {
		return err
	}
	settings, err := ch.Tx.Config().Settings()
	if err != nil {
		return err
	}
	if sub.Queue == settings.Partition {
		if _, err := ch.Tx.Queues().Get(sub.Queue); errors.Is(err, engine.ErrNotFound) {
			sub.Queue = ""
		}
	}
	a, err := queue.Alteration(&r, c, &sub, sc.Counts)
	if err != nil {
		return err
	}
	a.Notes = bounded(s.Notes)
	if sub.Walltime == 0 && c.IsSet("walltime") {
		if sub.Walltime, err = r.Duration(c, "walltime"); err != nil {
			return err
		}
	}
	_, err = ch.Tx.Jobs().Alter(job, a)
	return err
}
