package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/forecast"
)

// The file holds expected starts as one value: the outcome of the last play of the queue, at
// its instant. The process that runs the queue renews it when idle (DB.Forecast), and every
// answer with expected starts reads it. If it is out of date and few jobs wait, a reader plays
// the queue itself.

const (
	mostPlayed   = 1000             // waiting jobs that a play covers: the first in the queue
	fewPlayed    = 50               // the most waiting jobs for which readers play the queue
	fewJudged    = 1000             // the same, in waiting jobs times nodes
	PlayEvery    = 30 * time.Second // pause between two plays for the value
	PlayPatience = 20               // the same, in durations of the last play
)

// Forecasts are the expected starts of waiting jobs. Held and late jobs have none, nor do jobs
// that wait for something with an unknown end.
type Forecasts struct {
	AsOf  time.Time
	After time.Time // start of the last job played, before which those behind it do not start; zero if there are none

	revision uint64
	Took     time.Duration
	Jobs     map[uint64]row.Forecast
	Value    *row.Forecasts
}

// Forecast is the expected start of a job.
type Forecast struct {
	Likely time.Time // as often too early as too late
	Safe   time.Time // nine of ten jobs start by then
	Asked  time.Time // if all jobs run for their walltimes and nothing else comes
}

// Of returns the forecast of a job.
func (fs *Forecasts) Of(job uint64) (Forecast, bool) {
	f, known := fs.Jobs[job]
	return Forecast{kernel.Instant(f.Likely), kernel.Instant(f.Safe), kernel.Instant(f.Asked)}, known && f.Likely != 0
}

// Record returns how many jobs with a forecast from their submission have started, and how many of
// these started by their safe start. With fewer than RecordEnough, likely and safe starts are those
// of the plays.
func (fs *Forecasts) Record() (kept, of int) {
	for _, o := range fs.Value.First {
		if o.Start <= o.Safe {
			kept++
		}
	}
	return kept, len(fs.Value.First)
}

// IsBehind reports whether a job waits behind the last job played.
func (fs *Forecasts) IsBehind(job uint64) bool {
	_, played := fs.Jobs[job]
	return !played && !fs.After.IsZero()
}

// readForecasts holds the value that a transaction has read, or nil.
var readForecasts kernel.Slot[**Forecasts]

// Forecasts returns the expected starts, or nil if there are none.
func (cy Cycle) Forecasts() (*Forecasts, error) {
	read := readForecasts.In(cy.tx)
	if *read != nil {
		return **read, nil
	}
	fs, err := forecasts(cy.tx)
	if err == nil && !cy.tx.Writable() {
		*read = &fs
	}
	return fs, err
}

// rests is set in a transaction that never plays.
var rests kernel.Slot[bool]

// Rest makes the rest of the transaction take the expected starts that are kept, as they are: it never plays the queue.
func Rest(tx *kernel.Tx) { *rests.In(tx) = true }

func forecasts(tx *kernel.Tx) (*Forecasts, error) {
	kept, err := KeptForecasts(tx)
	if err != nil || kept != nil && !OutOfDate(tx, kept) || tx.Writable() || *rests.In(tx) {
		return kept, err
	}
	few, err := FewWait(tx)
	if err != nil || !few {
		return kept, err
	}
	return PlayForecasts(tx, kept, nil)
}

// FreshForecasts returns expected starts as of now: it plays the queue unless nothing has changed
// since the last play.
func (cy Cycle) FreshForecasts() (*Forecasts, error) {
	fs, err := CycleOf(cy.tx).Forecasts()
	if err != nil || cy.tx.Writable() || *rests.In(cy.tx) || fs != nil && !OutOfDate(cy.tx, fs) {
		return fs, err
	}
	if fs, err = PlayForecasts(cy.tx, fs, nil); err == nil {
		*readForecasts.In(cy.tx) = &fs
	}
	return fs, err
}

