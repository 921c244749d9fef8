package oracle

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/placectl/placectl/query"
)

var (
	seed = flag.Uint64("seed", 0, "the first store of the random comparison; 0: what RAPID_SEED in the environment "+
		"says, or any")
	count = flag.Int("queries", 6000, "random statements")
)

// perStore is the number of statements for each random store.
const perStore = 20

// seeded returns the first seed: all random tests read RAPID_SEED.
func seeded(t *testing.T) uint64 {
	n := *seed
	if n == 0 {
		n, _ = strconv.ParseUint(os.Getenv("RAPID_SEED"), 0, 64)
	}
	if n == 0 {
		n = rand.Uint64()
	}
	t.Logf("seed %d, %d statements; repeat one with -seed N -queries %d", n, *count, perStore)
	return n
}

// world holds tables in SQLite, and in all the ways that package query can have them.
type world struct {
	db    *sql.DB
	views map[string]*syntax.View
	ways  map[string]Tables
}

// newWorld loads tables and views. by says which columns of a table are indexed.
func newWorld(t *testing.T, memory map[string]*tables.Memory, views []string, by map[string]map[int]bool) *world {
	t.Helper()
	db, err := Load(memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, text := range views {
		if _, err := db.Exec(SQLiteText(text)); err != nil {
			t.Fatal(text, err)
		}
	}
	w := &world{db: db}
	if w.views, err = viewsOf(views); err != nil {
		t.Fatal(err)
	}
	plain, indexed, sorted := Tables{}, Tables{}, Tables{}
	for name, m := range memory {
		plain[name], sorted[name] = m, m
		indexed[name] = &tables.IndexedMemory{Memory: *m, By: by[name]}
		if isNumbered(m) {
			sorted[name] = &Sorted{tables.IndexedMemory{Memory: *m, By: map[int]bool{1: by[name][1]}}}
		}
	}
	w.ways = map[string]Tables{"without indexes": plain, "with indexes": indexed, "in order": sorted}
	return w
}

// tally counts the results of statements.
type tally struct {
	refused, failed, overflown int
	why                        map[string]int
}

// ask runs a statement in all ways, and in SQLite.
func (w *world) ask(t *testing.T, seed uint64, text string, differ func(want, got []string) string, n *tally) {
	_, want, wantErr := AskSQLite(w.db, SQLiteText(text))
	for how, c := range w.ways {
		_, got, err := AskQuery(c, text, query.Options{Views: w.views})
		var bad *fault.Error
		var limit *fault.LimitError
		switch {
		case err != nil && overflows(err) || err == nil && wantErr != nil && overflows(wantErr):
			if (err != nil) != (wantErr != nil) {
				n.overflown++
			}
		case errors.As(err, &bad):
			n.refused++
			n.why[bad.Msg]++
		case errors.As(err, &limit):
			n.refused++
			n.why[limit.Error()]++
		case (err != nil) != (wantErr != nil):
			n.failed++
			t.Errorf("seed %d, %s:\n%s\nfails with %v, in SQLite with %v", seed, how, text, err, wantErr)
		case err == nil:
			if d := differ(want, got); d != "" {
				n.failed++
				t.Errorf("seed %d, %s:\n%s\n%s", seed, how, text, d)
			}
		}
	}
}

// TestRandom compares answers about random stores, with indexes and without.
func TestRandom(t *testing.T) {
	first := seeded(t)
	n := &tally{why: map[string]int{}}
	for s := range *count / perStore {
		seed := first + uint64(s)
		g := NewGenerator(seed)
		memory := g.Tables()
		for name, m := range NewGenerator(seed + 1<<40).Tables() {
			memory[name+"_then"] = m
		}
		views := g.Views()
		by := map[string]map[int]bool{}
		for _, name := range slices.Sorted(maps.Keys(memory)) {
			by[name] = map[int]bool{}
			for i := range memory[name].Cols {
				by[name][i] = g.chance(70)
			}
		}
		t.Run("", func(t *testing.T) {
			all := newWorld(t, memory, views, by)
			for range perStore {
				text, ordered := g.Statement()
				all.ask(t, seed, text, func(want, got []string) string { return Differ(text, want, got, ordered) }, n)
			}
		})
		if n.failed > 10 {
			t.FailNow()
		}
	}
	if n.refused > 4**count/40+10 {
		t.Errorf("%d of %d statements were refused: %v", n.refused, 4**count, n.why)
	}
	if n.overflown > *count/200 {
		t.Errorf("%d of %d statements overflow in only one of the two", n.overflown, 4**count)
	}
	t.Log(fmt.Sprint("refused: ", n.refused, n.why, ", overflown: ", n.overflown))
}

// TestCalls compares single functions of odd arguments.
func TestCalls(t *testing.T) {
	first := seeded(t)
	all := newWorld(t, nil, nil, nil)
	n := &tally{why: map[string]int{}}
	for s := range *count / 3 {
		seed := first + uint64(s)
		text := NewGenerator(seed).Call()
		all.ask(t, seed, text, func(want, got []string) string { return Differ(text, want, got, true) }, n)
	}
	t.Log(n.refused, n.why)
}

// isNumbered reports whether the first column is the number of the row.
func isNumbered(m *tables.Memory) bool {
	for i, row := range m.Rows {
		if row[0].Kind() != values.Integer || row[0].Int64() != int64(i) {
			return false
		}
	}
	return true
}

// overflows reports whether an error says that a sum overflows. The dialect does not define what need not
// be evaluated. For example, SQLite skips a subquery whose sum overflows if it is compared with NULL. So it
// is no difference if only one of the two overflows, as long as that is as rare as such statements are.
func overflows(err error) bool { return strings.Contains(err.Error(), "integer overflow") }
