// Command compare measures queries on a large store: the first query of a handle, a repeated one, one in
// a process of its own, and SQLite on its own copy of the rows. SQLite has indexes on what placectl has
// bitmaps of. The times are processor times.
//
//	cd bench/oracle && go run ./compare [-nodes 100000] [-runs 9] [-store FILE] [-only WORDS]
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/bench/oracle"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/query"
)

// question is a query, and how long it may take as the only one of a handle.
type question struct{ name, text, once string }

var questions = []question{
	{"count(*)", "SELECT count(*) FROM nodes", ""},
	{"AND by index", "SELECT count(*) FROM nodes WHERE state = 'busy' AND ncpus >= 16", "25 us"},
	{"OR by index", "SELECT count(*) FROM nodes WHERE state = 'busy' OR ncpus > 32", "25 us"},
	{"NOT by index", "SELECT count(*) FROM nodes WHERE NOT (state = 'busy' OR ncpus = 16)", "25 us"},
	{"filter, 100k rows", "SELECT count(*) FROM nodes WHERE load > 7.5", "10 ms"},
	{"group by, 100k rows", "SELECT queue, sum(load), count(*) FROM nodes GROUP BY queue", "16 ms"},
	{"order by limit 10", "SELECT name, load FROM nodes ORDER BY load DESC LIMIT 10", "12 ms"},
	{"what is free, 100k rows", "SELECT sum(ncpus_free) FROM nodes", "18 ms"},
	{"filter, 1M rows", "SELECT count(*) FROM allocations WHERE start > 1000003600", "40 ms"},
	{"join and group, 1M rows", "SELECT n.queue, count(*), sum(a.ncpus) FROM allocations a JOIN nodes n ON a.node = " +
		"n.name GROUP BY n.queue", "95 ms"},
	{"window, 100k rows", "SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY queue ORDER BY load) AS r " +
		"FROM nodes)", "35 ms"},
	{"correlated, 995 jobs", "SELECT count(*) FROM jobs j WHERE EXISTS (SELECT 1 FROM jobs k WHERE k.user = j.user " +
		"AND k.job > j.job)", "20 ms"},
	{"one node's allocations", "SELECT job, start FROM allocations WHERE node = 'n12345'", "25 us"},
	{"one job", "SELECT state, user, submit FROM jobs WHERE job = 777", "20 us"},
}

