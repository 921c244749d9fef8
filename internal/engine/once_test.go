package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

var oneNode = placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: time.Hour}

// TestOnce: a function runs once for a key and a request. Its answer is given as long as it is
// kept: for keep_keys, and until its jobs have ended.
func TestOnce(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 4, 2)
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("keep_keys", "1d") }); err != nil {
		t.Fatal(err)
	}
	runs := 0
	ask := func(key, request string, work func(*Tx) error) (*Once, error) {
		o := &Once{Key: key, Request: []byte(request)}
		return o, db.Update(func(tx *Tx) error {
			runs++
			o.Answer = fmt.Appendf(nil, "answer %d", runs)
			return work(tx)
		}, o)
	}
	job := func(tx *Tx) error { _, err := tx.Jobs().Place(oneNode); return err }
	nothing := func(*Tx) error { return nil }
	expect := func(key, request string, work func(*Tx) error, answer string, repeated bool) {
		t.Helper()
		o, err := ask(key, request, work)
		if err != nil || string(o.Answer) != answer || o.Repeated != repeated {
			t.Fatalf("%s: %q, repeated %t: %v", key, o.Answer, o.Repeated, err)
		}
	}
	expect("job", "r", job, "answer 1", false)
	expect("job", "r", job, "answer 1", true)
	expect("other", "r", nothing, "answer 2", false)
	for key, want := range map[string]error{"job": ErrKey, "": ErrInvalid, strings.Repeat("k", MaxKey+1): ErrInvalid} {
		if _, err := ask(key, "another", job); !errors.Is(err, want) {
			t.Errorf("key %.9q: %v", key, err)
		}
	}
	if _, err := ask("job", "another", job); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	// Failures and refusals are not kept, and a dry run keeps nothing.
	if _, err := ask("fails", "r", func(*Tx) error { return ErrConflict }); !errors.Is(err, ErrConflict) ||
		errors.Is(err, ErrKey) {
		t.Error(err)
	}
	expect("fails", "r", nothing, "answer 4", false)
	refused := &Once{Key: "refused"}
	if err := db.Update(func(*Tx) error { refused.Refused = true; return nil }, refused); err != nil {
		t.Fatal(err)
	}
	expect("refused", "r", nothing, "answer 5", false)
	dry := &Once{Key: "dry"}
	if err := db.DryRun(func(tx *Tx) error { return tx.Once(dry, func() error { return nil }) }); err != nil {
		t.Fatal(err)
	}
	expect("dry", "r", nothing, "answer 6", false)
	if err := db.Update(func(tx *Tx) error { return tx.Amend("other", []byte("more")) }); err != nil {
		t.Fatal(err)
	}
	expect("other", "r", nothing, "more", true)
	// A day later the answers are forgotten, except that of the job that still runs.
	clock.t += 86400 + 1
	expect("job", "r", job, "answer 1", true)
	expect("other", "r", nothing, "answer 7", false)
	if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Release(1); return err }); err != nil {
		t.Fatal(err)
	}
	clock.t += 86400 + 1
	expect("job", "r", job, "answer 8", false)
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
	kept := 0
	err := db.View(func(tx *Tx) error {
		return tx.k.File.Each(row.Answers, nil, func(_, _ []byte) (bool, error) { kept++; return true, nil })
	})
	if err != nil || kept > 2 {
		t.Errorf("%d answers are kept: %v", kept, err)
	}
}

// TestOnceTwice: using a key within itself is refused, and nothing is kept.
func TestOnceTwice(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 4, 2)
	err := db.Update(func(tx *Tx) error {
		return tx.Once(&Once{Key: "k"}, func() error {
			_, err := tx.Jobs().Place(oneNode)
			return err
		})
	}, &Once{Key: "k"})
	if !errors.Is(err, ErrKey) {
		t.Error(err)
	}
	if err := db.View(func(tx *Tx) error { _, err := tx.Jobs().Get(1); return err }); !errors.Is(err, ErrNotFound) {
		t.Errorf("a job of it is kept: %v", err)
	}
}
