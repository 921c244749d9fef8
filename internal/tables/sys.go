package tables

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

func sysTables(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[queryTable]{[]getter[queryTable]{
		textColumn("name", "name of the table", func(t *queryTable) string { return t.name }),
		boolColumn("planned", "AT can show it in the future", func(t *queryTable) bool { return t.planned }),
		textColumn("meaning", "meaning of its rows", func(t *queryTable) string { return t.doc }),
	}, func(add func(queryTable)) error {
		for _, t := range queryTables() {
			add(t)
		}
		return nil
	}}, nil
}

// sysColumn is a column of a table.
type sysColumn struct {
	table string
	tables.Column
	number int
}

func sysColumns(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[sysColumn]{[]getter[sysColumn]{
		textColumn("table_name", "name of the table", func(s *sysColumn) string { return s.table }),
		intColumn("number", "position, from 1", func(s *sysColumn) int64 { return int64(s.number) }),
		textColumn("name", "name of the column", func(s *sysColumn) string { return s.Name }),
		textColumn("type", "INTEGER, REAL or TEXT", func(s *sysColumn) string { return s.Type.String() }),
		textColumn("unit", "time, duration, bytes, truth or nodes", func(s *sysColumn) string {
			return s.Unit.String()
		}),
		textColumn("meaning", "meaning of the column", func(s *sysColumn) string { return s.Doc }),
	}, func(add func(sysColumn)) error {
		for _, t := range queryTables() {
			table, err := t.make(c, c.src.Now)
			if err != nil {
				return err
			}
			for i, col := range table.Columns() {
				add(sysColumn{t.name, col, i + 1})
			}
		}
		return nil
	}}, nil
}

// sysIndex is a way in which a table finds rows without reading all.
type sysIndex struct{ table, column, how string }

func sysIndexes(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[sysIndex]{[]getter[sysIndex]{
		textColumn("table_name", "name of the table", func(s *sysIndex) string { return s.table }),
		textColumn("column_name", "name of the column", func(s *sysIndex) string { return s.column }),
		textColumn("how", "bitmap: any condition; key: equality; order: ranges in row order; range: ranges in "+
			"another order", func(s *sysIndex) string { return s.how }),
	}, func(add func(sysIndex)) error {
		for _, t := range queryTables() {
			table, err := t.make(c, c.src.Now)
			if err != nil {
				return err
			}
			indexed, _ := table.(tables.Indexed)
			keyed, _ := table.(tables.Keyed)
			ordered, _ := table.(tables.Ordered)
			ranged, _ := table.(tables.Ranged)
			for i, col := range table.Columns() {
				if indexed != nil {
					if _, ok := indexed.Split([]int{i}); ok {
						add(sysIndex{t.name, col.Name, "bitmap"})
						continue
					}
					if _, ok := indexed.Find(tables.Find{Column: i, Op: tables.FindHas, Value: values.String("")}); ok {
						add(sysIndex{t.name, col.Name, "bitmap a word"})
					}
				}
				if ordered != nil && ordered.Order() == i {
					add(sysIndex{t.name, col.Name, "order"})
				}
				if ranged != nil {
					if _, ok := ranged.Between(i, 2, 1); ok {
						add(sysIndex{t.name, col.Name, "range"})
					}
				}
				if keyed != nil {
					if _, ok := keyed.Lookup(i, values.Value{}); ok {
						add(sysIndex{t.name, col.Name, "key"})
					}
				}
			}
		}
		return nil
	}}, nil
}
