package queue

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/forecast"
)

// LearnedFrom is the number of jobs to learn from: the last that ended. The file keeps that
// many runs of removed jobs.
const LearnedFrom = 3000

// durations predicts run times from jobs that have ended.
type durations struct {
	tx      *kernel.Tx
	history forecast.History
	learned int
	sizes   map[[2]string]int64 // cpus of requests
}

func newDurations(tx *kernel.Tx) *durations {
	return &durations{tx: tx, sizes: make(map[[2]string]int64)}
}

// durationsOf learns from the last jobs that have ended, archived and dropped ones included.
func durationsOf(tx *kernel.Tx) (*durations, error) {
	d := newDurations(tx)
	runs, err := d.ended()
	if err != nil {
		return nil, err
	}
	err = tx.File.Each(row.PastRuns, nil, func(key, payload []byte) (bool, error) {
		p, err := row.PastRunRow.Decode(key, payload)
		runs = append(runs, p)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b *row.PastRun) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Job, b.Job))
	})
	for _, p := range runs[max(0, len(runs)-LearnedFrom):] {
		d.history.Learn(forecast.Job{User: p.User, Name: p.Name, Asked: p.Asked, Size: p.Size}, p.Ran)
		d.learned++
	}
	return d, nil
}

// ended lists the runs among the last jobs that have ended and are still in the file.
func (d *durations) ended() (runs []*row.PastRun, err error) {
	key, err := d.tx.File.Last(row.Ended)
	for n := 0; err == nil && key != nil && n < LearnedFrom; n++ {
		_, owner := row.SplitTimeKey(key)
		j, err := d.tx.ListedJob(owner)
		if err != nil {
			return nil, err
		}
		if tells(j) {
			p, err := d.run(j)
			if err != nil {
				return nil, err
			}
			runs = append(runs, p)
		}
		if key, _, err = d.tx.File.Before(row.Ended, key); err != nil {
			return nil, err
		}
	}
	return runs, err
}

// run returns how an ended job ran.
func (d *durations) run(j *row.Job) (*row.PastRun, error) {
	of, err := d.of(j)
	return &row.PastRun{Job: j.ID, User: of.User, Name: of.Name, Asked: of.Asked, Size: of.Size, End: j.End,
		Ran: j.End - j.Start}, err
}

// pastRuns stores the runs of jobs that leave the file.
type pastRuns struct {
	*durations
	added bool
}

// add keeps the run of a job that is about to be removed.
func (ps *pastRuns) add(j *row.Job) error {
	if !tells(j) {
		return nil
	}
	p, err := ps.run(j)
	if err != nil {
		return err
	}
	ps.added = true
	return ps.tx.File.Put(row.PastRuns, row.Key64(p.Job), row.PastRunRow.Encode(p))
}

// trim drops the runs of the first jobs if there are too many.
func (ps *pastRuns) trim() error {
	if !ps.added {
		return nil
	}
	var jobs [][]byte
	err := ps.tx.File.Each(row.PastRuns, nil, func(key, _ []byte) (bool, error) {
		jobs = append(jobs, bytes.Clone(key))
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range jobs[:max(0, len(jobs)-LearnedFrom)] {
		if err := ps.tx.File.Remove(row.PastRuns, key); err != nil {
			return err
		}
	}
	return nil
}

// tells reports whether the run time of an ended job counts, because it ended by itself or at
// its walltime.
func tells(j *row.Job) bool {
	if j.Start == 0 || j.End < j.Start || j.State != row.JobFinished && j.State != row.JobFailed {
		return false
	}
	switch j.Reason.Cause {
	case row.CauseStopped, row.CauseLost, row.CauseRefused, row.CauseUnbegun, row.CauseLaunch, row.CauseUnsigned,
		row.CauseHealth:
		return false
	}
	return true
}

// of returns the properties of a job that predictions use.
func (d *durations) of(j *row.Job) (forecast.Job, error) {
	key := [2]string{j.Select, j.Place}
	size, known := d.sizes[key]
	if !known {
		var err error
		if size, err = cpusOf(d.tx, j); err != nil {
			return forecast.Job{}, err
		}
		d.sizes[key] = size
	}
	return forecast.Job{User: j.User, Name: j.Name, Asked: j.Walltime, Size: size}, nil
}

// runs predicts the whole run time of a job that has run for a while.
func (d *durations) runs(j *row.Job, ran int64) (int64, error) {
	of, err := d.of(j)
	if err != nil {
		return 0, err
	}
	return d.history.Likely(of, ran), nil
}

// records holds the outcomes of earlier forecasts.
type records struct {
	first, later forecast.Record
	kept         map[uint64]row.Forecast
}

// recordsOf returns the outcomes in a stored value, which may be nil, and those of its
// forecasts since.
func recordsOf(tx *kernel.Tx, kept *Forecasts) (*records, error) {
	rs := new(records)
	if kept == nil {
		return rs, nil
	}
	rs.kept = kept.Jobs
	for _, o := range kept.Value.First {
		rs.first.Learn(outcomeOf(o))
	}
	for _, o := range kept.Value.Later {
		rs.later.Learn(outcomeOf(o))
	}
	for _, f := range kept.Value.Jobs {
		j, err := tx.Job(f.Job)
		if errors.Is(err, row.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if j.State != row.JobRunning && (j.State.Live() || j.Start == 0) {
			continue
		}
		for _, of := range []struct {
			said   row.Said
			record *forecast.Record
		}{{f.First, &rs.first}, {f.Later, &rs.later}} {
			if of.said.At != 0 && j.Start >= of.said.At {
				of.record.Learn(outcomeOf(row.Foretold{Job: j.ID, User: j.User, Said: of.said, Start: j.Start}))
			}
		}
	}
	return rs, nil
}

// of makes the forecast of a job from its starts in two plays. Its outcome is recorded for the
// first forecast of a job, and for one of the later ones, drawn with equal chances.
func (rs *records) of(job uint64, p forecast.Plays) row.Forecast {
	f := row.Forecast{Job: job}
	if was, known := rs.kept[job]; known {
		f.First, f.Later, f.Seen = was.First, was.Later, was.Seen
	}
	record := &rs.later
	if f.Seen == 0 {
		record = &rs.first
	}
	made := record.Of(p)
	f.Likely, f.Safe, f.Asked = made.Likely, made.Safe, made.Asked
	said := row.Said{At: p.Now, Asked: p.Asked, Likely: p.Drawn, Says: made.Likely, Safe: made.Safe}
	f.Seen++
	switch {
	case f.Seen == 1:
		f.First = said
	case scattered(job, uint64(p.Now))%(f.Seen-1) == 0:
		f.Later = said
	}
	return f
}

// scattered hashes two numbers (splitmix64).
func scattered(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func outcomeOf(o row.Foretold) forecast.Outcome {
	return forecast.Outcome{Job: o.Job, User: o.User, Plays: forecast.Plays{Now: o.At, Asked: o.Asked, Drawn: o.Likely},
		Forecast: forecast.Forecast{Likely: o.Says, Safe: o.Safe, Asked: o.Asked}, Start: o.Start}
}

func foretold(list []forecast.Outcome) []row.Foretold {
	return kernel.Converted(list, func(o forecast.Outcome) row.Foretold {
		return row.Foretold{Job: o.Job, User: o.User, Said: row.Said{At: o.Now, Asked: o.Plays.Asked, Likely: o.Drawn,
			Says: o.Likely, Safe: o.Safe}, Start: o.Start}
	})
}
