package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// numbersBetween lists the numbers in a row's document that are within a range.
func numbersBetween(v any, path string, from, to float64, out []string) []string {
	switch v := v.(type) {
	case float64:
		if v >= from && v <= to {
			out = append(out, fmt.Sprintf("%s is %.0f", path, v))
		}
	case []any:
		for _, x := range v {
			out = numbersBetween(x, path+"[]", from, to, out)
		}
	case map[string]any:
		for name, x := range v {
			out = numbersBetween(x, path+"."+name, from, to, out)
		}
	}
	return out
}

// instantsBetween lists all instants in rows that are within a range, including those in keys.
func instantsBetween(t *testing.T, db *DB, from, to int64) (out []string) {
	t.Helper()
	err := db.file.View(func(r *file.Recorder) error {
		for table := range row.TableCount {
			if table.Derived() {
				continue
			}
			err := r.Each(table, nil, func(key, payload []byte) (bool, error) {
				if row.Readable(table, key, payload) != nil {
					return true, nil // of no kind: the format, sums
				}
				line, err := row.AppendDocument(nil, table, key, payload)
				if err != nil {
					return false, err
				}
				var doc any
				if err := json.Unmarshal(line, &doc); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				out = numbersBetween(doc, table.String(), float64(from), float64(to), out)
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestClockResetLeavesNothing: whatever rows come from a clock that was ahead, no instant of
// it is left in any of them, except requested ones.
func TestClockResetLeavesNothing(t *testing.T) {
	for _, backfill := range []Backfill{Conservative, Relaxed} {
		t.Run(backfill.String(), func(t *testing.T) { resetLeavesNothing(t, backfill) })
	}
}

func resetLeavesNothing(t *testing.T, backfill Backfill) {
	const wrong = 1_000_000_000
	db, clock := lively(t)
	was := clock.t
	update := func(fn func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	clock.t += wrong
	update(func(tx *Tx) error {
		wide := placer.Request{Select: "8:ncpus=4", Walltime: time.Hour, User: "ann"} // for which there is no room
		if _, err := tx.Jobs().Submit(Submission{Request: wide, Priority: MaxPriority}); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(CycleSpec{Backfill: backfill})
		return err
	})
	update(func(tx *Tx) error {
		if err := workHost(tx); err != nil {
			return err
		}
		submit := func(command string, hold bool) (uint64, error) {
			list, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
				User: "ann"}, Command: []string{command}, Hold: hold, Priority: MaxPriority,
				Payload: &Payload{Dir: "/", Ending: Ending{Retries: 3, RetryWait: time.Minute}}})
			if err != nil {
				return 0, err
			}
			return list[0].ID, nil
		}
		if _, err := submit("true", true); err != nil { // since when it does not wait for its turn
			return err
		}
		// one waits to be tried again, one has blamed its node, one goes on
		for i, outcome := range []Outcome{OutcomeExited, OutcomeRefused, OutcomeNone} {
			id, err := submit("false", false)
			if err != nil {
				return err
			}
			if _, err := tx.Cycle().Run(CycleSpec{Silent: true}); err != nil {
				return err
			}
			c := Claim{Job: id, Attempt: 1, By: BySupervisor, Nonce: Nonce{9, byte(i)},
				Process: Process{Host: "n00", Boot: "b", PID: 17, Born: 4}}
			if _, err := tx.Attempts().Claim(c); err != nil {
				return err
			}
			if outcome == OutcomeNone {
				continue
			}
			if _, err := tx.Attempts().Report(Result{Job: id, Attempt: 1, Nonce: c.Nonce, Outcome: outcome, Exit: 1,
				Why: "broken", Blame: BlameNode}); err != nil {
				return err
			}
		}
		return tx.Hosts().Beat("n00", "ann", "b")
	})
	const year = 365 * 86400
	if left := instantsBetween(t, db, wrong-year, wrong+year); len(left) < 10 {
		t.Fatalf("nothing of the wrong clock: %q", left)
	}
	behind, err := Open(db.Path(), &Options{Now: func() time.Time { return time.Unix(was, 0) }, Behind: true})
	if err != nil {
		t.Fatal(err)
	}
	clock.t = was
	if err := behind.Update(func(tx *Tx) error { _, err := tx.ResetClock(time.Unix(was, 0)); return err }); err != nil {
		t.Fatal(err)
	}
	update(func(tx *Tx) error { // what was planned is planned again
		_, err := tx.Cycle().Run(CycleSpec{Backfill: backfill})
		return err
	})
	for _, left := range instantsBetween(t, db, wrong-year, wrong+year) {
		// as great by chance
		if !strings.HasPrefix(left, "batch_hosts.row.rate") && !strings.HasPrefix(left, "jobs.row.priority") {
			t.Error(left)
		}
	}
	update(func(tx *Tx) error {
		list, err := tx.Reservations().Occurrences("nightly")
		if err != nil {
			return err
		}
		if len(list) != 2 || list[1].Start.Unix() > was+3*86400 {
			t.Errorf("the next nights are not kept: %+v", list)
		}
		return nil
	})
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
}
