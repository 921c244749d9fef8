package row

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf writes the keys that a stored row has in the indexes of its kind, and where it
// counts. Borrowed rows have the same.
func keysOf[T any](t *testing.T, b *strings.Builder, of *Stored[T], key, payload []byte) {
	var v T
	if err := of.Borrow(&v, key, payload); err != nil {
		t.Fatal(err)
	}
	if k := of.Key(nil, &v); string(k) != string(key) {
		t.Errorf("%s: the key %x, and is %x", of.Table, key, k)
	}
	fmt.Fprintf(b, "%s %x\n", of.Table, key)
	of.Keys(&v, func(table Table, key, value []byte) { fmt.Fprintf(b, "\t%s %x = %x\n", table, key, value) })
	for _, c := range of.Counts {
		if key := c.Key(nil, &v, payload); len(key) > 0 {
			fmt.Fprintf(b, "\t%s %x counts\n", c.Table, key)
		}
	}
}

// TestIndexKeys pins the keys of declared indexes, because package check makes them from the
// same declarations.
func TestIndexKeys(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		part := strings.Split(line, "\t")
		key, _ := hex.DecodeString(part[1])
		payload, _ := hex.DecodeString(part[2])
		switch part[0] {
		case "jobs":
			keysOf(t, &b, &JobRows, key, payload)
		case "attempts":
			keysOf(t, &b, &AttemptRows, key, payload)
		case "reservations":
			keysOf(t, &b, &ReservationRows, key, payload)
		case "answers":
			keysOf(t, &b, &AnswerRows, key, payload)
		case "hosts":
			keysOf(t, &b, &HostRows, key, payload)
		case "batch_ranges":
			keysOf(t, &b, &RangeRows, key, payload)
		}
	}
	for _, j := range []*Job{
		{JobFacts: JobFacts{ID: 7, State: JobQueued, Queued: true, Attendant: &Attendant{Process: Process{Host: "n1"}},
			JobTerms: JobTerms{Priority: -3, User: "ann", Queue: "q"}}},
		{JobFacts: JobFacts{ID: 8, State: JobRunning, Queued: true, JobTerms: JobTerms{Account: "a", Class: "c"}}},
		{JobFacts: JobFacts{ID: 9, State: JobFinished, Queued: true},
			JobTimes: JobTimes[int64, int64]{End: 1_800_000_000}},
		{JobFacts: JobFacts{ID: 10, State: JobHeld, Queued: true}},
		{JobFacts: JobFacts{ID: 11, State: JobQueued, Queued: true, Array: 11, Index: 1,
			JobTerms: JobTerms{User: "ann", Command: []string{"a"}}}},
		// of the same lot
		{JobFacts: JobFacts{ID: 12, State: JobQueued, Queued: true, Array: 11, Index: 2,
			JobTerms: JobTerms{User: "ann", Command: []string{"b"}}}},
		{JobFacts: JobFacts{ID: 13, State: JobReserved, Queued: true, Array: 11, Index: 3,
			JobTerms: JobTerms{User: "ann", Command: []string{"b"}}}},
	} {
		keysOf(t, &b, &JobRows, Key64(j.ID), EncodeJob(j))
	}
	const golden = "testdata/keys.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), b.String()); err != nil || diff != "" {
		t.Errorf("-testdata/keys.txt +is: %v\n%s", err, diff)
	}
}
