package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/placer/forecast"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/state"
)

// Expected starts are one value in the file: the outcome of the last play of the queue, as of its
// instant. The process that runs the queue renews it when idle (DB.Forecast), and every answer with
// expected starts reads it. If it is out of date and few jobs wait, a reader plays the queue itself.

const (
	mostPlayed   = 1000             // waiting jobs that a play covers: the first in the queue
	fewPlayed    = 50               // waiting jobs up to which a reader plays
	fewJudged    = 1000             // the same, waiting jobs times nodes
	playEvery    = 30 * time.Second // pause between two plays for the value
	playPatience = 20               // the same, in durations of the last play
)

// Forecasts are the expected starts of waiting jobs. Held and late jobs have none, nor have jobs that
// wait for something with an unknown end.
type Forecasts struct {
	AsOf  time.Time
	After time.Time // start of the last job played: those behind it start later; zero: there are none

	revision uint64
	took     time.Duration
	jobs     map[uint64]row.Forecast
	value    *row.Forecasts
}

// Forecast is the expected start of a job.
type Forecast struct {
	Likely time.Time // as often too early as too late
	Safe   time.Time // nine of ten jobs start by then
	Asked  time.Time // if all jobs run for their walltimes and nothing else comes
}

// Of returns the forecast of a job.
func (fs *Forecasts) Of(job uint64) (Forecast, bool) {
	f, known := fs.jobs[job]
	return Forecast{instant(f.Likely), instant(f.Safe), instant(f.Asked)}, known && f.Likely != 0
}

// Record returns how many jobs with a forecast from their submission have started, and how many of
// these started by their safe start. With fewer than RecordEnough, likely and safe starts are those of
// the plays.
func (fs *Forecasts) Record() (kept, of int) {
	for _, o := range fs.value.First {
		if o.Start <= o.Safe {
			kept++
		}
	}
	return kept, len(fs.value.First)
}

// RecordEnough is the number of recorded starts from which forecasts follow the record.
const RecordEnough = forecast.Enough

// isBehind reports whether a job waits behind the last one played.
func (fs *Forecasts) isBehind(job uint64) bool {
	_, played := fs.jobs[job]
	return !played && !fs.After.IsZero()
}

// readForecasts has the value that a transaction has read, nil if it has not.
var readForecasts state.Slot[**Forecasts]

// Forecasts returns the expected starts, nil if there are none.
func (tx *Tx) Forecasts() (*Forecasts, error) {
	read := readForecasts.In(&tx.loaded.kept)
	if *read != nil {
		return **read, nil
	}
	fs, err := tx.forecasts()
	if err == nil && !tx.Writable() {
		*read = &fs
	}
	return fs, err
}

func (tx *Tx) forecasts() (*Forecasts, error) {
	kept, err := tx.keptForecasts()
	if err != nil || kept != nil && !tx.outOfDate(kept) || tx.Writable() {
		return kept, err
	}
	few, err := tx.fewWait()
	if err != nil || !few {
		return kept, err
	}
	return tx.playForecasts(kept, nil)
}

// FreshForecasts returns expected starts as of now: it plays the queue unless nothing has changed
// since the last play.
func (tx *Tx) FreshForecasts() (*Forecasts, error) {
	fs, err := tx.Forecasts()
	if err != nil || tx.Writable() || fs != nil && !tx.outOfDate(fs) {
		return fs, err
	}
	if fs, err = tx.playForecasts(fs, nil); err == nil {
		*readForecasts.In(&tx.loaded.kept) = &fs
	}
	return fs, err
}

// keptForecasts returns the value in the file.
func (tx *Tx) keptForecasts() (*Forecasts, error) {
	payload, err := tx.file.Get(row.Meta, row.KeyForecasts)
	if err != nil || payload == nil {
		return nil, err
	}
	v, err := row.DecodeForecasts(payload)
	if err != nil {
		return nil, err
	}
	return forecastsOf(v), nil
}

func forecastsOf(v *row.Forecasts) *Forecasts {
	fs := &Forecasts{AsOf: instant(v.AsOf), After: instant(v.After), value: v, revision: v.Revision, took: time.Duration(v.Took), jobs: make(map[uint64]row.Forecast, len(v.Jobs))}
	for _, f := range v.Jobs {
		fs.jobs[f.Job] = f
	}
	return fs
}

