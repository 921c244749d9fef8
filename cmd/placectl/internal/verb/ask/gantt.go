package ask

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// ganttRows is the number of rows on a terminal, unless --rows says otherwise.
const ganttRows = 40

// Gantt declares the verb gantt.
func Gantt() *session.Verb {
	return &session.Verb{
		Name:     "gantt",
		Category: "Asking",
		Usage:    "draw running work, plans and free time",
		May:      engine.Anybody,
		Description: "Draws a row for each node, bucket or device. Neighbours that look the same share a row, and " +
			"jobs that share a\n" +
			"node have lanes of their own. The line above counts the nodes by state (docs/states.md). Ended " +
			"jobs are not\n" +
			"drawn.\n\n" +
			"Free is time with nothing on a node. The formats of -o for programs have a row for each period. " +
			"In the SVG,\n" +
			"point at a bar to see its job and times.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Aliases: []string{"from"}, Usage: "begin at `TIME` (a little before now)"},
			&cli.StringFlag{Name: "until", Aliases: []string{"to"}, Usage: "end at `TIME` (when most has ended)"},
			&cli.StringFlag{Name: "nodes", Usage: "only these nodes, a `LIST` such as n[01-16]"},
			verbs.Choice(&cli.StringFlag{Name: "by", Value: "node",
				Usage: "one row for each `WHAT`: node, bucket, or device of nodes that name devices"}, "node", "bucket",
				"device"),
			&cli.IntFlag{Name: "rows", Usage: "at most `N` rows, 0 for all (40 on a terminal, else all)"},
			&cli.IntFlag{Name: "width",
				Usage: "width, `N` columns (the terminal's, or 80) or pixels of the SVG (1200)"},
			&cli.StringFlag{Name: "svg", Usage: "draw into `FILE` as SVG, - for standard output"},
		},
		Access: verbs.Reads,
		Example: "placectl gantt\nplacectl gantt --nodes n[01-16] --to now+6h\nplacectl gantt --by " +
			"bucket\nplacectl gantt --by device --nodes g[1-4]\nplacectl gantt --svg timeline.svg",
		Run: gantt,
	}
}

// ganttOptions is what the command line asks for.
type ganttOptions struct {
	from, to time.Time // zero when not given
	nodes    string
	byBucket bool
	byDevice bool
	rows     int // 0 for all
	width    int
	svg      string // the file for the drawing, "" for none
}

func gantt(r *session.Run, c *cli.Context) error {
	o, err := ganttOptionsOf(r, c)
	if err != nil {
		return err
	}
	g, err := readGantt(r, o)
	if err != nil {
		return err
	}
	w := g.Window(o.from, o.to)
	draw := &chart.Options{Width: o.width, Rows: o.rows, ByBucket: o.byBucket, Blocks: r.Audience().Blocks,
		Colors: r.Audience().Color, Zone: r.Loc}
	if o.svg != "" {
		if err := r.WriteFile("svg", o.svg, g.SVG(w, draw)); err != nil || o.svg == "-" || r.Audience().Table {
			return err
		}
	}
	switch {
	case r.Audience().Table:
		return r.Answer(g.Text(w, draw))
	case o.byBucket:
		return printBucketSteps(r, g, w)
	}
	return printStretches(r, g, w)
}

func ganttOptionsOf(r *session.Run, c *cli.Context) (*ganttOptions, error) {
	o := &ganttOptions{nodes: c.String("nodes"), rows: c.Int("rows"), svg: c.String("svg")}
	by, err := verbs.Chosen(c, "by")
	if err != nil {
		return nil, err
	}
	o.byBucket, o.byDevice = by == "bucket", by == "device"
	if o.from, err = r.Time(c, "since"); err != nil {
		return nil, err
	}
	if o.to, err = r.Time(c, "until"); err != nil {
		return nil, err
	}
	switch {
	case c.IsSet("nodes") && o.nodes == "":
		return nil, usage.Errorf("--nodes is empty; name nodes such as n[01-16], or leave it out for all")
	case c.IsSet("svg") && o.svg == "":
		return nil, usage.Errorf("--svg is empty; name a file, or - for standard output")
	case o.rows < 0:
		return nil, usage.Errorf("--rows must be 0 (all) or more")
	case !o.from.IsZero() && !o.to.IsZero() && o.to.Unix() <= o.from.Unix():
		return nil, usage.Errorf("--to must come after --from")
	}
	if !c.IsSet("rows") && r.Audience().Terminal && o.svg == "" {
		o.rows = ganttRows
	}
	o.width, err = ganttWidth(r, c, o.svg != "")
	return o, err
}

