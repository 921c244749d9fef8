package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/sqlshell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/urfave/cli/v2"
)

// Query declares the verb query.
func Query() *session.Verb {
	return &session.Verb{
		Name:     "query",
		Category: "Asking",
		Usage:    "query nodes, jobs and plans in SQL",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "SQL", Kind: verbs.KindSQL, Unless: "file"}},
		Description: "Runs SQLite's SELECT, with joins, subqueries, WITH, windows, UNION, GROUP BY and json_object. " +
			"Sizes, durations\n" +
			"and times in strings compare with columns of that kind: mem >= '64GiB', start < 'now+2h'. Separate " +
			"statements by\n" +
			"semicolons. The first error stops them. SHOW TABLES lists the tables, DESCRIBE jobs the columns of one. " +
			"placectl\n" +
			"help sql has the language and thirty examples, help tables all tables.\n\n" +
			"Functions: nodelist(name) folds names to n[1-9]; in_nodelist(name, 'n[1-9]') and has(features, " +
			"'ssd') are\n" +
			"conditions. Tables with arguments: free_slots(duration [, select]), earliest(select, place, walltime),\n" +
			"timeline(node or bucket), reasons(job), blockers(job), generate_series(from, to, step). FROM nodes " +
			"AT 'now+2h'\n" +
			"reads the planned state at that time; buckets and allocations work too. The table history has past " +
			"allocations.\n\n" +
			"CREATE TEMP VIEW names a query for later statements; placectl view set names one for everyone. EXPLAIN " +
			"shows how\n" +
			"a query is answered, EXPLAIN ANALYZE what it cost.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"},
				Usage: "read the statements from `FILE`, - for standard input"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"},
				Usage: "set parameter :NAME, `NAME=VALUE`, or ?1, 1=VALUE"},
			&cli.StringFlag{Name: "params",
				Usage: "read parameters with their types from a JSON object in `FILE`, - for standard input"},
			&cli.Int64Flag{Name: "max-rows", Usage: "give up after examining `N` rows"},
			&cli.StringFlag{Name: "max-time", Usage: "give up after `D`"},
		},
		Access: verbs.Reads,
		Example: "placectl query \"SELECT state, count(*) FROM nodes GROUP BY state\"\n" +
			"placectl query \"SELECT nodelist(name) FROM nodes WHERE mem >= '64GiB' AND state = 'free'\"\n" +
			"placectl query \"SELECT name FROM nodes AT 'now+2h' WHERE state = 'free' ORDER BY speed DESC LIMIT " +
			"3\" -o id\n" +
			"placectl query \"EXPLAIN SELECT count(*) FROM nodes WHERE ncpus >= :n\" --param n=8",
		Run: runQuery,
	}
}

func runQuery(r *session.Run, c *cli.Context) error {
	process.CollectWithin(query.DefaultLimits.Bytes) // as much as a statement may keep
	text, err := queryText(r, c)
	if err != nil {
		return err
	}
	if listing := sqlshell.Listing(text); listing != "" {
		return sqlshell.List(shellHost{r: r, view: r.View}, listing,
			sqlshell.Settings{Format: r.Output, NoHeader: r.NoHeader, Out: r.Stdout, Terminal: r.Audience().Terminal})
	}
	q := engine.Query{Text: text, Limits: query.Limits{Rows: c.Int64("max-rows")}}
	if err := readParams(r, c, &q); err != nil {
		return err
	}
	limit, err := r.Duration(c, "max-time")
	if err != nil {
		return err
	}
	list, err := query.Parse(text)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return usage.Errorf("there is no statement")
	}
	q.Views = make(map[string]*syntax.View)
	asked := 0
	for _, statement := range list {
		if statement.View != nil {
			if err := sqlshell.SetView(q.Views, text, statement.View); err != nil {
				return err
			}
			continue
		}
		if asked++; asked > 1 && r.Tx != nil {
			return usage.Of("tx", "query has more than one statement: in a transaction each needs a line of its own")
		}
		if asked > 1 && r.Audience().Brief {
			fmt.Fprintln(r.Stdout)
		}
		if err := ask(r, r.View, statement, q, limit); err != nil {
			return err
		}
	}
	return nil
}

