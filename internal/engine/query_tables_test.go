package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
)

// TestQueryEvents reads parts of the events, and compares them with all events filtered.
func TestQueryEvents(t *testing.T) {
	db, _ := queryStore(t)
	for _, c := range []struct{ text, want string }{
		{"SELECT count(*), min(id), max(id) FROM events", "3|1|3"},
		{"SELECT id, job, event, old, new FROM events WHERE id > 1 AND id <= 4",
			"2|2|'plan'|NULL|'reserved'\n3|NULL|'reservation'|NULL|'planned'"},
		{"EXPLAIN SELECT id FROM events WHERE id BETWEEN 2 AND 3 AND event = 'start'",
			"'read a part of events'\n'    known of each row: id BETWEEN 2 AND 3: by the order of the rows'\n'    " +
				"looked at row by row: id BETWEEN 2 AND 3 AND event = ''start'''"},
		{"SELECT how FROM sys_indexes WHERE table_name = 'events'", "'order'"},
	} {
		if got := answered(t, db, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	r := seeded(t)
	err := db.View(func(tx *Tx) error {
		for range 300 {
			text := "SELECT id, event FROM events WHERE 1"
			for range 1 + r.IntN(3) {
				op := []string{"<", "<=", "=", ">=", ">", "<>"}[r.IntN(6)]
				text += fmt.Sprintf([]string{" AND id %s %d", " AND %[2]d %[1]s id", " AND id %s '%d'",
					" AND id %s %d.5"}[r.IntN(4)], op, r.IntN(9)-2)
			}
			if with, without := scanned(t, tx, text, false), scanned(t, tx, text, true); with != without {
				t.Errorf("%s:\nin part %s\nwhole   %s", text, with, without)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestQueryJobTimes finds jobs by submit, start and end, and compares them with all jobs
// filtered: jobs that ended, failed, were cancelled before they began, run, are planned, wait.
func TestQueryJobTimes(t *testing.T) {
	db, c := newDB(t)
	addNodes(t, db, "n", 8, 4)
	r := seeded(t)
	begun := c.t
	job := func(i int) func(tx *Tx) error {
		return func(tx *Tx) error {
			ask := placer.Request{Select: "1:ncpus=1", Walltime: 10 * time.Second, User: fmt.Sprint("u", i%3)}
			j, err := tx.Jobs().PlaceAt(ask, kernel.Instant(c.t+int64(r.IntN(2)*r.IntN(60))))
			switch n := r.IntN(10); {
			case err != nil: // there is no room
				return nil
			case i > 90 && n < 5:
			case n < 2:
				_, err = tx.Jobs().Cancel(j.ID, "")
			case j.State == JobRunning:
				_, err = tx.Jobs().Finish(j.ID, n%2, "")
			}
			return err
		}
	}
	for i := range 100 {
		c.t += int64(r.IntN(40))
		if err := db.Update(job(i)); err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=4", Walltime: time.Hour}})
		return errors.Join(err,
			tx.Views().Set(SQLView{Name: "j", Select: "SELECT user, submit AS s, \"end\" AS e FROM jobs"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	err = db.View(func(tx *Tx) error {
		for range 400 {
			text := "SELECT job, state FROM jobs WHERE " + []string{"1", "1", "user = 'u1'", "job > 20",
				"job BETWEEN -1 AND 60", "job = 7"}[r.IntN(6)]
			for range 1 + r.IntN(3) {
				column, op := []string{"submit", "start", "end"}[r.IntN(3)],
					[]string{"<", "<=", "=", ">=", ">", "<>"}[r.IntN(6)]
				text += fmt.Sprintf([]string{" AND %s %s %d", " AND %[3]d %[2]s %[1]s", " AND %s %s %d.5",
					" AND %[1]s BETWEEN %[3]d AND %[3]d + 60"}[r.IntN(4)], column, op, begun+int64(r.IntN(2800))-100)
			}
			if with, without := scanned(t, tx, text, false), scanned(t, tx, text, true); with != without {
				t.Errorf("%s:\nin part %s\nwhole   %s", text, with, without)
			}
			if plan := scanned(t, tx, "EXPLAIN "+text, false); strings.Contains(plan, "known of each row") {
				used++
			}
		}
		return nil
	})
	for _, from := range []string{"j", "(SELECT user, submit AS s, \"end\" AS e FROM jobs)", "(SELECT * FROM j)"} {
		text := fmt.Sprintf("WITH w AS (SELECT 1) SELECT user FROM %s AS v WHERE v.s >= %d AND e < %d", from,
			begun+1500, begun+1600)
		if plan := answered(t, db, "EXPLAIN "+text); !strings.Contains(plan, "by the order of the rows") {
			t.Errorf("%s\nlooks at all:\n%s", text, plan)
		}
	}
	if err != nil || used < 100 {
		t.Errorf("%v; of 400 questions %d were about a part", err, used)
	}
	if got, want := answered(t, db, "SELECT column_name FROM sys_indexes WHERE table_name = 'jobs' AND how = 'range'"),
		"'submit'\n'start'\n'end'"; got != want {
		t.Errorf("indexes by time: %s, want %s", got, want)
	}
}

// TestQueryBatches compares the tables of batches with what the batches themselves say.
func TestQueryBatches(t *testing.T) {
	db, _ := newDB(t)
	addBatch(t, db, "small", locality.Settings{}, someJobs(40))
	addBatch(t, db, "large", locality.Settings{Hosts: 3}, someJobs(1000))
	workBatch(t, db, "large")
	states, hands, errors := make(map[string]int), 0, 0
	err := db.View(func(tx *Tx) error {
		return tx.Batches().EachJob("large", func(_ int, j *locality.Job, task *locality.Task) error {
			states[task.State(j)]++
			hands += len(task.Instances)
			errors += task.Errors
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for state, n := range states {
		if got := answered(t, db, "SELECT count(*) FROM batch_jobs WHERE batch = 'large' AND state = ?",
			state); got != fmt.Sprint(n) {
			t.Errorf("jobs that are %s: %s, not %d", state, got, n)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"SELECT count(*), max(job), sum(errors) FROM batch_jobs WHERE batch = 'large'",
			fmt.Sprintf("1000|999|%d", errors)},
		{"SELECT sum(length(hosts) - length(replace(hosts, ':', ''))) FROM batch_jobs", fmt.Sprint(hands)},
		{"SELECT batch, count(*), max(number) - count(*) FROM batch_files GROUP BY batch ORDER BY 1",
			"'large'|343|-1\n'small'|23|-1"},
		{"SELECT b.name, count(*) FROM batches b JOIN batch_jobs j ON j.batch = b.name GROUP BY 1 ORDER BY 1",
			"'large'|1000\n'small'|40"},
		{"SELECT count(*) FROM batch_jobs WHERE batch IS NULL OR batch = 'gone'", "0"},
		{"SELECT count(*) = (SELECT count(*) FROM hosts) FROM batch_hosts WHERE batch = 'large'", "1"},
	} {
		if got := answered(t, db, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestQueryAllocationsOfNode compares what is found by node with all allocations filtered, of
// jobs with many nodes, some of them of several chunks.
func TestQueryAllocationsOfNode(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 300, 8)
	for _, sel := range []string{"100:ncpus=4", "3:ncpus=2+150:ncpus=3", "40:ncpus=1", "2:ncpus=1"} {
		if _, _, err := place(db, sel, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if n := answered(t, db, "SELECT count(*) > 250 FROM allocations"); n != "1" {
		t.Fatal("there are few allocations")
	}
	for i := range 300 {
		name := fmt.Sprint("n", i)
		found := answered(t, db, "SELECT job, chunk, ncpus FROM allocations WHERE node = ? ORDER BY 1, 2", name)
		sifted := answered(t, db, "SELECT job, chunk, ncpus FROM allocations WHERE node || '' = ? ORDER BY 1, 2", name)
		if found != sifted {
			t.Errorf("%s:\nfound  %s\nsifted %s", name, found, sifted)
		}
	}
}
