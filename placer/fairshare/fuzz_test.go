package fairshare

import (
	"encoding/binary"
	"testing"
)

// FuzzPlan reads numbers of any size from the input, and checks plans against the promises of
// the package. What is refused must be outside the limits.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{10, 0, 5, 1, 200, 3, 4, 5, 6, 7, 8, 9})
	f.Add(binary.AppendUvarint([]byte{1, 1, 1, 1, 1}, MaxCount))
	f.Fuzz(func(t *testing.T, data []byte) {
		number := func() int {
			n, size := binary.Uvarint(data)
			data = data[max(1, size):]
			return int(n)
		}
		next := func() int {
			if len(data) == 0 {
				return 0
			}
			return number()
		}
		s := &State{TotalWorkers: next(), Away: next(), Now: int64(next()),
			Rebalance: Rebalance{Threshold: next(), MinDuration: int64(next())},
			Timer:     Timer{Running: next()&1 == 1, Since: int64(next())}}
		for len(data) > 0 && len(s.Classes) < 200 {
			c := Class{Name: string(rune('a' + len(s.Classes))), Load: next(), Running: next()}
			for range next() & 3 {
				j := Job{Running: next(), Waiting: next()}
				c.Waiting += j.Waiting
				c.Jobs = append(c.Jobs, j)
			}
			if len(c.Jobs) == 0 {
				c.Waiting = next()
			}
			s.Classes = append(s.Classes, c)
		}
		var p Planner
		plan, err := p.Plan(s)
		if err != nil {
			return
		}
		checkPlan(t, s, plan)
		plan = copied(plan)
		for i := range s.Classes {
			if s.Classes[i].Load > MaxCount/7 {
				return
			}
			s.Classes[i].Load *= 7
		}
		if again := mustPlan(t, &p, s); again.Starts != plan.Starts || again.Stops != plan.Stops ||
			again.Timer != plan.Timer {
			t.Fatalf("with loads times 7: %+v\nbefore: %+v", again, plan)
		}
	})
}
