package main

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/urfave/cli/v2"
)

// gantt goes through four steps, each in files of its own: one View copies out
// what is planned (gantt_read.go); a window of time is chosen (gantt_window.go,
// gantt_ticks.go); nodes become rows of cells, and rows that look the same one
// row (gantt_paint.go, gantt_fold.go), or buckets curves (gantt_count.go); and
// the rows are drawn, as text (gantt_draw.go and those beside it) or as SVG.

const (
	narrowestGantt = 20   // columns
	widestGantt    = 1000 // columns
	widestSVG      = 20_000
	ganttRows      = 40 // on a terminal, unless --rows says otherwise
)

func ganttVerb() *verb {
	return &verb{
		Name:     "gantt",
		Category: "Asking",
		Usage:    "draw what runs, what is planned and what is free",
		Description: "One row a node, or a bucket; neighbours that look the same share a row. On a node that is shared, what lies\n" +
			"beside each other has lanes of its own. Free is the time in which nothing is on a node; the line above counts\n" +
			"the nodes by their state (docs/states.md). What is over is not drawn. With -o json and the other forms for\n" +
			"programs: the stretches of time as rows. The SVG shows who has a node, from when to when, where the mouse points.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "from `TIME` on (a little before now)"},
			&cli.StringFlag{Name: "to", Usage: "up to `TIME` (until most has ended)"},
			&cli.StringFlag{Name: "nodes", Usage: "only these, a node `LIST` such as n[01-16]"},
			&cli.StringFlag{Name: "by", Value: "node", Usage: "a row for each `WHAT`: node or bucket"},
			&cli.IntFlag{Name: "rows", Usage: "at most `N` rows, 0 for all (40 on a terminal, else all)"},
			&cli.IntFlag{Name: "width", Usage: "`N` columns, or pixels of the SVG (the terminal's or 80, and 1200)"},
			&cli.StringFlag{Name: "svg", Usage: "draw into `FILE` as SVG, - for standard output"},
			&cli.StringFlag{Name: "html", Usage: "the same as a page of its own, in `FILE`"},
		},
		Access:  reads,
		Example: "placectl gantt\nplacectl gantt --nodes n[01-16] --to now+6h\nplacectl gantt --by bucket\nplacectl gantt --svg timeline.svg",
		Run:     (*runner).gantt,
	}
}

// ganttOptions is what the command line asks for.
type ganttOptions struct {
	from, to time.Time // zero when not given
	nodes    string
	byBucket bool
	rows     int // 0 for all
	width    int
	svg      string // the file to draw into, "" for none
	flag     string // what named it: svg or html
}

func (r *runner) gantt(c *cli.Context) error {
	o, err := r.ganttOptions(c)
	if err != nil {
		return err
	}
	g, err := r.readGantt(o)
	if err != nil {
		return err
	}
	w, err := g.window(o)
	if err != nil {
		return usagef(verbName(c), "%w", err)
	}
	if o.svg != "" {
		if err := r.writeGanttSVG(c, g, w, o); err != nil || o.svg == "-" || r.Output == output.Table {
			return err
		}
	}
	switch {
	case r.Output == output.Table:
		return r.drawGantt(g, w, o)
	case o.byBucket:
		return r.printBucketSteps(g, w)
	}
	return r.printStretches(g, w)
}

func (r *runner) ganttOptions(c *cli.Context) (*ganttOptions, error) {
	o := &ganttOptions{nodes: c.String("nodes"), rows: c.Int("rows"), svg: c.String("svg"), flag: "svg"}
	if c.IsSet("html") {
		o.svg, o.flag = c.String("html"), "html"
	}
	by, err := oneOf(c, "by", "node", "bucket")
	if err != nil {
		return nil, err
	}
	o.byBucket = by == "bucket"
	if o.from, err = r.time(c, "from"); err != nil {
		return nil, err
	}
	if o.to, err = r.time(c, "to"); err != nil {
		return nil, err
	}
	switch {
	case c.IsSet("nodes") && o.nodes == "":
		return nil, usagef(verbName(c), "--nodes is empty; name nodes such as n[01-16], or leave it out for all")
	case c.IsSet("svg") && c.IsSet("html"):
		return nil, usagef(verbName(c), "--svg and --html exclude each other")
	case c.IsSet(o.flag) && o.svg == "":
		return nil, usagef(verbName(c), "--%s is empty; name a file, or - for standard output", o.flag)
	case o.rows < 0:
		return nil, usagef(verbName(c), "--rows must not be negative; 0 is all")
	}
	if !c.IsSet("rows") && r.stdoutTTY && o.svg == "" {
		o.rows = ganttRows
	}
	o.width, err = r.ganttWidth(c, o.svg != "")
	return o, err
}

// ganttWidth is how wide the drawing is to be: what is asked for, else what the
// terminal has.
func (r *runner) ganttWidth(c *cli.Context, svg bool) (int, error) {
	least, most, width := narrowestGantt, widestGantt, 80
	switch {
	case svg:
		least, most, width = narrowestSVG, widestSVG, 1200
	case r.stdoutTTY && r.width() > 0:
		width = min(max(r.width(), least), most)
	}
	if !c.IsSet("width") {
		return width, nil
	}
	if width = c.Int("width"); width < least || width > most {
		return 0, usagef(verbName(c), "--width %d: it must be from %d to %d", width, least, most)
	}
	return width, nil
}
