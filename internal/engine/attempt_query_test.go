package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer"
)

// sameAttempts compares the table attempts with what EachAttempt returns, as a whole and by
// job. It also compares the columns of the table jobs that are about attempts with the jobs.
func sameAttempts(t fataler, tx *Tx) {
	quoted := func(s fmt.Stringer) string {
		if s.String() == "" {
			return "NULL"
		}
		return "'" + s.String() + "'"
	}
	const columns = "SELECT job, attempt, state, by, outcome, ended IS NULL, nodes IS NULL FROM attempts"
	var all []string
	ofJob := make(map[uint64][]string)
	err := tx.Attempts().Each(0, func(a *Attempt) error {
		flag := map[bool]int{true: 1}
		line := fmt.Sprintf("%d|%d|'%s'|%s|%s|%d|%d", a.Job, a.Number, a.State, quoted(a.By), quoted(a.Outcome),
			flag[a.Ended.IsZero()], flag[len(a.AllNodes()) == 0])
		all, ofJob[a.Job] = append(all, line), append(ofJob[a.Job], line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Join(all, "\n"), askTx(t, tx, columns)); diff != "" {
		t.Fatal("the table attempts: " + diff)
	}
	err = tx.Jobs().Each(func(j *Job) error {
		if diff := cmp.Diff(strings.Join(ofJob[j.ID], "\n"),
			askTx(t, tx, fmt.Sprintf("%s WHERE job = %d", columns, j.ID))); diff != "" {
			t.Fatal(fmt.Sprintf("attempts of job %d: %s", j.ID, diff))
		}
		want := fmt.Sprintf("%d|%t|%t", j.Attempt, j.Claimed, j.Ending)
		got := askTx(t, tx, fmt.Sprintf("SELECT ifnull(attempt, 0), iif(claimed, 'true', 'false'), iif(ending, "+
			"'true', 'false') FROM jobs WHERE job = %d", j.ID))
		if got = strings.ReplaceAll(got, "'", ""); got != want {
			t.Fatal(fmt.Sprintf("job %d in the table jobs: %s, not %s", j.ID, got, want))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameThen compares the allocations of past instants, which only read jobs that had not ended,
// with the whole history. The instants are those at which something began or ended, and those
// just before.
func sameThen(t fataler, tx *Tx) {
	instants := map[int64]bool{}
	err := tx.Attempts().Each(0, func(a *Attempt) error {
		for _, at := range []time.Time{a.Began, a.Ended} {
			if !at.IsZero() {
				instants[at.Unix()], instants[at.Unix()-1] = true, true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := range instants {
		if at >= tx.Now().Unix() || at <= 0 {
			continue
		}
		then := askTx(t, tx, fmt.Sprintf("SELECT DISTINCT job, node FROM allocations AT '@%d' ORDER BY 1, 2", at))
		ever := askTx(t, tx, fmt.Sprintf("SELECT DISTINCT job, node FROM history WHERE start <= %d AND (\"end\" > "+
			"%[1]d OR \"end\" IS NULL) ORDER BY 1, 2", at))
		if diff := cmp.Diff(ever, then); diff != "" {
			t.Fatal(fmt.Sprintf("allocations AT @%d: %s", at, diff))
		}
	}
}

// TestQueryAttempts: what an attempt has used is in both tables; the table jobs has that of
// the last one.
func TestQueryAttempts(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 4)
	must := func(fn func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
	must(func(tx *Tx) error { return tx.Attempts().LaunchBy(LaunchWork) })
	must(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
			Name: "x"}, Command: []string{"false"},
			Payload: &Payload{Dir: "/", Ending: Ending{Retries: 1, RetryWait: time.Second}}})
		return err
	})
	must(cycle)
	for number, use := range []ResourceUse{{CPUUser: 1500 * time.Millisecond, MaxRSS: 1 << 20},
		{CPUUser: 2 * time.Second, CPUSystem: time.Second, MaxRSS: 5 << 20, MemPeak: 6 << 20, Leftover: 2}} {
		must(func(tx *Tx) error {
			_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: number + 1, By: BySupervisor,
				Nonce: Nonce{byte(number + 1)}, Process: Process{Host: "n00", PID: 7}})
			return err
		})
		must(func(tx *Tx) error {
			_, err := tx.Attempts().Report(Result{Job: 1, Attempt: number + 1, Nonce: Nonce{byte(number + 1)},
				Outcome: OutcomeExited, Exit: 3, Use: use})
			return err
		})
		clock.t += 100
		must(cycle)
	}
	for _, c := range []struct{ text, want string }{
		{"SELECT attempt, host, pid, exit, cpu_user, cpu_sys, max_rss, mem_peak, leftover, nodes FROM attempts",
			"1|'n00'|7|3|1.5|NULL|1048576|NULL|NULL|'n0'\n2|'n00'|7|3|2.0|1.0|5242880|6291456|2|'n0'"},
		{"SELECT state, attempt, cpu_user, cpu_sys, max_rss, mem_peak FROM jobs", "'failed'|2|2.0|1.0|5242880|6291456"},
		{"SELECT name, max(max_rss) FROM jobs GROUP BY name", "'x'|5242880"},
		{"SELECT count(*) FROM attempts WHERE max_rss > '2mb' AND job BETWEEN 1 AND 3", "1"},
		{"SELECT j.name, a.attempt FROM jobs j JOIN attempts a ON a.job = j.job WHERE j.job = 1", "'x'|1\n'x'|2"},
		{"SELECT count(*) FROM attempts WHERE job IS NULL OR job = -1 OR job = 99", "0"},
		{"SELECT column_name, how FROM sys_indexes WHERE table_name = 'attempts'", "'job'|'order'\n'job'|'key'"},
	} {
		if got := answered(t, db, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	err := db.View(func(tx *Tx) error { sameAttempts(t, tx); sameThen(t, tx); return nil })
	if err != nil {
		t.Fatal(err)
	}
}
