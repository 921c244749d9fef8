package ask

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/report"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Report declares the verb report.
func Report() *session.Verb {
	return &session.Verb{
		Name:     "report",
		Category: "Asking",
		Usage:    "report use and waits, as a page or rows",
		May:      engine.Anybody,
		Description: "Reports on all stored jobs, or those between two times. On a terminal it shows the cpus used, " +
			"the jobs waiting and the mean wait over time, then what users (or groups, accounts, classes, queues) " +
			"used, and their waits and bounded slowdowns in percentiles. Other formats of -o have these as rows. " +
			"core_hours counts the time within the period, the rest the jobs that started in it.\n\n--html makes one " +
			"page that needs no network, to look at or to print. It shows the jobs of each node, to zoom and search " +
			"in, the queue with reasons and expected starts, utilisation by hour, and use and waits by user, group " +
			"and queue, first by what --by says. With the flags of placectl whatif it also shows how long the " +
			"waiting jobs would then wait.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "since", Aliases: []string{"from"}, Usage: "begin at `TIME` (the first submission)"},
			&cli.StringFlag{Name: "until", Aliases: []string{"to"}, Usage: "end at `TIME` (now)"},
			&cli.StringFlag{Name: "html", Usage: "write a page into `FILE`, - for standard output"},
			&cli.StringFlag{Name: "title", Usage: "head the page with `TEXT` (the database's name)"},
			&cli.StringFlag{Name: "csv",
				Usage: "write utilisation, queue length and waits over time into `FILE`, - for standard output"},
			byFlag(),
		}, supposeFlags("what if")),
		Exclusive: []string{"html csv"},
		Access:    verbs.Reads,
		Statuses:  map[int]string{exit.Conflict: ""},
		Example: "placectl report\nplacectl report --since 'last month' --by group\nplacectl report --html " +
			"cluster.html\nplacectl report --html bigger.html --add 'g[3-4] like g1'\nplacectl report --csv use.csv",
		Run: makeReport,
	}
}

// byFlag returns --by, which groups the waits.
func byFlag() cli.Flag {
	return verbs.Choice(&cli.StringFlag{Name: "by", Usage: "group use and waits by `WHAT`"}, trends.GroupNames()...)
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
		return usage.Errorf("--until must come after --since")
	}
	if c.IsSet("title") && !c.IsSet("html") {
		return usage.Errorf("--title is for --html")
	}
	what, err := trendsBy(c)
	if err != nil {
		return err
	}
	otherwise, err := supposedOnPage(r, c)
	if err != nil {
		return err
	}
	var h *daily.Record
	err = r.View(func(tx *engine.Tx) (err error) {
		h, err = daily.ReadRecord(tx, from, to, c.IsSet("html"))
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case c.IsSet("html"):
		name := strings.TrimSuffix(filepath.Base(r.DB), filepath.Ext(r.DB))
		made := h.Page(cmp.Or(c.String("title"), name), what)
		made.Supposed = otherwise
		page, err := made.HTML()
		if err != nil {
			return err
		}
		return pageFile(r, c, "html", page)
	case c.IsSet("csv"):
		return pageFile(r, c, "csv", h.Series().AppendCSV(nil))
	}
	return printTrends(r, h.Series(), what, h.Waits(what))
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

// trendsBy returns what --by groups jobs by.
func trendsBy(c *cli.Context) (what string, err error) {
	if !c.IsSet("by") {
		return "user", nil
	}
	return verbs.Chosen(c, "by")
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
		{Name: "core_hours", Kind: output.Number, Value: func(g *trends.Group) any {
			return math.Round(g.CoreHours*10) / 10
		}},
		{Name: "jobs", Kind: output.Integer, Value: func(g *trends.Group) any { return g.Jobs }},
		{Name: "mean_wait", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 {
			return g.Wait.Mean
		})},
		{Name: "wait_p50", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.P50 })},
		{Name: "wait_p90", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.P90 })},
		{Name: "wait_p99", Kind: output.Duration, Detail: true, Value: seconds(func(g *trends.Group) float64 {
			return g.Wait.P99
		})},
		{Name: "max_wait", Kind: output.Duration, Value: seconds(func(g *trends.Group) float64 { return g.Wait.Max })},
		{Name: "slowdown_p50", Kind: output.Number, Detail: true, Value: slowdown(func(g *trends.Group) float64 {
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
