package row

// Forecasts holds the expected starts of the jobs that waited at an instant, in the order of
// their numbers. Without forecasts there is no row.
type Forecasts struct {
	AsOf     int64
	Revision uint64 // the count, at that time, of commits that may have let something start
	Took     uint64 // duration of the plays, in nanoseconds
	After    int64  // the jobs behind those that were played start after this; 0 if none are behind
	Jobs     []Forecast

	// First and Later are the outcomes of first forecasts, and of later ones that were drawn.
	First, Later []Foretold
}

// Forecast is the forecast of a job. Instants are 0 if it is not expected to start.
type Forecast struct {
	Job                 uint64
	Likely, Safe, Asked int64

	First, Later Said   // forecasts without a known outcome
	Seen         uint64 // number of forecasts made
}

// Said is a forecast of a job made at an instant; 0 means none.
type Said struct {
	At            int64
	Asked, Likely int64 // in the plays
	Says, Safe    int64 // the likely and the safe start that followed from them
}

// Foretold is the outcome of a forecast.
type Foretold struct {
	Job  uint64
	User string
	Said
	Start int64
}

const forecastsVersion = 1

func forecastsFields(f *Fields, v *Forecasts) {
	f.Version(forecastsVersion)
	f.At("asOf", &v.AsOf, Past)
	Uint(f, "revision", &v.Revision)
	Uint(f, "took", &v.Took)
	f.At("after", &v.After, Wish)
	for i := range Items(f, "jobs", &v.Jobs) {
		Uint(f, "job", &v.Jobs[i].Job)
		f.At("likely", &v.Jobs[i].Likely, Wish)
		f.At("safe", &v.Jobs[i].Safe, Wish)
		f.At("asked", &v.Jobs[i].Asked, Wish)
		saidFields(f, "first", &v.Jobs[i].First)
		saidFields(f, "later", &v.Jobs[i].Later)
		Uint(f, "seen", &v.Jobs[i].Seen)
		f.Next()
	}
	outcomesFields(f, "first", &v.First)
	outcomesFields(f, "later", &v.Later)
}

func saidFields(f *Fields, name string, s *Said) {
	f.At(name+"At", &s.At, Past)
	f.At(name+"Asked", &s.Asked, Wish)
	f.At(name+"Likely", &s.Likely, Wish)
	f.At(name+"Says", &s.Says, Wish)
	f.At(name+"Safe", &s.Safe, Wish)
}

func outcomesFields(f *Fields, name string, list *[]Foretold) {
	for i := range Items(f, name, list) {
		o := &(*list)[i]
		Uint(f, "job", &o.Job)
		f.Text("user", &o.User)
		saidFields(f, "said", &o.Said)
		f.At("start", &o.Start, Past)
		f.Next()
	}
}

// ForecastsRow is the row of the forecasts.
var ForecastsRow = Kind[Forecasts]{Meta, forecastsFields}
