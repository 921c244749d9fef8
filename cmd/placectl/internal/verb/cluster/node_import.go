package cluster

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

func nodeImportVerb() *session.Verb {
	return &session.Verb{
		Name:  "import",
		Usage: "add or change nodes from a file, all or nothing",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile}},
		Description: "FILE (- for standard input) is CSV or JSON. CSV has a header with name, then any of queue, " +
			"priority, state,\n" +
			"speed, procspeed, load, usage, features (a|b), access, sharing, priorityf, reason, and one column a " +
			"resource;\n" +
			"an empty cell says nothing. JSON is an array of objects, or one object a line; null removes a value.\n\n" +
			`  {"name":"n1","queue":"fast","features":["ssd"],"resources":{"ncpus":8,"mem":"32gb","color":"red"}}` +
			"\n\n" +
			"A size has a unit, as 512mb, 32gb or 1.5TiB, or --unit gives it one. What the file does not " +
			"mention stays as\n" +
			"it is. Missing queues are created. Fields that `node list` works out (number, bucket, jobs, free_until," +
			"\n" +
			"NAME_free) are skipped, so you can import its CSV and JSON. If there is a column bucket, sizes are " +
			"in bytes,\n" +
			"as it prints them.\n\n" +
			"The output of PBS and Slurm is read too, and recognised by its beginning: pbsnodes -a and -F " +
			"json, also of\n" +
			"Torque; scontrol show nodes, also with --json. Then missing resources are created, with the type that " +
			"their\n" +
			"values show, and each field that is not imported is named on a line.\n" +
			"--map gives a field of the file one of our names; --skip skips it. With them you can import any CSV, " +
			"separated\n" +
			"by , or ; or tabs, or by blanks. docs/recipes.md has lines for Flux, Ansible and a list of hosts.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "from", Value: "auto", Usage: "`FORMAT` of the file"},
				nodefile.Formats()...),
			session.UnitFlag(),
			&cli.StringSliceFlag{Name: "map", Usage: "use the file's field `HEADER=FIELD[:UNIT]` as field or " +
				"resource FIELD, in B, KiB to TiB, s, min or h; repeatable"},
			&cli.StringSliceFlag{Name: "skip", Usage: "ignore the file's field `HEADER`; repeatable"},
			&cli.StringFlag{Name: "default-partition", Usage: "make no queue of Slurm's partition `P` (the default " +
				"one in the file, or in slurm.conf in its folder)"},
		},
		Access: verbs.Writes,
		Example: "placectl node import nodes.csv\nplacectl node import inventory.csv --unit mem=gb\nplacectl node " +
			"import hosts.csv --map Hostname=name --map RAM=mem:GiB --skip notes\nscontrol show nodes | placectl " +
			"node import -\nplacectl node list -o json | placectl --db copy.db node import -",
		Run: nodeImport,
	}
}

// importSummary counts what an import changed.
type importSummary struct {
	added, updated, unchanged int
	nodes                     int // in the store after the import
	queues                    []string
	has                       map[index.ResID]map[string]bool // the nodes of the file with an amount
	names                     []string                        // of those added or updated
}

// everyNodes are resources that every machine has. One that lacks them was not asked well.
var everyNodes = []string{"ncpus", "mem"}

func nodeImport(r *session.Run, c *cli.Context) error {
	from, err := verbs.Chosen(c, "from")
	if err != nil {
		return err
	}
	name := c.Args().First()
	f, err := readNodeFile(r, c, name, from)
	if err == nil && len(f.Nodes) == 0 {
		err = f.Errorf(0, "it has no nodes")
	}
	if err != nil {
		return session.Malformed(err)
	}
	return session.Malformed(r.Update(c, func(tx *engine.Tx) error {
		sum, err := importNodes(r, tx, f)
		if err != nil {
			return err
		}
		r.SayMoved(tx)
		return sayImport(r, f, sum)
	}))
}

// sayImport reports what the import changed.
func sayImport(r *session.Run, f *nodefile.File, sum importSummary) error {
	for _, def := range f.Made {
		what := def.Name + "=" + def.Type.String()
		if def.Consumable {
			what += ",consumable"
		}
		r.Notef("resource %s was missing: created as %s", def.Name, what)
	}
	for _, u := range f.Unmapped {
		r.Notef("unmapped: %s", u)
	}
	for _, q := range sum.queues {
		r.Notef("queue %s was missing: created", q)
	}
	for _, def := range f.Defs.All() {
		has := sum.has[def.ID]
		lacks := slices.DeleteFunc(slices.Clone(sum.names), func(n string) bool { return has[n] })
		if len(has) > 0 && len(lacks) > 0 {
			r.Notef("without %s, which others have: %s", def.Name, index.FoldNodeList(lacks))
		}
	}
	if len(f.Computed) > 0 {
		r.Notef("skipped, because they are computed: %s", strings.Join(slices.Sorted(maps.Keys(f.Computed)), ", "))
	}
	return printImport(r, sum)
}

// readNodeFile reads and parses the file, given the resources declared so far.
func readNodeFile(r *session.Run, c *cli.Context, name, format string) (*nodefile.File, error) {
	var defs *index.Defs
	if err := r.View(func(tx *engine.Tx) (err error) {
		defs, err = tx.Config().Resources()
		return err
	}); err != nil {
		return nil, err
	}
	units, err := readUnits(c, defs)
	if err != nil {
		return nil, err
	}
	columns, err := nodefile.ParseColumns(c.StringSlice("map"), c.StringSlice("skip"))
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	text, err := r.ReadText(name)
	if err != nil {
		return nil, err
	}
	opt := nodefile.Options{Format: format, Units: units, Columns: columns,
		DefaultPartition: c.String("default-partition")}
	if name != "-" {
		opt.Beside = func(other string) ([]byte, bool) {
			in, err := os.Open(filepath.Join(filepath.Dir(name), other))
			if err != nil {
				return nil, false
			}
			defer in.Close()
			data, err := infile.ReadAll(in)
			return data, err == nil
		}
	}
	return nodefile.Parse(text, defs, opt)
}