// outOfDate reports whether anything since may have let a job start, or a job still waits past its
// likely start.
func (tx *Tx) outOfDate(fs *Forecasts) bool {
	if fs.revision != tx.state.Startable {
		return true
	}
	for _, f := range fs.jobs {
		if f.Likely != 0 && f.Likely < tx.now {
			return true
		}
	}
	return false
}

// fewWait reports whether few enough jobs wait, or none, for readers to play the queue.
func (tx *Tx) fewWait() (bool, error) {
	n := 0
	err := tx.file.Each(row.Waiting, nil, func(_, _ []byte) (bool, error) {
		n++
		return n <= fewPlayed, nil
	})
	return n <= fewPlayed && n*int(tx.state.NextNode) <= fewJudged && tx.file.Format() >= firstLog, err
}

// playForecasts plays the queue twice: by walltimes, and by likely durations. Jobs that have not
// started when done stops a play are behind the others.
func (tx *Tx) playForecasts(kept *Forecasts, done func() bool) (*Forecasts, error) {
	began := tx.opt.Now()
	v := &row.Forecasts{AsOf: tx.now, Revision: tx.state.Startable}
	d, err := tx.durations()
	if err != nil {
		return nil, err
	}
	rs, err := tx.records(kept)
	if err != nil {
		return nil, err
	}
	asked, err := tx.played(PlaySpec{First: mostPlayed, Done: done})
	if err != nil {
		return nil, err
	}
	likely := asked
	if d.learned > 0 && asked.whole {
		if likely, err = tx.played(PlaySpec{First: mostPlayed, Done: done, runs: d.runs}); err != nil {
			return nil, err
		}
	}
	whole := asked.whole && likely.whole
	for _, j := range asked.waiting {
		a, l := asked.started[j.ID], likely.started[j.ID]
		if l == 0 {
			l = a
		}
		switch {
		case a != 0:
			f := rs.of(j.ID, forecast.Plays{Now: tx.now, Asked: a, Drawn: l})
			if j.State == JobReserved {
				f.Safe = max(tx.now, min(f.Safe, j.Start))
				f.Likely = min(f.Likely, f.Safe)
			}
			v.Jobs = append(v.Jobs, f)
		case whole:
			v.Jobs = append(v.Jobs, row.Forecast{Job: j.ID})
		}
		if asked.behind > 0 || !whole {
			v.After = max(v.After, l)
		}
	}
	slices.SortFunc(v.Jobs, func(a, b row.Forecast) int { return cmp.Compare(a.Job, b.Job) })
	v.First, v.Later = foretold(rs.first.Outcomes()), foretold(rs.later.Outcomes())
	v.Took = uint64(max(tx.opt.Now().Sub(began), 0))
	return forecastsOf(v), nil
}

// played plays the queue in memory.
func (tx *Tx) played(spec PlaySpec) (p *playing, err error) {
	err = tx.Suppose(func(tx *Tx) error {
		p, err = play(tx, spec)
		return err
	})
	return p, err
}

// ForecastSpec says when DB.Forecast plays.
type ForecastSpec struct {
	// Rarely skips the play within 30 s of the last one, or 20 times its duration. It also skips it
	// while few jobs wait and readers play themselves, unless Few is set: only kept forecasts get
	// into the record.
	Rarely, Few bool
	Done        func() bool // reports between instants whether to stop the play; nil: never
}

// Forecast plays the queue and keeps the expected starts for all readers. Call it from the process
// that runs the queue, when it is idle: it plays beside readers and writers, and writes one row. It
// does nothing if the value is up to date. A database in a log keeps no value.
func (db *DB) Forecast(spec ForecastSpec) error {
	if db.log != nil {
		return nil
	}
	var fs *Forecasts
	err := db.View(func(tx *Tx) error {
		fs = nil
		kept, err := tx.keptForecasts()
		if err != nil || tx.file.Format() < firstLog {
			return err
		}
		if kept != nil && (!tx.outOfDate(kept) || spec.Rarely && tx.Now().Sub(kept.AsOf) < max(playEvery, playPatience*kept.took)) {
			return nil
		}
		few, err := tx.fewWait()
		if err == nil && (!few || !spec.Rarely || spec.Few) {
			fs, err = tx.playForecasts(kept, spec.Done)
		}
		return err
	})
	if err != nil || fs == nil {
		return err
	}
	return db.Update(func(tx *Tx) error {
		return tx.startsNone(func() error { return tx.file.Put(row.Meta, row.KeyForecasts, row.EncodeForecasts(fs.value)) })
	})
}
