package sqldriver_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/sqldriver"
	"github.com/placectl/placectl/store/storetest"
)

// pool returns a pool for a new database, and a second handle on it.
func pool(t *testing.T) (*sql.DB, *store.DB) {
	db, _ := storetest.New(t, nil)
	other, err := store.Open(db.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := sql.OpenDB(sqldriver.Connector(other))
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
	return p, db
}

// answer runs a query that answers one number, prepared or not.
func answer(ctx context.Context, db *sql.DB, prepared bool, text string, args ...any) (n int, err error) {
	if !prepared {
		return n, db.QueryRowContext(ctx, text, args...).Scan(&n)
	}
	s, err := db.PrepareContext(ctx, text)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return n, s.QueryRowContext(ctx, args...).Scan(&n)
}

// TestParameters: a statement takes as many values as it has parameters, prepared or not.
func TestParameters(t *testing.T) {
	t.Parallel()
	db, _ := pool(t)
	for _, prepared := range []bool{false, true} {
		for _, q := range []struct {
			text string
			args []any
			want int // 0: it is refused
		}{
			{"SELECT ?", []any{1}, 1},
			{"SELECT :n", []any{sql.Named("n", 2)}, 2},
			{"SELECT :n + ? + :n", []any{sql.Named("n", 2), 3}, 7},
			{"SELECT ?2 - ?1", []any{1, 5}, 4},
			{"WITH a(x) AS (SELECT ?) SELECT max(x) FROM a WHERE x IN (SELECT ? UNION SELECT ?)", []any{4, 5, 4}, 4},
			{"SELECT ?, ?", []any{1}, 0},
			{"SELECT :n", []any{1}, 0},
		} {
			n, err := answer(t.Context(), db, prepared, q.text, q.args...)
			if n != q.want || (err == nil) != (q.want > 0) {
				t.Errorf("prepared %t, %s with %v: %d, %v", prepared, q.text, q.args, n, err)
			}
		}
	}
}

// TestPreparedContext: a query stops waiting for the file when its context ends, prepared or not.
func TestPreparedContext(t *testing.T) {
	t.Parallel()
	db, other := pool(t)
	s, err := db.Prepare("SELECT count(*) FROM jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	err = other.Update(func(*store.Tx) error {
		for name, ask := range map[string]func(context.Context) (*sql.Rows, error){
			"prepared": func(ctx context.Context) (*sql.Rows, error) { return s.QueryContext(ctx) },
			"not":      func(ctx context.Context) (*sql.Rows, error) { return db.QueryContext(ctx, "SELECT 1") },
		} {
			began := time.Now()
			if _, err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPrepareNonsense: Prepare refuses what is no statement, and changes are refused as such.
func TestPrepareNonsense(t *testing.T) {
	t.Parallel()
	db, _ := pool(t)
	var wrong *fault.Error
	if _, err := db.Prepare("SELEC 1"); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if _, err := db.Query("SELECT 1; SELECT 2"); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
	if _, err := db.Exec("DELETE FROM jobs WHERE user = :user", sql.Named("user", "ann")); !errors.Is(err,
		store.ErrReadOnly) {
		t.Error(err)
	}
}