// importNodes writes the contents of the file to the database.
func importNodes(r *session.Run, tx *engine.Tx, f *nodefile.File) (sum importSummary, err error) {
	defs, err := tx.Config().Resources()
	if err != nil {
		return sum, err
	}
	if !slices.Equal(defs.All(), f.Base.All()) {
		return sum,
			&engine.Conflict{What: "resources",
				Why: "some were declared or forgotten while the file was read; run it again"}
	}
	for _, def := range f.Made {
		if err := tx.Config().AddResource(def); err != nil {
			return sum, err
		}
	}
	if sum.queues, err = makeQueues(tx, f); err != nil {
		return sum, err
	}
	sum.has = make(map[index.ResID]map[string]bool)
	const step = 256 // nodes between looks at the clock and at an interrupt
	bar := r.Progress("import", int64(len(f.Nodes)))
	defer bar.Done()
	for i := range f.Nodes {
		if i%step == step-1 {
			bar.Add(step)
			if err := r.Ctx.Err(); err != nil {
				return sum, err
			}
		}
		if err := sum.upsert(tx, f, &f.Nodes[i]); err != nil {
			return sum, err
		}
	}
	buckets, err := tx.Ask().Buckets()
	for _, b := range buckets {
		sum.nodes += b.Up + b.NotUp
	}
	return sum, err
}

// makeQueues makes the queues of the file that do not exist yet, and returns their names.
func makeQueues(tx *engine.Tx, f *nodefile.File) ([]string, error) {
	list, err := tx.Queues().All()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{"": true}
	for _, q := range list {
		known[q.Name] = true
	}
	made := []string{}
	for i := range f.Nodes {
		if q := f.Nodes[i].Queue; !known[q] {
			known[q] = true
			made = append(made, q)
		}
	}
	slices.SortFunc(made, cmp.Compare)
	for _, q := range made {
		if err := tx.Queues().Add(engine.Queue{Name: q}); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// notSplit refuses to add a node beside the parts into which it was split: its resources would
// count twice. A node from PBS is in the file with its parts, and the file says what each has. A
// split node nearly always has a part 0 or 1.
func notSplit(tx *engine.Tx, f *nodefile.File, name string) error {
	for group := range 2 {
		part := index.PartName(name, group)
		number, exists, err := tx.Nodes().Number(part)
		if err != nil || !exists || f.Names(part) {
			if err != nil {
				return err
			}
			continue
		}
		n, err := tx.Nodes().ByNumber(number)
		if err != nil {
			return err
		}
		if n.IsPart(name) {
			return &engine.Conflict{What: "node " + name,
				Why: "it is split, and " + part + " is a part of it; placectl node join " + name +
					" makes it one again"}
		}
	}
	return nil
}

// upsert adds a node, or changes it if it differs.
func (sum *importSummary) upsert(tx *engine.Tx, f *nodefile.File, p *nodefile.Patch) error {
	number, exists, err := tx.Nodes().Number(p.Name)
	if err != nil {
		return err
	}
	var n *index.Node
	changed := true
	if exists {
		old, err := tx.Nodes().ByNumber(number)
		if err != nil {
			return err
		}
		n, changed, err = p.Change(old)
		if err != nil {
			return f.Errorf(p.At, "node %s: %w", p.Name, err)
		}
	} else if n, err = p.Create(p.Name); err != nil {
		return f.Errorf(p.At, "node %s: %w", p.Name, err)
	} else if err := notSplit(tx, f, p.Name); err != nil {
		return err
	}
	for _, def := range f.Defs.All() {
		if _, ok := n.Get(def.ID); ok && slices.Contains(everyNodes, def.Name) {
			if sum.has[def.ID] == nil {
				sum.has[def.ID] = make(map[string]bool)
			}
			sum.has[def.ID][p.Name] = true
		}
	}
	switch {
	case !changed:
		sum.unchanged++
		return nil
	case exists:
		sum.updated++
	default:
		sum.added++
	}
	sum.names = append(sum.names, p.Name)
	_, err = tx.Nodes().Put(n)
	return err
}

func printImport(r *session.Run, sum importSummary) error {
	return r.Either(session.IsTable, func() error { return printImported(r, sum, false) }, func() error {
		return printImported(r, sum, true)
	})
}

// printImported prints the summary as a row or a record. For people it leaves out queues if there
// are none.
func printImported(r *session.Run, sum importSummary, record bool) error {
	var queues any = sum.queues
	if len(sum.queues) == 0 && r.Audience().Brief {
		queues = nil
	}
	p := r.Printer(output.Result{Record: record, ID: 3, Columns: []output.Column{
		{Name: "added", Kind: output.Integer}, {Name: "updated", Kind: output.Integer},
		{Name: "unchanged", Kind: output.Integer},
		{Name: "changed", Kind: output.Integer}, {Name: "nodes", Kind: output.Integer},
		{Name: "queues", Kind: output.List, Detail: !record && len(sum.queues) == 0},
	}})
	p.Row(sum.added, sum.updated, sum.unchanged, sum.added+sum.updated, sum.nodes, queues)
	return p.Close()
}
