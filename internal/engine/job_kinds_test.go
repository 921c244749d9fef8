package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
)

// TestJobKinds: the lists of jobs by user, account, queue and class agree with the jobs' rows.
// That is also true in a transaction that adds to them, and after some jobs are archived.
func TestJobKinds(t *testing.T) {
	db, _ := newDB(t)
	rng := rand.New(rand.NewPCG(3, 3))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	addNodes(t, db, "n", 3, 8)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Queues().Add(Queue{Name: "q"}); err != nil {
			return err
		}
		for range 200 {
			r := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: pick("ann", "an", "bob", ""),
				Account: pick("", "chem", "a.b"), Queue: pick("", "q")}
			id, err := tx.Jobs().Submit(Submission{Request: r, Hold: true})
			if err != nil {
				return err
			}
			if rng.IntN(3) == 0 {
				if _, err := tx.Jobs().Cancel(id[0].ID, ""); err != nil {
					return err
				}
			}
		}
		sameByKind(t, tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.View(func(tx *Tx) error { sameByKind(t, tx); return nil }); err != nil {
		t.Fatal(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

func sameByKind(t *testing.T, tx *Tx) {
	t.Helper()
	for _, where := range []string{"user = 'ann'", "user = 'an'", "user = ''", "user IS NULL", "account = 'chem'",
		"queue <> 'q'", "account IN ('chem', 'x') AND user LIKE 'a%'",
		"queue = 'q' AND state = 'cancelled'", "class IS NULL OR user > 'b'", "NOT (user = 'bob' AND state = 'held')",
		"user = 5"} {
		for _, text := range []string{"SELECT count(*), min(job), sum(job) FROM jobs WHERE ",
			"SELECT user, state, count(*) FROM jobs WHERE %s GROUP BY user, state",
			"SELECT account, max(job) FROM jobs WHERE %s GROUP BY 1"} {
			if text[len(text)-1] == ' ' {
				text += "%s"
			}
			text = fmt.Sprintf(text, where) + " ORDER BY 1, 2"
			if d := cmp.Diff(rowsOf(t, tx, text, false), rowsOf(t, tx, text, true)); d != "" {
				t.Errorf("%s: (-rows +list)\n%s", text, d)
			}
		}
	}
}

func rowsOf(t *testing.T, tx *Tx, text string, indexed bool) (out []string) {
	t.Helper()
	list, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := query.Prepare(tx.catalog(nil), text, list[0],
		query.Options{NoIndex: !indexed, Context: context.Background()})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		line := ""
		for _, v := range row {
			line += v.Literal() + "|"
		}
		out = append(out, line)
	}
	return out
}
