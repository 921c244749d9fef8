package simulate

import (
	"math"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/placer/forecast/backtest"
)

// mostForecasts is the approximate number of forecasts for a log.
const mostForecasts = 10_000

// mostOnNodes is mostForecasts if jobs are placed on nodes, where a play takes longer.
const mostOnNodes = 2_000

// ForecastResult describes the answer about how well starts are forecast, with a row for each rule: see
// Forecast.
var ForecastResult = output.Result{Columns: []output.Column{{Name: "policy"}, {Name: "forecasts", Kind: output.Integer},
	{Name: "alone", Kind: output.Number}, {Name: "alone_error", Kind: output.Duration},
	{Name: "likely", Kind: output.Number}, {Name: "likely_error", Kind: output.Duration},
	{Name: "safe", Kind: output.Number}, {Name: "safe_worst", Kind: output.Number},
	{Name: "safe_wait", Kind: output.Duration}, {Name: "asked_wait", Kind: output.Duration},
	{Name: "safe_short", Kind: output.Number}, {Name: "safe_middle", Kind: output.Number},
	{Name: "safe_long", Kind: output.Number}}}

// Forecast replays the log under a rule with forecasts for the jobs that must wait, and sums up how
// right they were.
func (t *Trace) Forecast(r Rule, progress func(started int) error) ([]any, error) {
	log := &backtest.Log{Procs: t.procs, Jobs: t.jobs, Of: t.of, Policy: r.Policy, Slack: r.Slack,
		Every: max(1, len(t.jobs)/mostForecasts), Progress: progress}
	if t.cluster != nil {
		var err error
		if log.Cluster, err = t.cluster.empty(t.first()); err != nil {
			return nil, err
		}
		log.Asks, log.Every = t.asks, max(1, len(t.jobs)/mostOnNodes)
	}
	_, made, err := backtest.Replay(log)
	if err != nil {
		return nil, err
	}
	s := backtest.Sum(made)
	share := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	minutes, hours := func(v float64) float64 { return math.Round(v * 60) },
		func(v float64) float64 { return math.Round(v * 3600) }
	return []any{r.String(), s.Forecasts, share(1 - s.LateAlone), minutes(s.ErrorAlone), share(s.Likely),
		minutes(s.Error),
		share(s.Safe), share(s.Worst), hours(s.SafeWait), hours(s.AskedWait), share(s.Thirds[0]), share(s.Thirds[1]),
		share(s.Thirds[2])}, nil
}
