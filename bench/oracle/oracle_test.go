package oracle

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/placectl/placectl/query"
)

var (
	seed  = flag.Uint64("seed", 0, "the first store of the random comparison; 0: what RAPID_SEED in the environment says, or any")
	count = flag.Int("queries", 6000, "random statements")
)

// perStore is how many statements a random store is asked.
const perStore = 20

// seeded is the seed to start with: all random tests take RAPID_SEED.
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

// TestRandom compares answers about random stores, with indexes and without.
func TestRandom(t *testing.T) {
	seed := seeded(t)
	refused, failed, overflown := 0, 0, 0
	why := map[string]int{}
	for s := range *count / perStore {
		g := NewGenerator(seed + uint64(s))
		tables := g.Tables()
		for name, m := range NewGenerator(seed + uint64(s) + 1<<40).Tables() {
			tables[name+"_then"] = m
		}
		db, err := Load(tables)
		if err != nil {
			t.Fatal(err)
		}
		views := g.Views()
		for _, text := range views {
			if _, err := db.Exec(SQLiteText(text)); err != nil {
				t.Fatal(text, err)
			}
		}
		kindred, err := viewsOf(views)
		if err != nil {
			t.Fatal(err)
		}
		plain, indexed, kept, sorted := Tables{}, Tables{}, Tables{}, Tables{}
		for name, m := range tables {
			plain[name] = m
			by := map[int]bool{}
			for i := range m.Cols {
				by[i] = g.chance(70)
			}
			indexed[name] = &query.IndexedMemory{Memory: *m, By: by}
			kept[name] = &Columns{query.IndexedMemory{Memory: *m, By: by}}
			if sorted[name] = plain[name]; isNumbered(m) {
				sorted[name] = &Sorted{query.IndexedMemory{Memory: *m, By: map[int]bool{1: by[1]}}}
			}
		}
		for range perStore {
			text, ordered := g.Statement()
			_, want, wantErr := AskSQLite(db, SQLiteText(text))
			for how, c := range map[string]Tables{"without indexes": plain, "with indexes": indexed, "in columns": kept, "in order": sorted} {
				_, got, err := AskQuery(c, text, query.Options{Views: kindred})
				var bad *query.Error
				switch {
				case errors.As(err, &bad):
					refused++
					why[bad.Msg]++
				case (err != nil) != (wantErr != nil) && overflows(errors.Join(err, wantErr)):
					overflown++
				case (err != nil) != (wantErr != nil):
					failed++
					t.Errorf("seed %d, %s:\n%s\nerror %v, SQLite %v", seed+uint64(s), how, text, err, wantErr)
				case err == nil:
					if d := Differ(text, want, got, ordered); d != "" {
						failed++
						t.Errorf("seed %d, %s:\n%s\n%s", seed+uint64(s), how, text, d)
					}
				}
			}
			if failed > 10 {
				t.FailNow()
			}
		}
		db.Close()
	}
	if refused > 4**count/40+10 {
		t.Errorf("%d of %d statements were refused: %v", refused, 4**count, why)
	}
	if overflown > *count/200 {
		t.Errorf("%d of %d statements overflow in one and not in the other", overflown, 4**count)
	}
	t.Log(fmt.Sprint("refused: ", refused, why, ", overflown: ", overflown))
}

// isNumbered reports whether the first column is the number of the row.
func isNumbered(m *query.Memory) bool {
	for i, row := range m.Rows {
		if row[0].Kind() != query.Integer || row[0].Int64() != int64(i) {
			return false
		}
	}
	return true
}

// overflows reports whether a sum does not fit. What need not be evaluated is not told
// by the dialect: SQLite leaves out a subquery whose sum overflows where it is compared
// with NULL, for one. So it is no difference when one of both fails so, as long as that
// is as rare as such statements are.
func overflows(err error) bool { return strings.Contains(err.Error(), "integer overflow") }
