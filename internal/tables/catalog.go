package tables

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Catalog is a store as queries see it. Tables are made on demand, and cost nothing until they
// are read.
type Catalog struct {
	src     *source
	zone    *time.Location            // of times without a zone
	few     map[uint32]string         // names of nodes read so far, until
	names   []string                  // all names are known, by number
	late    [64]string                // recent words
	nodes   *nodeTable                // of now
	hosts   map[uint32]string         // of batches, as far as needed
	selects map[string][]placer.Chunk // requests of jobs, as far as needed
	kinds   []subject.Names           // of jobs, once needed
	views   map[string]*syntax.View   // stored views, as far as needed
	failed  error                     // the first error of methods that cannot return one
}

// New returns the tables of a transaction.
func New(tx *kernel.Tx) *Catalog { return &Catalog{src: sourceOf(tx)} }

// Begin begins another query of the same store, with times in a zone, nil for UTC.
func (c *Catalog) Begin(zone *time.Location) {
	if c.zone, c.failed = zone, nil; zone == nil {
		c.zone = time.UTC
	}
}

// seconds reads a duration, which may have a sign, such as -7d.
func seconds(words string) (int64, error) {
	positive, negative := strings.CutPrefix(words, "-")
	d, err := text.ParseDuration(positive)
	if negative {
		d = -d
	}
	return int64(d / time.Second), err
}

// time reads an instant in words.
func (c *Catalog) time(words string) (time.Time, error) {
	return text.ParseTime(words, time.Unix(c.src.Now, 0), c.zone)
}

// Err returns the first error of methods that cannot return one.
func (c *Catalog) Err() error { return c.failed }

// queryTable is a table for queries: its description, and the function that makes it for an
// instant. That is the transaction's instant, unless planned says that the table has others.
type queryTable struct {
	name, doc string
	planned   bool
	make      func(c *Catalog, at int64) (tables.Table, error)
}

// queryTables lists the tables in the order in which sys_tables shows them.
func queryTables() []queryTable {
	return []queryTable{
		{"nodes", "one row a node: what it is, has and does", true, nodesTable},
		{"resources", "the resources that the store knows", false, resourcesTable},
		{"node_resources", "one row for each value that a node has of a resource", false, nodeResourcesTable},
		{"devices", "one row for each device that a node names, and the job that has it", false, devicesTable},
		{"buckets", "nodes that are alike, with how many are free", true, bucketsTable},
		{"placement_sets", "nodes that share a value of a group key", false, setsTable},
		{"jobs", "what runs, is planned, waits, and has run", false, jobsTable},
		{"attempts", "one row for each start of a job: who executed it, how it ended, what it used", false,
			attemptsTable},
		{"beats", "who executes attempts where, and when they were last heard of", false, beatsTable},
		{"history", "one row for each start of a job and node that it had, from when to when; ended ones too", false,
			historyTable},
		{"capacity", "what all nodes together had: one row for each time that changed", false, capacityTable},
		{"usage", "what jobs have had, by month, user, group, account, class and queue; those archived, too", false,
			usageTable},
		{"chunks", "one row for each chunk of a job's select", false, chunksTable},
		{"allocations", "one row for each node and chunk of a job that runs or is planned", true, allocationsTable},
		{"reservations", "nodes that are kept for a time", false, reservationsTable},
		{"pools", "amounts of the whole cluster, and what is held of them", true, poolsTable},
		{"pool_use", "one row for each job and reservation that holds some of a pool, or is to", false, poolUseTable},
		{"limits", "how much some may have at once; how many jobs of arrays may run", false, limitsTable},
		{"limit_use", "how much of them is used, one row for each of those whom they are counted for", false,
			limitUseTable},
		{"forecasts", "when those who wait are expected to start", false, forecastsTable},
		{"forecast_record", "what became of the last forecasts: those made at submission, and later ones " +
			"drawn at random", false, forecastRecordTable},
		{"preempts", "whose jobs make way for whose", false, preemptsTable},
		{"priorities", "the priority numbers of users, groups, accounts, classes and queues", false, prioritiesTable},
		{"decayed", "what jobs have had, where what lies back counts less: for FAIRSHARE, USAGE and TARGET", false,
			decayedTable},
		{"events", "what has become of jobs, nodes and reservations", false, eventsTable},
		{"classes", "the classes that shares are of, with what each has now and may have", false, classesTable},
		{"class_map", "which requestors are in which class", false, classMapTable},
		{"batches", "jobs that share files, and how far they are", false, batchesTable},
		{"batch_files", "the files of batches, in their order", false, batchFilesTable},
		{"batch_jobs", "the jobs of batches, and who had them", false, batchJobsTable},
		{"hosts", "who works in batches, and how fast", false, hostsTable},
		{"batch_hosts", "the part of each host in each batch", false, batchHostsTable},
		{"cursors", "the ranges of batches, and how far each is", false, cursorsTable},
		{"queues", "the queues", false, queuesTable},
		{"config", "the settings, with their defaults", false, configTable},
		{"spans", "the calendar: one row for each stretch of time for which a node is taken", false, spansTable},
		{"sys_tables", "the tables there are", false, sysTables},
		{"sys_columns", "the columns there are, with their units", false, sysColumns},
		{"sys_views", "the queries that are kept with a name", false, sysViews},
		{"sys_indexes", "what is known of rows without looking at them", false, sysIndexes},
	}
}