func main() {
	nodes := flag.Int("nodes", 100_000, "nodes of the store; ten times as many allocations")
	runs := flag.Int("runs", 9, "of each measurement; the least counts")
	path := flag.String("store", "", "use or make this store, and keep it")
	only := flag.String("only", "", "of the queries those with these words in their names")
	flag.Parse()
	questions = slices.DeleteFunc(questions, func(q question) bool { return !strings.Contains(q.name, *only) })
	if err := run(*nodes, *runs, *path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(nodes, runs int, path string) error {
	dir, err := os.MkdirTemp("", "placectl-query-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if path == "" {
		path = filepath.Join(dir, "bench.db")
	}
	if _, err := os.Stat(path); err != nil {
		if err := fill(path, nodes); err != nil {
			return err
		}
	}
	program := filepath.Join(dir, "placectl")
	build := exec.Command("go", "build", "-o", program, "./cmd/placectl")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	db, err := engine.Open(path, &engine.Options{Now: clock})
	if err != nil {
		return err
	}
	lite, err := copyOut(db, filepath.Join(dir, "sqlite.db"))
	if err != nil {
		return err
	}
	fmt.Println("| query | asked once | goal | whole process | SQLite |")
	fmt.Println("|---|--:|--:|--:|--:|")
	if err := db.Close(); err != nil {
		return err
	}
	for _, q := range questions {
		first, err := once(path, q.text, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		process := least(runs, func() error {
			return exec.Command(program, "--db", path, "--now", "@1000000000", "query", q.text).Run()
		})
		theirs := "none"
		if q.name != "what is free, 100k rows" { // it would have to be told
			theirs = shown(least(runs, func() error { _, _, err := oracle.AskSQLite(lite, q.text); return err }))
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", q.name, shown(first), q.once, shown(process), theirs)
	}
	return nil
}

func clock() time.Time { return time.Unix(1_000_000_000, 0) }

// ask runs a query in a transaction, parsing included.
func ask(tx *engine.Tx, text string) error {
	list, err := query.Parse(text)
	if err != nil {
		return err
	}
	rows, err := tx.Query(context.Background(), list[0], engine.Query{Text: text})
	if err != nil {
		return err
	}
	return drain(rows)
}

// once measures the first query of a handle, without opening the handle. The part of the index that the
// transaction needs for any query is read before.
func once(path, text string, runs int) (best time.Duration, err error) {
	best = 1 << 62
	for range max(runs, 5) {
		db, err := engine.Open(path, &engine.Options{Now: clock})
		if err != nil {
			return 0, err
		}
		err = db.View(func(tx *engine.Tx) error {
			if _, err := tx.Config().Resources(); err != nil {
				return err
			}
			start := processorTime()
			err := ask(tx, text)
			best = min(best, processorTime()-start)
			return err
		})
		if err = errors.Join(err, db.Close()); err != nil {
			return 0, err
		}
	}
	return best, nil
}

func drain(rows *engine.Rows) error {
	for _, err := range rows.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

// least returns the least processor time of a run of f: on a shared machine elapsed time would measure
// other users. A short f runs many times.
func least(runs int, f func() error) time.Duration {
	best := time.Duration(1 << 62)
	for range runs {
		n, start := 0, processorTime()
		for n == 0 || processorTime()-start < 4*time.Millisecond && n < 2000 {
			if err := f(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			n++
		}
		best = min(best, (processorTime()-start)/time.Duration(n))
	}
	return best
}

// processorTime returns the processor time of this process and of the children that it has waited for.
func processorTime() time.Duration {
	total := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

func shown(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.1f us", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f us", float64(d)/1e3)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}

// copyOut gives SQLite its own copy of nodes and allocations, with indexes.
func copyOut(db *engine.DB, path string) (*sql.DB, error) {
	lite, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	lite.SetMaxOpenConns(1)
	for _, stmt := range []string{"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF",
		"CREATE TABLE nodes (name TEXT, number INTEGER PRIMARY KEY, queue TEXT, state TEXT, load REAL, ncpus INTEGER)",
		"CREATE TABLE allocations (job INTEGER, node TEXT, start INTEGER, \"end\" INTEGER, ncpus INTEGER)",
		"CREATE TABLE jobs (job INTEGER PRIMARY KEY, state TEXT, user TEXT, submit INTEGER)"} {
		if _, err := lite.Exec(stmt); err != nil {
			return nil, err
		}
	}
	for table, columns := range map[string]string{"nodes": "name, number, queue, state, load, ncpus",
		"allocations": "job, node, start, \"end\", ncpus", "jobs": "job, state, user, submit"} {
		if err := copyTable(db, lite, table, columns); err != nil {
			return nil, err
		}
	}
	for _, stmt := range []string{"CREATE INDEX by_state ON nodes (state, ncpus)",
		"CREATE INDEX by_ncpus ON nodes (ncpus)", "CREATE INDEX by_name ON nodes (name)",
		"CREATE INDEX by_job ON allocations (job)", "CREATE INDEX by_node ON allocations (node)",
		"CREATE INDEX by_user ON jobs (user)", "ANALYZE"} {
		if _, err := lite.Exec(stmt); err != nil {
			return nil, err
		}
	}
	return lite, nil
}

func copyTable(db *engine.DB, lite *sql.DB, table, columns string) error {
	tx, err := lite.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var insert *sql.Stmt
	err = db.View(func(from *engine.Tx) error {
		text := "SELECT " + columns + " FROM " + table
		list, err := query.Parse(text)
		if err != nil {
			return err
		}
		rows, err := from.Query(context.Background(), list[0], engine.Query{Text: text})
		if err != nil {
			return err
		}
		marks := "?"
		for range len(rows.Columns) - 1 {
			marks += ",?"
		}
		if insert, err = tx.Prepare("INSERT INTO " + table + " VALUES (" + marks + ")"); err != nil {
			return err
		}
		args := make([]any, len(rows.Columns))
		for row, err := range rows.All() {
			if err != nil {
				return err
			}
			for i, v := range row {
				args[i] = v.Any()
			}
			if _, err := insert.Exec(args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}
