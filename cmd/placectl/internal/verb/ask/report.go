package ask

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/report"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Report declares the verb report.
func Report() *session.Verb {
	return &session.Verb{
		Name:     "report",
		Category: "Asking",
		Usage:    "report use and waits, as a page or rows",
		May:      store.Anybody,
		Description: "Reports on all stored jobs, or those between two times. On a terminal it shows the cpus used, " +
			"the jobs waiting\n" +
			"and the mean wait over time, then the waits and bounded slowdowns of users (or classes, queues) in " +
			"percentiles.\n" +
			"Other formats of -o have these as rows.\n\n" +
			"--html makes one page that needs no network. It shows the jobs of each node, to zoom and search in, " +
			"the queue\n" +
			"with reasons and expected starts, utilisation by hour, and waits by user. With the flags of placectl " +
			"whatif it\n" +
			"also shows how long the waiting jobs would then wait.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "since", Aliases: []string{"from"}, Usage: "begin at `TIME` (the first submission)"},
			&cli.StringFlag{Name: "until", Aliases: []string{"to"}, Usage: "end at `TIME` (now)"},
			&cli.StringFlag{Name: "html", Usage: "write a page into `FILE`, - for standard output"},
			&cli.StringFlag{Name: "csv",
				Usage: "write utilisation, queue length and waits over time into `FILE`, - for standard output"},
			byFlag(),
		}, supposeFlags("what if")),
		Exclusive: []string{"html csv"},
		Access:    verbs.Reads,
		Statuses:  []int{exit.Conflict},
		Example: "placectl report\nplacectl report --from now-7d --by queue\nplacectl report --html " +
			"cluster.html\nplacectl report --html bigger.html --add 'g[3-4] like g1'\nplacectl report --csv use.csv",
		Run: makeReport,
	}
}

// byFlag returns --by, which groups the waits.
func byFlag() cli.Flag {
	return verbs.Choice(&cli.StringFlag{Name: "by", Usage: "group waits by `WHAT`"}, "user", "class", "queue", "size")
}

func makeReport(r *session.Run, c *cli.Context) error {
	from, err := r.Time(c, "since")
	if err != nil {
		return err
	}
	to, err := r.Time(c, "until")
	if err != nil {
		return err
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return usage.Errorf("--to must come after --from")
	}
	of, what, err := trendsBy(c)
	if err != nil {
		return err
	}
	otherwise, err := supposedOnPage(r, c)
	if err != nil {
		return err
	}
	var h *daily.Record
	err = r.View(func(tx *store.Tx) (err error) {
		h, err = daily.ReadRecord(tx, from, to, c.IsSet("html"))
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case c.IsSet("html"):
		made := h.Page("placectl " + filepath.Base(r.DB))
		made.Supposed = otherwise
		page, err := made.HTML()
		if err != nil {
			return err
		}
		return pageFile(r, c, "html", page)
	case c.IsSet("csv"):
		return pageFile(r, c, "csv", h.Series().AppendCSV(nil))
	}
	return printTrends(r, h.Series(), what, trends.Waits(h.Jobs, of))
}

// supposedOnPage returns what a page should say about other nodes or rules, nil if no flag asks
// for it.
func supposedOnPage(r *session.Run, c *cli.Context) (*report.Supposed, error) {
	var words []string
	for _, f := range supposeFlags("") {
		name := f.Names()[0]
		if !c.IsSet(name) {
			continue
		}
		if !c.IsSet("html") {
			return nil, usage.Errorf("--%s needs --html; placectl whatif prints its answer", name)
		}
		values := []string{c.String(name)}
		if _, many := f.(*cli.StringSliceFlag); many {
			values = c.StringSlice(name)
		}
		for _, v := range values {
			words = append(words, "--"+name, v)
		}
	}
	if words == nil {
		return nil, nil
	}
	list, err := supposed(r, c)
	if err != nil {
		return nil, err
	}
	s := &report.Supposed{What: text.JoinWords(words)}
	for _, w := range list {
		s.Rows = append(s.Rows, report.SupposedRow{Of: w.Of, Name: w.Name, Jobs: w.Jobs,
			Before: int64(w.Means[0].Seconds()), After: int64(w.Means[1].Seconds()), LateBefore: w.Late[0],
			LateAfter: w.Late[1]})
	}
	return s, nil
}

// printTrends prints percentiles of waits, for people below curves of what was recorded.
func printTrends(r *session.Run, s *trends.Series, what string, groups []trends.Group) error {
	if a := r.Audience(); a.Table {
		if err := r.Answer(append(s.Plot(cmp.Or(a.Width, verbs.DefaultWidth), a.Blocks, r.Loc), '\n')); err != nil {
			return err
		}
	}
	return printWaits(r, what, groups)
}

// pageFile writes content to the file that a flag names.
func pageFile(r *session.Run, c *cli.Context, flag string, content []byte) error {
	if c.String(flag) == "" {
		return usage.Errorf("--%s is empty; name a file, or - for standard output", flag)
	}
	return r.WriteFile(flag, c.String(flag), content)
}

// trendsBy returns the function that groups jobs as --by says, by default by user, and its name.
func trendsBy(c *cli.Context) (of func(*trends.Job) string, what string, err error) {
	what = "user"
	if c.IsSet("by") {
		if what, err = verbs.Chosen(c, "by"); err != nil {
			return nil, "", err
		}
	}
	switch what {
	case "class":
		return func(j *trends.Job) string { return j.Class }, what, nil
	case "size":
		return trends.Size, what, nil
	case "queue":
		return func(j *trends.Job) string { return j.Queue }, what, nil
	}
	return func(j *trends.Job) string { return j.User }, what, nil
}

// printWaits prints percentiles of waits and slowdowns.
func printWaits(r *session.Run, what string, groups []trends.Group) error {
	seconds := func(of func(*trends.Group) float64) func(*trends.Group) any {
		return func(g *trends.Group) any { return of(g) }
	}
	slowdown := func(of func(*trends.Group) float64) func(*trends.Group) any {
		return func(g *trends.Group) any { return math.Round(of(g)*100) / 100 }
	}
	fields := output.Fields[*trends.Group]{
		{Name: what, Value: func(g *trends.Group) any { return output.OrNil(g.Name) }},
		{Name: "jobs", Kind: output.Integer, Value: func(g *trends.Group) any { return g.Jobs }},
		{Name: "mean_wait", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 {
			return g.Wait.Mean
		})},
		{Name: "wait_p50", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.P50 })},
		{Name: "wait_p90", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.P90 })},
		{Name: "wait_p99", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.P99 })},
		{Name: "max_wait", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.Max })},
		{Name: "slowdown_p50", Kind: output.Number, Value: slowdown(func(g *trends.Group) float64 {
			return g.Slowdown.P50
		})},
		{Name: "slowdown_p90", Kind: output.Number, Detail: true, Value: slowdown(func(g *trends.Group) float64 {
			return g.Slowdown.P90
		})},
		{Name: "slowdown_p99", Kind: output.Number, Detail: true, Value: slowdown(func(g *trends.Group) float64 {
			return g.Slowdown.P99
		})},
		{Name: "max_slowdown", Kind: output.Number, Detail: true, Value: slowdown(func(g *trends.Group) float64 {
			return g.Slowdown.Max
		})},
	}
	p := r.Printer(output.Result{Columns: fields.Columns()})
	for i := range groups {
		if err := fields.Print(p, &groups[i]); err != nil {
			return err
		}
	}
	return p.Close()
}
