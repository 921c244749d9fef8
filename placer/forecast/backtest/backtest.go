// Package backtest replays a log of jobs, makes the forecasts that would have been made, and compares
// them with the starts. It is for simulations and benchmarks: a database keeps its own record.
package backtest

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/cluster"
	"github.com/placectl/placectl/placer/forecast"
)

// Log is jobs to replay on a number of processors, with forecasts of those that wait.
type Log struct {
	Procs int64
	Jobs  []backfill.Job
	// Cluster and Asks place the jobs on nodes instead.
	Cluster *cluster.Cluster
	Asks    []placer.Ask
	Of      []forecast.Job // the inputs of predictions, for each job
	Policy  backfill.Policy
	Slack   float64 // of relaxed backfilling
	// Every n-th submission that has to wait gets a forecast; at least 1.
	Every int
	// Progress is called after every start with the number of starts; its error ends the replay. It may
	// be nil.
	Progress func(started int) error
}

// Made is a forecast made at submission, and the actual start.
type Made struct {
	forecast.Plays
	forecast.Forecast
	Job   int32
	Alone int64 // its earliest start if no other jobs waited
	Start int64
}

// Replay replays a log, and makes forecasts of the jobs that have to wait at submission.
func Replay(log *Log) ([]int64, []Made, error) {
	o := &observer{log: log, pending: make(map[int32]*Made)}
	var starts []int64
	var err error
	if log.Cluster != nil {
		starts, err = cluster.Replay(log.Cluster, &cluster.Log{Jobs: log.Jobs, Asks: log.Asks, Policy: log.Policy,
			Slack: log.Slack, Progress: log.Progress,
			Observe: func(v *cluster.View) backfill.Observer { o.view = v; return o }})
	} else {
		starts, err = backfill.RunObserved(log.Procs, log.Jobs, log.Policy, log.Slack,
			func(v *backfill.View) backfill.Observer { o.view = v; return o }, log.Progress)
	}
	if err != nil {
		return nil, nil, err
	}
	list := make([]Made, len(o.made))
	for i, m := range o.made {
		list[i] = *m
	}
	return starts, list, nil
}

// view is the state of a machine, or a cluster, during a replay.
type view interface {
	Waiting() []int32
	Alone(job int32, now int64) (int64, error)
	Play(job int32, now int64, run func(job int32, ran int64) int64) (int64, error)
}

// observer learns during a replay, and makes the forecasts.
type observer struct {
	log     *Log
	view    view
	history forecast.History
	record  forecast.Record
	waited  int
	pending map[int32]*Made // of jobs that have not started
	made    []*Made
}

func (o *observer) Submitted(job int32, now int64) error {
	if !slices.Contains(o.view.Waiting(), job) {
		return nil
	}
	if o.waited++; o.waited%max(1, o.log.Every) != 0 {
		return nil
	}
	m := &Made{Job: job, Plays: forecast.Plays{Now: now}}
	var err error
	asked := func(job int32, _ int64) int64 { return o.log.Jobs[job].Request }
	likely := func(job int32, ran int64) int64 { return o.history.Likely(o.log.Of[job], ran) }
	if m.Plays.Asked, err = o.view.Play(job, now, asked); err != nil {
		return err
	}
	if m.Drawn, err = o.view.Play(job, now, likely); err != nil {
		return err
	}
	if m.Alone, err = o.view.Alone(job, now); err != nil {
		return err
	}
	m.Forecast = o.record.Of(m.Plays)
	o.pending[job] = m
	o.made = append(o.made, m)
	return nil
}

func (o *observer) Started(job int32, now int64) {
	if m := o.pending[job]; m != nil {
		delete(o.pending, job)
		m.Start = now
		o.record.Learn(forecast.Outcome{User: o.log.Of[job].User, Plays: m.Plays, Forecast: m.Forecast, Start: now})
	}
}

func (o *observer) Ended(job int32, _ int64) {
	o.history.Learn(o.log.Of[job], o.log.Jobs[job].Run)
}

// Score rates forecasts. Shares are from 0 to 1.
type Score struct {
	Forecasts int
	// by the earliest start alone: the share that started later, and the median error in minutes
	LateAlone, ErrorAlone float64
	Likely, Error         float64 // the share that started by their likely start, and the median error in minutes
	Safe, Worst           float64 // the share that started by their safe start, and in the worst tenth of the log
	SafeWait, AskedWait   float64 // mean hours from the forecast to the safe start, and to that by asked durations
	Thirds                [3]float64
}

// Sum rates forecasts, in the order in which they were made.
func Sum(list []Made) (s Score) {
	s.Forecasts = len(list)
	if len(list) == 0 {
		return s
	}
	n := float64(len(list))
	by := func(list []Made, at func(*Made) int64) float64 {
		kept := 0
		for i := range list {
			if list[i].Start <= at(&list[i]) {
				kept++
			}
		}
		return float64(kept) / float64(max(1, len(list)))
	}
	median := func(at func(*Made) int64) float64 {
		off := make([]float64, len(list))
		for i := range list {
			off[i] = math.Abs(float64(list[i].Start-at(&list[i]))) / 60
		}
		slices.Sort(off)
		return off[len(off)/2]
	}
	alone := func(m *Made) int64 { return m.Alone }
	likely, safe := func(m *Made) int64 { return m.Likely }, func(m *Made) int64 { return m.Safe }
	s.LateAlone, s.ErrorAlone = 1-by(list, alone), median(alone)
	s.Likely, s.Error, s.Safe, s.Worst = by(list, likely), median(likely), by(list, safe), 1
	for i := range 10 {
		if tenth := list[i*len(list)/10 : (i+1)*len(list)/10]; len(tenth) > 0 {
			s.Worst = min(s.Worst, by(tenth, safe))
		}
	}
	for i := range list {
		s.SafeWait += float64(list[i].Safe-list[i].Now) / 3600 / n
		s.AskedWait += float64(list[i].Plays.Asked-list[i].Now) / 3600 / n
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Made) int { return cmp.Compare(a.Likely-a.Now, b.Likely-b.Now) })
	for i := range s.Thirds {
		s.Thirds[i] = by(sorted[i*len(list)/3:(i+1)*len(list)/3], safe)
	}
	return s
}

// JobOf is what predictions look at in a log's entry. The program's number is the name.
func JobOf(j backfill.Job, e swf.Job) forecast.Job {
	of := forecast.Job{User: strconv.FormatInt(e.User, 10), Asked: j.Request, Size: j.Procs}
	if e.App > 0 {
		of.Name = strconv.FormatInt(e.App, 10)
	}
	return of
}
