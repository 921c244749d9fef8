package placer

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everyInstant does what Starts does, without skipping instants.
func (s *Snapshot) everyInstant(a Ask, after int64, count int) ([]*Plan, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return nil, err
	}
	var plans []*Plan
	var short shortfall
	for in := range m.instants(max(after, s.Now)) {
		plan, missing, err := m.place(in.at, in.ended)
		if err != nil {
			return nil, err
		}
		if plan == nil {
			short = missing
		} else if plans = append(plans, plan); len(plans) >= count {
			break
		}
	}
	if len(plans) == 0 {
		return nil, m.noStart(short)
	}
	return plans, nil
}

// TestStartsPassOver: skipping instants changes neither starts nor refusals.
func TestStartsPassOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			c.disturb(t)
			c.drawStepped(t)
			a := c.drawAsk(t)
			if rapid.Bool().Draw(t, "more") {
				a.Chunks[0].Count += rapid.IntRange(0, 8).Draw(t, "more chunks")
			}
			after := c.Now + rapid.Int64Range(0, 20).Draw(t, "after")
			count := rapid.IntRange(1, 4).Draw(t, "count")
			got, gotErr := c.Starts(a, after, count)
			want, wantErr := c.everyInstant(a, after, count)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || len(got) != len(want) {
				t.Fatalf("%v, %v; trying every instant %v, %v", got, gotErr, want, wantErr)
			}
			for i := range got {
				if diff := gocmp.Diff(numbersOf(picksOf(want[i])), numbersOf(picksOf(got[i]))); diff != "" ||
					got[i].Start != want[i].Start || got[i].Set != want[i].Set {
					t.Fatalf("start %d: %v", i, diff)
				}
			}
			if len(got) > 0 && rapid.Bool().Draw(t, "reserve") {
				c.reserve(t, got[0])
			}
		}
	})
}

// drawStepped may make the searches that follow sweep at once.
func (c *cluster) drawStepped(t *rapid.T) {
	if rapid.Bool().Draw(t, "stepped") {
		c.Calendar.FindRoom(nil, 1, 1, c.Now)
	}
}
