package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/placer/forecast"
	"github.com/placectl/placectl/store/internal/row"
)

// When jobs that wait are expected to start is one value in the file: what came of the last play of
// the queue, as of its instant. Whoever looks after the queue has it made anew (DB.Forecast), and all
// who tell of expected starts read it. Where it is out of date and few jobs wait, a reader plays
// the queue for itself.

const (
	mostPlayed   = 1000             // so many of those that wait are played at most, in their order
	fewPlayed    = 50               // and so many by readers
	fewJudged    = 1000             // times so many nodes, at most
	playEvery    = 30 * time.Second // between two plays for the value
	playPatience = 20               // times as long as the last one took is between them, too
)

// Forecasts are when those who wait are expected to start. Jobs that are held or late, and those of
// which it is unknown when what they wait for comes, are not among them.
type Forecasts struct {
	AsOf  time.Time
	After time.Time // when the last that was played starts: those behind start later; zero: none are behind

	revision uint64
	took     time.Duration
	jobs     map[uint64]row.Forecast
	value    *row.Forecasts
}

// Forecast is when a job is expected to start.
type Forecast struct {
	Likely time.Time // sooner about as often as later
	Safe   time.Time // by then in nine of ten cases
	Asked  time.Time // when all jobs run as long as they asked for, and nothing else comes
}

// Of is the forecast of a job.
func (fs *Forecasts) Of(job uint64) (Forecast, bool) {
	f, known := fs.jobs[job]
	return Forecast{instant(f.Likely), instant(f.Safe), instant(f.Asked)}, known && f.Likely != 0
}

// Record is how many starts of forecasts made at submission are known, and how many of these jobs
// started by their safe start. As long as they are fewer than RecordEnough, likely and safe starts are those
// of the plays.
func (fs *Forecasts) Record() (kept, of int) {
	for _, o := range fs.value.First {
		if o.Start <= o.Safe {
			kept++
		}
	}
	return kept, len(fs.value.First)
}

// RecordEnough is how many known starts let forecasts follow them.
const RecordEnough = forecast.Enough

// isBehind reports whether a job waits behind those that were played.
func (fs *Forecasts) isBehind(job uint64) bool {
	_, played := fs.jobs[job]
	return !played && !fs.After.IsZero()
}

// Forecasts are those that are known: nil for none.
func (tx *Tx) Forecasts() (*Forecasts, error) {
	if tx.loaded.forecasts != nil {
		return *tx.loaded.forecasts, nil
	}
	fs, err := tx.forecasts()
	if err == nil && !tx.Writable() {
		tx.loaded.forecasts = &fs
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

// FreshForecasts are those as of now: the queue is played, unless it is as it was when it was played
// last.
func (tx *Tx) FreshForecasts() (*Forecasts, error) {
	fs, err := tx.Forecasts()
	if err != nil || tx.Writable() || fs != nil && !tx.outOfDate(fs) {
		return fs, err
	}
	if fs, err = tx.playForecasts(fs, nil); err == nil {
		tx.loaded.forecasts = &fs
	}
	return fs, err
}

// keptForecasts are those in the file.
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

// outOfDate reports whether something has come since that may have let something start, or a job
// waits that was expected to have started.
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

// fewWait reports whether so few jobs wait that readers play the queue. None are few, too.
func (tx *Tx) fewWait() (bool, error) {
	n := 0
	err := tx.file.Each(row.Waiting, nil, func(_, _ []byte) (bool, error) {
		n++
		return n <= fewPlayed, nil
	})
	return n <= fewPlayed && n*int(tx.state.NextNode) <= fewJudged && tx.file.Format() >= firstLog, err
}

// playForecasts plays the queue twice: all jobs running as long as they asked for, and for their
// likely durations. Jobs that have not started in a play when done says so are behind the others.
func (tx *Tx) playForecasts(kept *Forecasts, done func() bool) (*Forecasts, error) {
	began := tx.db.opt.Now()
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
	v.Took = uint64(max(tx.db.opt.Now().Sub(began), 0))
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

// ForecastSpec is how DB.Forecast goes about it.
type ForecastSpec struct {
	// Rarely has nothing be done within 30 s of the last play, or 20 times as long as that took, nor
	// where so few jobs wait that readers play the queue, unless Few says so: what becomes of
	// forecasts is known of those that are kept.
	Rarely, Few bool
	Done        func() bool // asked between instants of the play whether it has taken long enough; nil: it never has
}

// Forecast plays the queue, and keeps when those who wait are expected to start, for all who read
// it. It is for whoever looks after the queue, when there is nothing else to do: it plays beside
// readers and writers, and writes one row. It does nothing where the value is as of now. A database
// in a log keeps no value.
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
