package placer_test

import (
	"errors"
	"fmt"
	"iter"
	"log"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// newSnapshot returns four nodes of 8 cpus; the first two are taken until 1800.
func newSnapshot(defs *index.Defs) *placer.Snapshot {
	ix := index.New(defs, defs.DefaultSignature(), nil, index.Limits{})
	calendar := timeline.NewCalendar(nil, 0, 0)
	for i := range uint32(4) {
		node := &index.Node{Number: i}
		if err := node.SetAmount(defs, "ncpus", "8"); err != nil {
			log.Fatal(err)
		}
		if i >= 2 {
			ix.Insert(node, index.Free)
			continue
		}
		ix.Insert(node, index.Busy)
		if err := calendar.Add(i, timeline.Busy{Start: 0, End: 1800, Owner: 1}); err != nil {
			log.Fatal(err)
		}
	}
	releases := func(after int64) iter.Seq2[int64, []uint32] {
		return func(yield func(int64, []uint32) bool) {
			if after < 1800 {
				yield(1800, []uint32{0, 1})
			}
		}
	}
	return &placer.Snapshot{Index: ix, Calendar: calendar, Releases: releases}
}

// A decision needs nothing but a snapshot: an index of the nodes, a calendar of what is on them, and
// an instant. The result is a plan, or a refusal.
func ExampleSnapshot() {
	defs := index.NewDefs()
	snapshot := newSnapshot(defs) // at 0
	for _, wish := range []string{"2:ncpus=8", "3:ncpus=8", "5:ncpus=8"} {
		spec, err := placer.Parse(defs, placer.Request{Select: wish, Place: "scatter:excl"})
		if err != nil {
			log.Fatal(err)
		}
		ask := placer.Ask{Spec: spec, Duration: 3600}
		plan, err := snapshot.Place(ask, 0)
		if errors.Is(err, placer.ErrNotNow) {
			fmt.Println(wish, err)
			plan, err = snapshot.Earliest(ask, 0)
		}
		if err != nil {
			fmt.Println(wish, err)
			continue
		}
		fmt.Println(wish, "on the nodes", plan.NodeNumbers(), "from", plan.Start, "until", plan.End)
	}
	// Output:
	// 2:ncpus=8 on the nodes [2 3] from 0 until 3600
	// 3:ncpus=8 cannot run now: chunk 1 (3:ncpus=8): room for 2 of 3
	// 3:ncpus=8 on the nodes [0 1 2] from 1800 until 5400
	// 5:ncpus=8 can never run: chunk 1 (5:ncpus=8): only 4 of 5 would fit the cluster when empty
}
