package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestHistory: who had which node when, what that was an hour ago, and which jobs block a job,
// compared with values computed by hand.
func TestHistory(t *testing.T) {
	db, c := newDB(t)
	addNodes(t, db, "n", 3, 8)
	must := func(fn func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	submit := func(sel, place string) func(tx *Tx) error {
		return func(tx *Tx) error {
			_, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: sel, Place: place, Walltime: 2 * time.Hour, User: "ann"}})
			return err
		}
	}
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
	must(submit("2:ncpus=2", "pack")) // both chunks on one node
	must(submit("1:ncpus=8+1:ncpus=4", "scatter"))
	c.t += 60
	must(cycle)
	c.t += 3600
	must(func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 0, ""); return err })
	must(submit("1:ncpus=6:mem=0", "free"))
	must(submit("3:ncpus=8", "scatter"))
	c.t += 600
	must(cycle)
	c.t += 60
	for _, q := range []struct{ text, want string }{
		{"SELECT job, attempt, node, start, \"end\", until, held, ncpus, user FROM history ORDER BY job, node",
			"1|1|'n0'|1000060|1003660|1003660|3600|4|'ann'\n2|1|'n0'|1000060|NULL|1004320|4260|4|'ann'\n" +
				"2|1|'n1'|1000060|NULL|1004320|4260|8|'ann'\n3|1|'n2'|1004260|NULL|1004320|60|6|'ann'"},
		{"SELECT job, node, ncpus FROM history WHERE job = 2 ORDER BY 2", "2|'n0'|4\n2|'n1'|8"},
		{"SELECT job, chunk, node, ncpus FROM allocations AT 'now-1h' ORDER BY 1, 2",
			"1|0|'n0'|4\n2|0|'n1'|8\n2|1|'n0'|4"},
		{"SELECT count(*) FROM allocations AT 'now-20h'", "0"},
		{"SELECT job, \"end\" FROM allocations AT '@1003659' WHERE job = 1", "1|1003660"},
		{"SELECT sum(ncpus * (min(until, h.value + '1h') - max(start, h.value))) FROM generate_series('@999600', " +
			"'@1003200', '1h') AS h JOIN history ON start < h.value + '1h' AND until > h.value GROUP BY h.value " +
			"ORDER BY h.value",
			"50240\n15640"},
		{"SELECT job, chunk, count, ncpus FROM chunks WHERE job < 3 ORDER BY 1, 2", "1|0|2|2\n2|0|1|8\n2|1|1|4"},
		{"SELECT job, wait, slowdown FROM jobs ORDER BY job",
			"1|60|1.0166666666666666\n2|60|NULL\n3|600|NULL\n4|660|NULL"},
		{"SELECT blocked_by, node FROM blockers(4) ORDER BY 2", "2|'n0'\n2|'n1'\n3|'n2'"},
		{"SELECT j.job, count(DISTINCT b.blocked_by) FROM jobs j LEFT JOIN blockers(j.job) b GROUP BY 1 ORDER BY 1",
			"1|0\n2|0\n3|0\n4|2"},
		{"SELECT j.job, r.reason FROM jobs j JOIN reasons(j.job) r WHERE j.state = 'queued' OR j.state = 'reserved' " +
			"ORDER BY 1, 2 LIMIT 1", "4|'short'"},
		{"SELECT * FROM buckets AT 'now-1h'", "error: line 1, column 15: buckets: table buckets: AT " +
			"1970-01-12T13:58:40Z is past: of that only nodes and allocations are known; the table history has who " +
			"had which node when"},
		{"SELECT * FROM nodes AT 0", "error: line 1, column 15: nodes: table nodes: AT 1970-01-01T00:00:00Z is past, " +
			"and what nodes were is on record since 1970-01-12T13:46:40Z"},
		{"SELECT name, state, jobs, ncpus_free, load IS NULL FROM nodes AT 'now-1h' ORDER BY 1",
			"'n0'|'busy'|2|0|1\n'n1'|'busy'|1|0|1\n'n2'|'free'|0|8|1"},
		{"SELECT start, \"end\", until, nodes, up, ncpus, ncpus_up FROM capacity", "1000000|NULL|1004320|3|3|24|24"},
		{"SELECT day, start, \"end\", seconds FROM per_day('@86300', '@172900')",
			"0|86300|86400|100\n86400|86400|172800|86400\n172800|172800|172900|100"},
		{"SELECT sum(h.ncpus * p.seconds) FROM history h JOIN per_day(h.start, h.until) p GROUP BY p.day", "65880"},
		{"SELECT count(*) FROM per_day(NULL, 'now')", "0"},
		{"SELECT count(*) FROM per_day('now', 'now')", "0"},
		{"SELECT count(*) FROM per_day('@1', '@99999999999')", "error: line 1, column 22: per_day: invalid stretch " +
			"of time from 1970-01-01T00:00:01Z to 5138-11-16T09:46:39Z: per_day splits up to 100000 days"},
		{"SELECT * FROM blockers(99)", "error: line 1, column 15: blockers: no job \"99\": not found"},
		{"SELECT * FROM blockers('x')", "error: line 1, column 15: blockers: invalid: blockers takes a job number"},
	} {
		if got := answered(t, db, q.text); got != q.want {
			t.Errorf("%s\n got %s\nwant %s", q.text, got, q.want)
		}
	}
}
