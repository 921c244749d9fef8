package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/fault"
)

// queryStore returns a store with nodes of two kinds, some taken, some planned, one down.
func queryStore(t testing.TB) (*DB, *clock) {
	t.Helper()
	db, c := newDB(t)
	addNodes(t, db, "small", 6, 4)
	addNodes(t, db, "big", 4, 16)
	if _, _, err := place(db, "2:ncpus=4", time.Hour); err != nil {
		t.Fatal(err)
	}
	err := db.Update(func(tx *Tx) error {
		n, err := tx.Nodes().Get("big0")
		if err != nil {
			return err
		}
		n.Features, n.Load = []string{"gpu", "ssd"}, 2.5
		n.Set(index.Mem, index.Value{Num: 64 << 20})
		if _, err := tx.Nodes().Put(n); err != nil {
			return err
		}
		if n, err = tx.Nodes().Get("big3"); err != nil {
			return err
		}
		n.State, n.Reason = index.Down, "fan"
		if _, err := tx.Nodes().Put(n); err != nil {
			return err
		}
		if _, err := tx.Jobs().PlaceAt(placer.Request{Select: "1:ncpus=16", Place: "scatter:excl", Walltime: time.Hour,
			User: "ann"}, kernel.Instant(c.t+600)); err != nil {
			return err
		}
		_, err = tx.Reservations().ReserveNodes("maint", []uint32{5}, kernel.Instant(c.t+7200),
			kernel.Instant(c.t+9000))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, c
}

// answered runs a statement and returns its rows, a line each.
func answered(t testing.TB, db *DB, text string, args ...any) string {
	t.Helper()
	rows, err := db.Query(context.Background(), text, args...)
	if err != nil {
		return "error: " + err.Error()
	}
	return rowLines(t, rows)
}

// fataler is a test, or a check of rapid's.
type fataler interface{ Fatal(args ...any) }

// askTx returns the same within a transaction.
func askTx(t fataler, tx *Tx, text string) string {
	list, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(context.Background(), list[0], Query{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return rowLines(t, rows)
}

func rowLines(t fataler, rows *Rows) string {
	var out []string
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = v.Literal()
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return strings.Join(out, "\n")
}

func TestQuery(t *testing.T) {
	db, _ := queryStore(t)
	for _, c := range []struct{ text, want string }{
		{"SELECT count(*) FROM nodes", "10"},
		{"SELECT state, count(*), sum(ncpus) FROM nodes GROUP BY state ORDER BY state",
			"'busy'|2|8\n'down'|1|16\n'free'|7|64"},
		{"SELECT name FROM nodes WHERE state = 'free' AND ncpus > 4 ORDER BY name", "'big0'\n'big1'\n'big2'"},
		{"SELECT nodelist(name) FROM nodes WHERE NOT (state IN ('busy','down') OR ncpus = 16)", "'small[2-5]'"},
		{"SELECT name, mem, load FROM nodes WHERE mem >= '64GiB'", "'big0'|68719476736|2.5"},
		{"SELECT name FROM nodes WHERE has(features, 'ssd')", "'big0'"},
		{"SELECT name FROM nodes WHERE in_nodelist(name, 'small[1-2]') ORDER BY 1", "'small1'\n'small2'"},
		{"SELECT name FROM nodes WHERE name GLOB 'big*' AND number < 8 ORDER BY number DESC", "'big1'\n'big0'"},
		{"SELECT name, reason FROM nodes WHERE state = 'down'", "'big3'|'fan'"},
		{"SELECT job, state, nodes, walltime FROM jobs ORDER BY job",
			"1|'running'|'small[0-1]'|3600\n2|'reserved'|'big0'|3600"},
		{"SELECT job, chunk, node, start, ncpus FROM allocations ORDER BY node",
			"2|0|'big0'|1000600|16\n1|0|'small0'|1000000|4\n1|0|'small1'|1000000|4"},
		{"SELECT a.job, n.ncpus, n.name FROM allocations a JOIN nodes n ON n.name = a.node ORDER BY 1, 3",
			"1|4|'small0'\n1|4|'small1'\n2|16|'big0'"},
		{"SELECT n.name, count(a.job) FROM nodes n LEFT JOIN allocations a ON n.name = a.node AND a.ncpus > 1 GROUP " +
			"BY 1 HAVING count(a.job) > 0 ORDER BY 1", "'big0'|1\n'small0'|1\n'small1'|1"},
		{"SELECT x.name, y.name FROM nodes x JOIN nodes y ON x.name = y.name WHERE x.number < 2 ORDER BY 1",
			"'small0'|'small0'\n'small1'|'small1'"},
		{"SELECT node, \"end\" FROM allocations WHERE job = 2", "'big0'|1004200"},
		{"SELECT job FROM allocations WHERE node = 'small1'", "1"},
		{"SELECT n.name, a.job FROM nodes n LEFT JOIN allocations a ON a.node = n.name WHERE n.ncpus = 16 ORDER " +
			"BY n.number", "'big0'|2\n'big1'|NULL\n'big2'|NULL\n'big3'|NULL"},
		{"SELECT state, count(*) FROM nodes AT 'now+15m' GROUP BY state ORDER BY 1", "'busy'|3\n'down'|1\n'free'|6"},
		{"SELECT state, count(*) FROM nodes AT 'now+3h' GROUP BY state ORDER BY 1", "'down'|1\n'free'|9"},
		{"SELECT bucket, total, free, later, busy FROM buckets ORDER BY bucket", "0|6|3|1|2\n1|2|2|0|0\n2|1|0|1|0"},
		{"SELECT name, start, state FROM reservations WHERE start > 'now+1h'", "'maint'|1007200|'planned'"},
		{"SELECT jobs, free_until, ncpus_free FROM nodes WHERE name = 'big0'", "0|1000600|16"},
		{"SELECT wait, nodes FROM earliest('6:ncpus=4', 'scatter:excl', '2h')", "0|'small[2-5],big[1-2]'"},
		{"SELECT at, free, busy FROM timeline('big0')", "1000000|1|0\n1000600|0|1\n1004200|1|0"},
		{"SELECT name FROM sys_tables WHERE planned ORDER BY name", "'allocations'\n'buckets'\n'nodes'\n'pools'"},
		{"SELECT count(*) FROM spans", "4"},
		{"SELECT value FROM config WHERE name = 'policy'", "'firstavailable'"},
		{"SELECT name FROM nodes WHERE number = ?", "'small3'"},
		{"SELECT sate FROM nodes", "error: line 1, column 8: no column \"sate\" in nodes; did you mean 'state'?"},
		{"SELECT name FROM nodes WHERE state IN ('free', 'later')", "error: line 1, column 48: no node is 'later': " +
			"it is 'free', and free_until is the next start on it (free_until IS NOT NULL)"},
		{"SELECT name FROM nodes n JOIN buckets b USING (bucket) WHERE 'later' = n.state",
			"error: line 1, column 62: no node is 'later': it is 'free', and free_until is the next start on it " +
				"(free_until IS NOT NULL)"},
		{"SELECT name FROM nodes WHERE state = 'free' AND free_until IS NOT NULL ORDER BY 1", "'big0'\n'small5'"},
		{"SELECT * FROM node", "error: line 1, column 15: no table \"node\"; did you mean 'nodes'?"},
	} {
		if got := answered(t, db, c.text, 3); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// atoms are conditions on nodes, most of them decided by bitmaps.
var atoms = []string{"state = 'free'", "state <> 'busy'", "ncpus > 4", "mem IS NULL", "mem > 5", "name = 'big1'",
	"name IN ('big1','small2','gone')",
	"number = 3", "number IN (1,2,99)", "number < 4", "queue IS NULL", "queue = 'x'", "ncpus * 2 = 8",
	"has(features,'gpu')", "features IS NULL", "state LIKE 'F%'",
	"name GLOB 'small*'", "name LIKE '%1'", "bucket = 0", "bucket > 0 AND state = 'partly'", "ncpus BETWEEN 1 AND 5",
	"state IN ('partly','down')", "load > 1", "jobs = 1",
	"ncpus_free >= 16", "free_until IS NOT NULL", "mem >= '64GiB'", "ncpus = NULL", "priority = 0", "reason = 'fan'",
	"ncpus IN (16, NULL)", "color = 'red'", "color <> 'red'",
	"mem / ncpus > 1000", "ncpus = '16'", "name > 'c'", "1", "fast", "fast = 0"}

// condition joins up to n atoms.
func condition(r *rand.Rand, n int) string {
	if n <= 1 {
		return []string{"", "", "NOT "}[r.IntN(3)] + "(" + atoms[r.IntN(len(atoms))] + ")"
	}
	left := 1 + r.IntN(n-1)
	return []string{"", "", "NOT "}[r.IntN(3)] + "(" + condition(r, left) + []string{" AND ", " OR "}[r.IntN(2)] +
		condition(r, n-left) + ")"
}

// TestQueryWithoutIndexes compares answers from bitmaps with those from reading every row, now
// and at a later time.
func TestQueryWithoutIndexes(t *testing.T) {
	db, _ := queryStore(t)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "color", Type: index.String, Unique: false}); err != nil {
			return err
		}
		if err := tx.Config().AddResource(index.Def{Name: "fast", Type: index.Boolean}); err != nil {
			return err
		}
		for i, name := range []string{"big1", "small0", "small4"} {
			n, err := tx.Nodes().Get(name)
			if err != nil {
				return err
			}
			defs, err := tx.Config().Resources()
			if err != nil {
				return err
			}
			color, _ := defs.Lookup("color")
			fast, _ := defs.Lookup("fast")
			n.Set(color.ID, index.Value{Str: []string{"red", "blue", "red"}[i]})
			n.Set(fast.ID, index.Value{Num: int64(i % 2)})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := seeded(t)
	err = db.View(func(tx *Tx) error {
		for range 2000 {
			at := []string{"", " AT 'now+15m'", " AT 'now+70m'"}[r.IntN(3)]
			text := "SELECT number, state, color FROM nodes" + at + " WHERE " + condition(r, 1+r.IntN(6))
			if with, without := scanned(t, tx, text, false), scanned(t, tx, text, true); with != without {
				t.Fatalf("%s:\nwith indexes    %s\nwithout indexes %s", text, with, without)
			}
			text = "SELECT state, count(*), sum(ncpus), max(mem) FROM nodes" + at + " WHERE " + condition(r,
				1+r.IntN(6)) + " GROUP BY state ORDER BY state"
			if with, without := scanned(t, tx, text, false), scanned(t, tx, text, true); with != without {
				t.Fatalf("%s:\nwith indexes    %s\nwithout indexes %s", text, with, without)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// scanned returns the answer to a query as text, without indexes if noIndex is set.
func scanned(t *testing.T, tx *Tx, text string, noIndex bool) string {
	t.Helper()
	list, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := query.Prepare(tx.catalog(nil), text, list[0], query.Options{NoIndex: noIndex})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var b strings.Builder
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, v := range row {
			b.WriteString(v.Literal() + "|")
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func TestQueryLimits(t *testing.T) {
	db, _ := queryStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Query(ctx, "SELECT name FROM nodes"); !errors.Is(err, context.Canceled) {
		t.Errorf("a query that was cancelled: %v", err)
	}
	if _, err := db.Query(context.Background(), "SELECT 1; SELECT 2"); !errors.Is(err, ErrInvalid) {
		t.Errorf("two statements: %v", err)
	}
	err := db.View(func(tx *Tx) error {
		text := "SELECT count(*) FROM nodes a, nodes b, nodes c, nodes d"
		list, err := query.Parse(text)
		if err != nil {
			return err
		}
		rows, err := tx.Query(context.Background(), list[0], Query{Text: text, Limits: query.Limits{Rows: 5000}})
		if err != nil {
			return err
		}
		for _, err := range rows.All() {
			if err != nil {
				return err
			}
		}
		return nil
	})
	var limit *fault.LimitError
	if !errors.As(err, &limit) {
		t.Errorf("too many rows: %v", err)
	}
}

// TestQueryWaits: the context of a query ends its wait for the file.
func TestQueryWaits(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	other, err := Open(db.Path(), &Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := db.Update(func(*Tx) error {
		ctx, end := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer end()
		for i, err := range []error{
			func() error { _, err := other.Query(ctx, "SELECT 1"); return err }(),
			other.ViewContext(ctx, func(*Tx) error { return nil }),
			other.UpdateContext(ctx, func(*Tx) error { return nil }),
		} {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d: %v", i, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