// queryText returns the SQL: the argument, or the content of --file.
func queryText(r *session.Run, c *cli.Context) (string, error) {
	if !c.IsSet("file") {
		return c.Args().First(), nil
	}
	if c.NArg() > 0 {
		return "", usage.Errorf("either SQL or --file")
	}
	in, err := r.Input(c.String("file"))
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, 1<<20))
	return string(text), err
}

// readParams reads --params and --param.
func readParams(r *session.Run, c *cli.Context, q *engine.Query) error {
	var given sqlshell.Settings
	if c.IsSet("params") {
		in, err := r.Input(c.String("params"))
		if err != nil {
			return err
		}
		defer in.Close()
		object, err := io.ReadAll(io.LimitReader(in, 16<<20))
		if err == nil {
			err = given.SetParams(object)
		}
		if err != nil {
			return usage.Errorf("--params: %w", err)
		}
	}
	for _, p := range c.StringSlice("param") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return usage.Errorf("--param: %s is not NAME=VALUE", text.Quoted(p))
		}
		if err := given.SetParam(name, value); err != nil {
			return usage.Errorf("--param: %w", err)
		}
	}
	q.Named, q.Args = given.Named, given.Args()
	return nil
}

// ask runs one statement on what view reads, and prints its answer. Meanwhile it shows how many rows it
// has read.
func ask(r *session.Run, view func(func(*engine.Tx) error) error, statement *syntax.Statement, q engine.Query,
	limit time.Duration) error {
	ctx := r.Ctx
	q.Zone = r.Loc
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	if r.Audience().Progress {
		bar := r.Progress("rows looked at", 0)
		defer bar.Done()
		q.Progress = bar.Add
	}
	err := view(func(tx *engine.Tx) error {
		rows, err := tx.Query(ctx, statement, q)
		if err != nil {
			return err
		}
		return printRows(r, rows)
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return &fault.LimitError{What: fmt.Sprintf("milliseconds (--max-time %s)", text.FormatDuration(limit)),
			Limit: limit.Milliseconds()}
	}
	return err
}

// printRows prints an answer.
func printRows(r *session.Run, rows *engine.Rows) error {
	var p *output.Printer
	cells := make([]any, len(rows.Columns))
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		if p == nil {
			p = r.Printer(queryResult(rows.Columns, row))
		}
		for i, v := range row {
			switch unit := rows.Columns[i].Unit; {
			case rows.Columns[i].JSON && v.Kind() == values.Text && r.Audience().Document:
				cells[i] = json.RawMessage(v.String())
			case unit == tables.Truth && v.Kind() == values.Integer:
				cells[i] = v.Int64() != 0
			case v.Kind() == values.Real && unit != tables.Time:
				cells[i] = output.Real{Number: v.Float64(), Text: v.String()}
			default:
				cells[i] = v.Any()
			}
		}
		if err := p.Row(cells...); err != nil {
			return err
		}
	}
	if p == nil {
		p = r.Printer(queryResult(rows.Columns, nil))
	}
	return p.Close()
}

// queryResult describes an answer's columns. A column without a declared type has the type of its
// value in the first row.
func queryResult(columns []tables.Column, first []values.Value) output.Result {
	res := output.Result{Exact: true}
	for i, c := range columns {
		col := output.Column{Name: c.Name, Kind: queryKind(c)}
		if col.Kind == output.Text && first != nil && c.Type != values.TextAffinity {
			col.Kind = map[values.Kind]output.Kind{values.Integer: output.Integer,
				values.Real: output.Number}[first[i].Kind()]
		}
		res.Columns = append(res.Columns, col)
	}
	return res
}

func queryKind(c tables.Column) output.Kind {
	switch c.Unit {
	case tables.Time:
		return output.Time
	case tables.Duration:
		return output.Duration
	case tables.Bytes:
		return output.Size
	case tables.Truth:
		return output.Boolean
	}
	switch c.Type {
	case values.IntegerAffinity:
		return output.Integer
	case values.RealAffinity:
		return output.Number
	}
	return output.Text
}