// KeptForecasts returns the value in the file.
func KeptForecasts(tx *kernel.Tx) (*Forecasts, error) {
	payload, err := tx.File.Get(row.Meta, row.KeyForecasts)
	if err != nil || payload == nil {
		return nil, err
	}
	v, err := row.ForecastsRow.Decode(row.KeyForecasts, payload)
	if err != nil {
		return nil, err
	}
	return forecastsOf(v), nil
}

func forecastsOf(v *row.Forecasts) *Forecasts {
	fs := &Forecasts{AsOf: kernel.Instant(v.AsOf), After: kernel.Instant(v.After), Value: v, revision: v.Revision,
		Took: time.Duration(v.Took), Jobs: make(map[uint64]row.Forecast, len(v.Jobs))}
	for _, f := range v.Jobs {
		fs.Jobs[f.Job] = f
	}
	return fs
}

// OutOfDate reports whether a later change may have let a job start, or a job still waits past
// its likely start.
func OutOfDate(tx *kernel.Tx, fs *Forecasts) bool {
	if fs.revision != tx.State.Startable {
		return true
	}
	for _, f := range fs.Jobs {
		if f.Likely != 0 && f.Likely < tx.Now {
			return true
		}
	}
	return false
}

// FewWait reports whether so few jobs wait that readers play the queue themselves.
func FewWait(tx *kernel.Tx) (bool, error) {
	n := 0
	err := tx.File.Each(row.Waiting, nil, func(_, _ []byte) (bool, error) {
		n++
		return n <= fewPlayed, nil
	})
	return n <= fewPlayed && n*int(tx.State.NextNode) <= fewJudged, err
}

// PlayForecasts plays the queue twice: by walltimes, and by likely durations. Jobs that have not
// started when done stops a play are behind the others.
func PlayForecasts(tx *kernel.Tx, kept *Forecasts, done func() bool) (*Forecasts, error) {
	began := tx.Opt.Now()
	v := &row.Forecasts{AsOf: tx.Now, Revision: tx.State.Startable}
	d, err := durationsOf(tx)
	if err != nil {
		return nil, err
	}
	rs, err := recordsOf(tx, kept)
	if err != nil {
		return nil, err
	}
	asked, err := PlayInMemory(tx, PlaySpec{First: mostPlayed, Done: done})
	if err != nil {
		return nil, err
	}
	likely := asked
	if d.learned > 0 && asked.Whole {
		if likely, err = PlayInMemory(tx, PlaySpec{First: mostPlayed, Done: done, Runs: d.runs}); err != nil {
			return nil, err
		}
	}
	whole := asked.Whole && likely.Whole
	for _, j := range asked.Waiting {
		a, l := asked.Started[j.ID], likely.Started[j.ID]
		if l == 0 {
			l = a
		}
		switch {
		case a != 0:
			f := rs.of(j.ID, forecast.Plays{Now: tx.Now, Asked: a, Drawn: l})
			if j.State == row.JobReserved {
				f.Safe = max(tx.Now, min(f.Safe, j.Start))
				f.Likely = min(f.Likely, f.Safe)
			}
			v.Jobs = append(v.Jobs, f)
		case whole:
			v.Jobs = append(v.Jobs, row.Forecast{Job: j.ID})
		}
		if asked.Behind > 0 || !whole {
			v.After = max(v.After, l)
		}
	}
	slices.SortFunc(v.Jobs, func(a, b row.Forecast) int { return cmp.Compare(a.Job, b.Job) })
	v.First, v.Later = foretold(rs.first.Outcomes()), foretold(rs.later.Outcomes())
	v.Took = uint64(max(tx.Opt.Now().Sub(began), 0))
	return forecastsOf(v), nil
}

// PlayInMemory plays the queue in memory.
func PlayInMemory(tx *kernel.Tx, spec PlaySpec) (p *Playing, err error) {
	err = Suppose(tx, func(tx *kernel.Tx) error {
		p, err = play(tx, spec)
		return err
	})
	return p, err
}
