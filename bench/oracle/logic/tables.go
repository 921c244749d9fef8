package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/placectl/placectl/bench/oracle"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/query"
)

// run runs the records of a file.
func run(file string, memory bool, most int, total *tally) error {
	if total.begun.IsZero() {
		total.begun = time.Now()
	}
	lite, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer lite.Close()
	lite.SetMaxOpenConns(1)
	var at asked
	defer func() { at.close() }()
	stale, n := true, 0
	return each(file, func(r record) error {
		if n++; most > 0 && n > most {
			return nil
		}
		if !r.query {
			_, err := lite.Exec(r.text)
			if (err != nil) != r.fails {
				return fmt.Errorf("line %d: SQLite: %v", r.line, err)
			}
			stale = stale || !strings.Contains(r.text, " INDEX ")
			return nil
		}
		if stale {
			at.close()
			if at, err = tablesOf(lite, memory); err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
			stale = false
		}
		total.asked++
		if at.db != nil {
			total.nodes++
		}
		rows, err := at.ask(r.text)
		var bad *fault.Error
		if errors.As(err, &bad) {
			total.refused[bad.Msg]++
			if total.refused[bad.Msg] == 1 && total.show > 0 {
				fmt.Printf("\n%s:%d: %s\n  refused: %s\n", file, r.line, r.text, bad.Msg)
			}
			return nil
		}
		why := ""
		if err != nil {
			why = err.Error()
		} else {
			why = r.differs(rows)
		}
		if why != "" {
			if total.wrong++; total.wrong <= total.show {
				fmt.Printf("\n%s:%d: %s\n  %s\n", file, r.line, r.text, why)
			}
		}
		return nil
	})
}

// asked is what queries run on: nodes in a database, or tables in memory.
type asked struct {
	db     *engine.DB
	dir    string
	memory oracle.Tables
	views  map[string]*syntax.View
}

func (a *asked) close() {
	if a.db != nil {
		a.db.Close()
		os.RemoveAll(a.dir)
	}
}

func (a *asked) ask(text string) (rows [][]values.Value, err error) {
	if a.db != nil {
		answer, err := a.db.Query(context.Background(), text)
		if err != nil {
			return nil, err
		}
		for row, err := range answer.All() {
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
	list, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	s, err := query.Prepare(a.memory, text, list[0], query.Options{Views: a.views})
	if err != nil {
		return nil, err
	}
	for row, err := range s.Rows() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]values.Value(nil), row...))
	}
	return rows, nil
}

// table is a table of SQLite.
type table struct {
	name string
	tables.Memory
}