// Table finds a table.
func (c *Catalog) Table(name string, at values.Value) (tables.Table, error) {
	all := queryTables()
	i := slices.IndexFunc(all, func(t queryTable) bool { return t.name == name })
	if i < 0 {
		return nil, nil
	}
	when := c.src.Now
	if !at.IsNull() {
		if at.Kind() != values.Integer {
			return nil, notAnInstant(at)
		}
		when = at.Int64()
		switch {
		case !all[i].planned:
			return nil,
				conflict("table " + name + ": AT is for nodes, buckets, allocations and pools: nothing else is planned")
		case when < c.src.Now && name == "allocations":
			return allocationsPast(c, when)
		case when < c.src.Now && name == "nodes":
			return nodesPastTable(c, when)
		case when < c.src.Now:
			return nil, conflict("table " + name + ": AT " + row.Stamp(when) + " is past: of that only nodes and " +
				"allocations are known; the table history has who had which node when")
		}
	}
	return all[i].make(c, when)
}

// conflict is an ErrConflict with its own words.
type conflict string

func (c conflict) Error() string { return string(c) }

// Unwrap makes errors.Is see ErrConflict.
func (conflict) Unwrap() error { return row.ErrConflict }

// Names lists tables and table functions.
func (c *Catalog) Names() []string {
	var out []string
	for _, t := range queryTables() {
		out = append(out, t.name)
	}
	for _, f := range queryFunctions() {
		out = append(out, f.name+"(")
	}
	c.fail(c.eachView(func(v *row.View) error { out = append(out, v.Name); return nil }))
	return out
}

// Literal reads a text as a number of a unit.
func (c *Catalog) Literal(u tables.Unit, words string) (values.Value, error) {
	var n int64
	var err error
	switch words = strings.TrimSpace(words); u {
	case tables.Time:
		var t time.Time
		t, err = c.time(words)
		n = t.Unix()
	case tables.Duration:
		n, err = seconds(words)
	case tables.Bytes:
		if n, err = index.ParseSizeLoose(words); err == nil {
			return sizeValue(n), nil
		}
	}
	return values.Int(n), err
}

// Columns describes the tables: by name, in the order in which they are shown.
func (c *Catalog) Columns() (names []string, columns map[string][]tables.Column, err error) {
	columns = make(map[string][]tables.Column)
	for _, t := range queryTables() {
		table, err := t.make(c, c.src.Now)
		if err != nil {
			return nil, nil, err
		}
		names, columns[t.name] = append(names, t.name), table.Columns()
	}
	return names, columns, nil
}

// nodeName returns a node's name. After many requests it reads all names at once.
func (c *Catalog) nodeName(number uint32) string {
	if int(number) < len(c.names) && c.names[number] != "" {
		return c.names[number]
	}
	name, ok := c.few[number]
	if ok {
		return name
	}
	if c.names == nil && len(c.few) >= max(manyNames, int(c.src.NextNode)/manyNamesPart) {
		c.readNames()
		return c.nodeName(number)
	}
	name, err := c.readName(number)
	c.fail(err)
	c.named(number, name)
	return name
}

// named caches a name that was read.
func (c *Catalog) named(number uint32, name string) {
	if c.few == nil {
		c.few = make(map[uint32]string)
	}
	c.few[number] = name
}

// readName reads only the name of a node. A removed node, which ended jobs may still name, is
// called by its number: #7.
func (c *Catalog) readName(number uint32) (string, error) {
	v, ok, err := c.view(number)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "#" + strconv.FormatUint(uint64(number), 10), nil
	}
	return string(v.Name()), v.Err()
}

// view opens the row of a node, if there is one.
func (c *Catalog) view(number uint32) (v row.NodeView, ok bool, err error) {
	key := row.Key32(number)
	payload, err := c.src.Rows.Get(row.Nodes, key)
	if err != nil || payload == nil {
		return v, false, err
	}
	return v, true, v.Open(key, payload)
}

// nodeNumber finds a node by its name.
func (c *Catalog) nodeNumber(name string) (number uint32, ok bool, err error) {
	payload, err := c.src.Rows.Get(row.NodeNames, []byte(name))
	if err != nil || payload == nil {
		return 0, false, err
	}
	number, err = row.DecodeNumber32(row.NodeNames, []byte(name), payload)
	return number, err == nil, err
}

// eachNode calls fn for the nodes by number, until fn fails.
func (c *Catalog) eachNode(fn func(*index.Node) error) error {
	return c.src.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		n, err := row.DecodeNode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(n)
	})
}

// The whole table of nodes is read after this many names, and this fraction of all, because
// finding one takes as long as reading that many in order.
const (
	manyNames     = 256
	manyNamesPart = 32
)

func (c *Catalog) readNames() {
	c.names = make([]string, c.src.NextNode)
	var v row.NodeView
	c.fail(c.src.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		if v.Open(key, payload) != nil {
			return true, nil // it is found when the row is read
		}
		if int(v.Number()) < len(c.names) {
			c.names[v.Number()] = string(v.Name())
		}
		return true, nil
	}))
}

// nodeNames returns folded names, or NULL for none.
func (c *Catalog) nodeNames(numbers []uint32) values.Value {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = c.nodeName(n)
	}
	return values.TextOrNull(index.FoldNodeList(names))
}

func (c *Catalog) fail(err error) {
	if err != nil && c.failed == nil {
		c.failed = err
	}
}

// word returns a text, the same string for equal bytes. Recent texts are found from a few of
// their bytes, without a map.
func (c *Catalog) word(b []byte) string {
	late := &c.late[(7*len(b)+31*int(b[0])+int(b[len(b)-1]))%len(c.late)]
	if *late != string(b) {
		*late = c.src.Words.Of(b)
	}
	return *late
}