// ganttWidth returns the requested width, or the terminal's.
func ganttWidth(r *session.Run, c *cli.Context, svg bool) (int, error) {
	least, most, width := chart.Narrowest, chart.Widest, 80
	switch {
	case svg:
		least, most, width = chart.NarrowestSVG, chart.WidestSVG, 1200
	case r.Audience().Width > 0:
		width = min(max(r.Audience().Width, least), most)
	}
	if !c.IsSet("width") {
		return width, nil
	}
	if width = c.Int("width"); width < least || width > most {
		return 0, usage.Errorf("--width %d: it must be from %d to %d", width, least, most)
	}
	return width, nil
}

// ganttReader copies the data of a picture out of a transaction.
type ganttReader struct {
	tx      *engine.Tx
	data    *chart.Gantt
	bars    []chart.Bar // of all nodes, many in one array
	buckets []uint32    // of each node
	owners  map[engine.Owner]int32
	named   bool // read the names of jobs
	devices bool // a row for each device, if a node names devices
}

// readGantt reads the database once, and closes it before anything is drawn.
func readGantt(r *session.Run, o *ganttOptions) (*chart.Gantt, error) {
	g := &chart.Gantt{}
	err := r.View(func(tx *engine.Tx) (err error) {
		g.Now = tx.Now().Unix()
		if _, err := tx.Config().Resources(); err != nil { // shared nodes show what is free of these
			return err
		}
		if o.byDevice {
			g.Rows = "device"
		}
		in := &ganttReader{tx: tx, data: g, owners: map[engine.Owner]int32{}, named: o.svg != "", devices: o.byDevice}
		if o.nodes == "" {
			err = tx.Nodes().Scan(in.node)
		} else {
			err = session.EachNamed(tx, o.nodes, in.node)
		}
		if err != nil || !o.byBucket {
			return err
		}
		return in.readBuckets()
	})
	return g, err
}

// barsAtOnce is the number of bars in one array.
const barsAtOnce = 4096

func (in *ganttReader) node(n *index.Node) error {
	list, err := in.tx.Nodes().Allocations(n.Number)
	if err != nil {
		return err
	}
	if len(in.bars)+len(list) > cap(in.bars) {
		in.bars = make([]chart.Bar, 0, max(barsAtOnce, len(list)))
	}
	first := len(in.bars)
	for _, a := range list {
		bar, err := in.bar(a)
		if err != nil {
			return err
		}
		in.bars = append(in.bars, bar)
	}
	if in.devices && len(n.Devices) > 0 {
		return in.deviceRows(n, list, in.bars[first:len(in.bars):len(in.bars)])
	}
	on, err := in.tx.Nodes().Occupancy(n)
	if err != nil {
		return err
	}
	in.data.Nodes = append(in.data.Nodes, chart.Node{Name: n.Name, State: n.State,
		Partly: on.State == engine.NodePartly,
		Bars:   in.bars[first:len(in.bars):len(in.bars)]})
	in.buckets = append(in.buckets, n.Bucket)
	return nil
}

// deviceRows draws a row for each device of a node, and one for what is planned there but has no
// devices yet.
func (in *ganttReader) deviceRows(n *index.Node, list []engine.Allocation, bars []chart.Bar) error {
	all, err := in.tx.Devices().OfNode(n)
	if err != nil {
		return err
	}
	row := func(name string, state index.State, aside bool, of func(engine.Allocation) bool) {
		var own []chart.Bar
		for i, a := range list {
			if of(a) {
				own = append(own, bars[i])
			}
		}
		if aside && len(own) == 0 {
			return
		}
		in.data.Nodes = append(in.data.Nodes, chart.Node{Name: name, State: state, Aside: aside, Bars: own})
		in.buckets = append(in.buckets, n.Bucket)
	}
	for _, d := range all {
		state := n.State
		if !d.InService() && state == index.Up {
			state = index.Drained
		}
		row(n.Name+":"+d.Resource+"="+d.ID, state, false, func(a engine.Allocation) bool {
			return d.Job != 0 && a.Job == d.Job
		})
	}
	row(n.Name+" planned", n.State, true, func(a engine.Allocation) bool { return a.Job == 0 || !a.Now })
	return nil
}