// read reads tables and views from SQLite.
func read(lite *sql.DB) (tables []table, views []engine.SQLView, err error) {
	rows, err := lite.Query("SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		var name, kind, text string
		if err := rows.Scan(&name, &kind, &text); err != nil {
			return nil, nil, err
		}
		if kind == "view" {
			views = append(views, engine.SQLView{Name: strings.ToLower(name),
				Select: asSelect.ReplaceAllString(text, "")})
		} else {
			tables = append(tables, table{name: strings.ToLower(name)})
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, nil, err
	}
	for i := range tables {
		if err := tables[i].fill(lite); err != nil {
			return nil, nil, err
		}
	}
	return tables, views, nil
}

var asSelect = regexp.MustCompile(`(?is)^CREATE\s+VIEW\s+\S+\s+AS\s+`)

// affinity returns the affinity of a column from its declaration.
func affinity(declared string) values.Affinity {
	switch d := strings.ToUpper(declared); {
	case strings.Contains(d, "INT"):
		return values.IntegerAffinity
	case strings.Contains(d, "CHAR"), strings.Contains(d, "TEXT"):
		return values.TextAffinity
	}
	return values.RealAffinity
}

func (t *table) fill(lite *sql.DB) error {
	rows, err := lite.Query("SELECT * FROM " + t.name)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	into := make([]any, len(types))
	for i, c := range types {
		t.Cols = append(t.Cols, tables.Column{Name: strings.ToLower(c.Name()), Type: affinity(c.DatabaseTypeName())})
		into[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := make([]values.Value, len(into))
		for i := range into {
			switch v := (*into[i].(*any)).(type) {
			case int64:
				row[i] = values.Int(v)
			case float64:
				row[i] = values.Float(v)
			case string:
				row[i] = values.String(v)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return rows.Err()
}

// nodes reports whether rows can be nodes.
func (t *table) nodes() bool {
	for _, row := range t.Rows {
		for i, v := range row {
			switch x := v.Any().(type) {
			case int64:
				if x < 0 || x > math.MaxInt32 || t.Cols[i].Type != values.IntegerAffinity {
					return false
				}
			case float64:
				if t.Cols[i].Type != values.RealAffinity {
					return false
				}
			case string:
				if x == "" || strings.TrimSpace(x) != x || strings.ContainsAny(x, ",+:=\"'") ||
					t.Cols[i].Type != values.TextAffinity {
					return false
				}
			}
		}
	}
	return true
}

// tablesOf makes nodes of SQLite's tables, or tables in memory.
func tablesOf(lite *sql.DB, memory bool) (a asked, err error) {
	tables, views, err := read(lite)
	if err != nil {
		return a, err
	}
	for i := range tables {
		memory = memory || !tables[i].nodes()
	}
	if !memory {
		return nodesOf(tables, views)
	}
	a.memory, a.views = oracle.Tables{}, map[string]*syntax.View{}
	for i := range tables {
		a.memory[tables[i].name] = &tables[i].Memory
	}
	for _, v := range views {
		list, err := query.Parse(v.Select)
		if err != nil {
			return a, err
		}
		a.views[v.Name] = &syntax.View{Name: v.Name, Select: list[0].Select}
	}
	return a, nil
}

// nodesOf makes a database whose nodes are the rows.
func nodesOf(tables []table, views []engine.SQLView) (a asked, err error) {
	if a.dir, err = os.MkdirTemp("", "placectl-logic-"); err != nil {
		return a, err
	}
	path := filepath.Join(a.dir, "db")
	opt := &engine.Options{}
	if err := engine.Create(path, opt, nil); err != nil {
		return a, err
	}
	if a.db, err = engine.Open(path, opt); err != nil {
		return a, err
	}
	return a, a.db.Update(func(tx *engine.Tx) error {
		for i := range tables {
			if err := tables[i].put(tx); err != nil {
				return err
			}
		}
		for _, v := range views {
			if err := tx.Views().Set(v); err != nil {
				return err
			}
		}
		return nil
	})
}

// put makes a queue from a table.
func (t *table) put(tx *engine.Tx) error {
	if err := tx.Queues().Add(engine.Queue{Name: t.name}); err != nil {
		return err
	}
	var columns []string
	for i, c := range t.Cols { // the buckets know every other column
		d := index.Def{Name: t.name + "_" + c.Name, Unique: i%2 == 1, Type: map[values.Affinity]index.Type{
			values.IntegerAffinity: index.Long, values.RealAffinity: index.Float,
			values.TextAffinity: index.String}[c.Type]}
		if err := tx.Config().AddResource(d); err != nil {
			return err
		}
		columns = append(columns, d.Name+" AS "+syntax.Name{Text: c.Name}.String())
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	for n, row := range t.Rows {
		node := &index.Node{Name: fmt.Sprintf("%s-%d", t.name, n), Queue: t.name}
		for i, v := range row {
			if v.IsNull() {
				continue
			}
			d, _ := defs.Lookup(t.name + "_" + t.Cols[i].Name)
			value, err := d.ParseValue(v.String())
			if err != nil {
				return err
			}
			node.Set(d.ID, value)
		}
		if _, err := tx.Nodes().Put(node); err != nil {
			return err
		}
	}
	return tx.Views().Set(engine.SQLView{Name: t.name, Select: "SELECT " + strings.Join(columns, ", ") +
		" FROM nodes WHERE queue = '" + t.name + "'"})
}
