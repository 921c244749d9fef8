package store

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
)

// queryCatalog is what a query sees of a transaction. Tables are made when they are
// asked for, and cost nothing until they are looked into.
type queryCatalog struct {
	tx *Tx
	Reader
	names  []string          // of nodes, by number, as far as they were asked for
	late   [64]string        // words that were read of late
	asked  int               // how many names were not known
	nodes  *nodes            // as they are now
	hosts  map[uint32]string // of batches, as far as they were asked for
	ahead  *Outlook          // of the jobs that wait, once it was asked for
	failed error             // the first error of what cannot return one
}

// prospect is how a job stands.
func (c *queryCatalog) prospect(j *Job) (p Prospect) {
	var err error
	if c.ahead == nil {
		c.ahead, err = c.tx.Outlook()
	}
	if err == nil {
		p, err = c.ahead.Prospect(j)
	}
	c.fail(err)
	return p
}

// queryTable is a table that queries know: what it is about, and how it is made for an
// instant (that of the transaction, unless planned says it knows others).
type queryTable struct {
	name, doc string
	planned   bool
	make      func(c *queryCatalog, at int64) (query.Table, error)
}

// queryTables lists the tables in the order in which sys_tables shows them.
func queryTables() []queryTable {
	return []queryTable{
		{"nodes", "one row a node: what it is, has and does", true, nodesTable},
		{"resources", "the resources that the store knows", false, resourcesTable},
		{"node_resources", "one row for each value that a node has of a resource", false, nodeResourcesTable},
		{"buckets", "nodes that are alike, with how many are free", true, bucketsTable},
		{"placement_sets", "nodes that share a value of a group key", false, setsTable},
		{"jobs", "what runs, is planned, waits, and has run", false, jobsTable},
		{"chunks", "one row for each chunk of a job's select", false, chunksTable},
		{"allocations", "one row for each node and chunk of a job that runs or is planned", true, allocationsTable},
		{"reservations", "nodes that are kept for a time", false, reservationsTable},
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
		{"spans", "the calendar: one row for each stretch of time in which somebody has a node", false, spansTable},
		{"sys_tables", "the tables there are", false, sysTables},
		{"sys_columns", "the columns there are, with their units", false, sysColumns},
		{"sys_indexes", "what is known of rows without looking at them", false, sysIndexes},
	}
}

// Table finds a table.
func (c *queryCatalog) Table(name string, at query.Value) (query.Table, error) {
	all := queryTables()
	i := slices.IndexFunc(all, func(t queryTable) bool { return t.name == name })
	if i < 0 {
		return nil, nil
	}
	when := c.tx.now
	if !at.IsNull() {
		if at.Kind() != query.Integer {
			return nil, notAnInstant(at)
		}
		when = at.Int64()
		switch {
		case !all[i].planned:
			return nil, &Conflict{"table " + name, "AT is for nodes, buckets and allocations: nothing else is planned"}
		case when < c.tx.now:
			return nil, &Conflict{"table " + name, "AT " + stamp(when) + " is past: only the present and the planned future are known"}
		}
	}
	return all[i].make(c, when)
}

// Names lists tables and table functions.
func (c *queryCatalog) Names() []string {
	var out []string
	for _, t := range queryTables() {
		out = append(out, t.name)
	}
	for _, f := range queryFunctions() {
		out = append(out, f.name+"(")
	}
	return out
}

// Literal reads a text as a number of a unit.
func (c *queryCatalog) Literal(u query.Unit, text string) (query.Value, error) {
	var n int64
	var err error
	switch text = strings.TrimSpace(text); u {
	case query.Time:
		n, err = c.Time(text)
	case query.Duration:
		n, err = c.Duration(text)
	case query.Bytes:
		if n, err = index.ParseSizeLoose(text); err == nil {
			return sizeValue(n), nil
		}
	}
	return query.Int(n), err
}

// QueryTables describes the tables of queries, for help and completion: by name, with
// their columns.
func (tx *Tx) QueryTables() (names []string, columns map[string][]query.Column, err error) {
	c := tx.catalog(nil)
	columns = make(map[string][]query.Column)
	for _, t := range queryTables() {
		table, err := t.make(c, tx.now)
		if err != nil {
			return nil, nil, err
		}
		names, columns[t.name] = append(names, t.name), table.Columns()
	}
	return names, columns, nil
}

// nodeName is a node's name. When many are asked for all are read at once.
func (c *queryCatalog) nodeName(number uint32) string {
	if int(number) < len(c.names) && c.names[number] != "" {
		return c.names[number]
	}
	if c.names == nil {
		c.names = make([]string, c.tx.state.NextNode)
	}
	if c.asked++; c.asked == max(manyNames, len(c.names)/manyNamesPart) {
		c.readNames()
		return c.nodeName(number)
	}
	name, err := c.tx.nodeName(number)
	c.fail(err)
	if int(number) < len(c.names) {
		c.names[number] = name
	}
	return name
}

// The table of nodes is read as a whole after so many names, and such a part of all: to
// find one takes as long as to read that many.
const (
	manyNames     = 256
	manyNamesPart = 32
)

func (c *queryCatalog) readNames() {
	var v row.NodeView
	c.fail(c.tx.file.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		if v.Open(key, payload) != nil {
			return true, nil // found when it is looked at
		}
		if int(v.Number()) < len(c.names) {
			c.names[v.Number()] = string(v.Name())
		}
		return true, nil
	}))
}

// nodeNames are names folded, NULL for none.
func (c *queryCatalog) nodeNames(numbers []uint32) query.Value {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = c.nodeName(n)
	}
	return query.TextOrNull(index.FoldNodeList(names))
}

func (c *queryCatalog) fail(err error) {
	if err != nil && c.failed == nil {
		c.failed = err
	}
}

// word reads a text, the same one for equal bytes. What was read of late is found by a
// glance at the bytes, without a map.
func (c *queryCatalog) word(b []byte) string {
	late := &c.late[(7*len(b)+31*int(b[0])+int(b[len(b)-1]))%len(c.late)]
	if *late != string(b) {
		*late = c.tx.loaded.words.Of(b)
	}
	return *late
}