func (in *ganttReader) bar(a engine.Allocation) (chart.Bar, error) {
	owner, err := in.owner(a.Owner)
	bar := chart.Bar{Owner: owner, Start: a.Start.Unix(), End: a.End.Unix(), Due: a.Due.Unix()}
	switch {
	case err != nil:
	case in.data.Owners[owner].Job == 0:
		bar.Kind = chart.Reserved
	case bar.Start > in.data.Now:
		bar.Kind = chart.Planned
	case bar.End > bar.Due:
		bar.Kind = chart.Overdue
	default:
		bar.Kind = chart.Running
	}
	return bar, err
}

// owner returns an owner's index in the picture, and reads the owner's data once.
func (in *ganttReader) owner(who engine.Owner) (int32, error) {
	if at, ok := in.owners[who]; ok {
		return at, nil
	}
	o := chart.Owner{Job: who.Job, Reservation: who.Reservation}
	if in.named && who.Job != 0 {
		job, err := in.tx.Jobs().Get(who.Job)
		if err != nil {
			return 0, err
		}
		o.Name, o.User = job.Name, job.User
	}
	at := int32(len(in.data.Owners))
	in.data.Owners = append(in.data.Owners, o)
	in.owners[who] = at
	return at, nil
}

// readBuckets assigns the nodes to their buckets, in the order in which those are tried.
func (in *ganttReader) readBuckets() error {
	buckets, err := in.tx.Ask().Buckets()
	members := map[uint32][]*chart.Node{}
	for i, id := range in.buckets {
		members[id] = append(members[id], &in.data.Nodes[i])
	}
	for _, b := range buckets {
		if len(members[b.ID]) > 0 {
			in.data.Buckets = append(in.data.Buckets, chart.Bucket{ID: b.ID, Signature: b.Signature, Queue: b.Queue,
				Priority: b.Priority, Nodes: members[b.ID]})
		}
	}
	return err
}

// printStretches prints, for programs, a row for each stretch of the window, by node and then by
// start. The end of an overdue job is when it is expected to end.
func printStretches(r *session.Run, g *chart.Gantt, w chart.Window) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "node"}, {Name: "kind"}, {Name: "job", Kind: output.JobNumber},
			{Name: "reservation"}, {Name: "state"},
			{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "now", Kind: output.Boolean}}})
	for i := range g.Nodes {
		n := &g.Nodes[i]
		now := n.BarAt(w.Now)
		for k := range n.Bars {
			b := &n.Bars[k]
			if !w.Shows(b) {
				continue
			}
			owner := &g.Owners[b.Owner]
			kind := "job"
			if owner.Job == 0 {
				kind = "reservation"
			}
			if err := p.Row(n.Name, kind, output.OrNil(owner.Job), output.OrNil(owner.Reservation), b.StateAt(w.Now),
				b.Start, b.End, k == now); err != nil {
				return err
			}
		}
	}
	return p.Close()
}

// printBucketSteps prints, for programs that ask by bucket, a row for each period in which the
// number of a bucket's taken nodes does not change.
func printBucketSteps(r *session.Run, g *chart.Gantt, w chart.Window) error {
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "bucket", Kind: output.Integer}, {Name: "signature"},
		{Name: "queue"}, {Name: "priority", Kind: output.Integer},
		{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "taken", Kind: output.Integer},
		{Name: "free", Kind: output.Integer}, {Name: "not_up", Kind: output.Integer}}})
	for i := range g.Buckets {
		b := &g.Buckets[i]
		c := w.Curve(b.Nodes)
		for _, s := range c.Steps {
			if err := p.Row(b.ID, b.Signature, output.OrNil(b.Queue), b.Priority, s.Start, s.End, s.Taken, c.Up-s.Taken,
				c.NotUp); err != nil {
				return err
			}
		}
	}
	return p.Close()
}
