// Package sqldriver reads a database through database/sql:
//
//	db, err := sql.Open("placectl", "cluster.db")
//	rows, err := db.Query("SELECT name, state FROM nodes WHERE ncpus >= ?", 8)
//
// It only reads. The answer of a query is in memory before its first row is read, so that the file is free. Parameters
// are ? and :name. Instants are time.Time, and durations seconds.
package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/placectl/placectl/store"
)

func init() { sql.Register("placectl", opener{}) }

type opener struct{}

// Open is for programs that do not use OpenConnector.
func (opener) Open(path string) (driver.Conn, error) {
	c, err := opener{}.OpenConnector(path)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector opens the database once, for all connections of a pool.
func (opener) OpenConnector(path string) (driver.Connector, error) {
	db, err := store.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return &connector{db, true}, nil
}

// Connector makes a pool for a handle: sql.OpenDB(sqldriver.Connector(db)). The handle stays open when the pool
// is closed.
func Connector(db *store.DB) driver.Connector { return &connector{db, false} }

type connector struct {
	db   *store.DB
	ours bool
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return conn{c.db}, nil }
func (c *connector) Driver() driver.Driver                        { return opener{} }

// Close is called by sql.DB.Close.
func (c *connector) Close() error {
	if !c.ours {
		return nil
	}
	return c.db.Close()
}

type conn struct{ db *store.DB }

func (c conn) Close() error              { return nil }
func (c conn) Begin() (driver.Tx, error) { return nil, readOnly() }

// Prepare looks at the words only, not at the tables.
func (c conn) Prepare(text string) (driver.Stmt, error) {
	_, err := query.Parse(text)
	return stmt{c, text}, err
}

// ExecContext implements driver.ExecerContext.
func (c conn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, readOnly()
}

func readOnly() error {
	return fmt.Errorf("%w: through database/sql a database is only read", store.ErrReadOnly)
}

// QueryContext implements driver.QueryerContext.
func (c conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	q := store.Query{Text: text, Named: make(map[string]any)}
	for _, a := range args {
		if a.Name != "" {
			q.Named[a.Name] = a.Value
		} else {
			q.Args = append(q.Args, a.Value)
		}
	}
	var out *rows
	err := c.db.ViewContext(ctx, func(tx *store.Tx) error {
		is, err := tx.Query(ctx, q)
		if err != nil {
			return err
		}
		out = &rows{columns: is.Columns}
		for is.Next() {
			line, into := make([]driver.Value, len(is.Columns)), make([]any, len(is.Columns))
			for i := range line {
				into[i] = &line[i]
			}
			if err := is.Scan(into...); err != nil {
				return err
			}
			for i, v := range line {
				if d, ok := v.(time.Duration); ok { // a driver has none
					line[i] = int64(d / time.Second)
				}
			}
			out.list = append(out.list, line)
		}
		return is.Err()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

type stmt struct {
	conn
	text string
}

func (s stmt) Close() error                               { return nil }
func (s stmt) NumInput() int                              { return -1 }
func (s stmt) Exec([]driver.Value) (driver.Result, error) { return nil, readOnly() }

func (s stmt) Query([]driver.Value) (driver.Rows, error) { return nil, errors.New("call QueryContext") }

// QueryContext implements driver.StmtQueryContext.
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.text, args)
}

type rows struct {
	columns []tables.Column
	list    [][]driver.Value
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.Name
	}
	return names
}

func (r *rows) Close() error { r.list = nil; return nil }

func (r *rows) Next(to []driver.Value) error {
	if len(r.list) == 0 {
		return io.EOF
	}
	copy(to, r.list[0])
	r.list = r.list[1:]
	return nil
}

// ColumnTypeDatabaseTypeName, ColumnTypeNullable and ColumnTypeScanType implement what sql.ColumnType asks.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if u := r.columns[i].Unit; u != tables.NoUnit {
		return u.String()
	}
	return r.columns[i].Type.String()
}

func (r *rows) ColumnTypeNullable(i int) (nullable, known bool) { return !r.columns[i].NotNull, true }

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	c := r.columns[i]
	switch {
	case c.Unit == tables.Time:
		return reflect.TypeFor[time.Time]()
	case c.Unit == tables.Truth:
		return reflect.TypeFor[bool]()
	case c.Type == values.IntegerAffinity:
		return reflect.TypeFor[int64]()
	case c.Type == values.RealAffinity:
		return reflect.TypeFor[float64]()
	case c.Type == values.TextAffinity:
		return reflect.TypeFor[string]()
	}
	return reflect.TypeFor[any]()
}
