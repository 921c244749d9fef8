package engine

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
)

// TestRoomThatPlansLeave: a job whose plan comes before another's starts in the cycle in which that one
// leaves its room: because it starts sooner elsewhere, because an overdue job is in its way, because it would
// go beyond a soft limit, or because it stands behind a job without a plan. All began only in a second cycle at
// the same instant.
func TestRoomThatPlansLeave(t *testing.T) {
	t.Parallel()
	type do = func(*Tx) error
	submit := func(sel string, seconds int, with ...func(*Submission)) do {
		return func(tx *Tx) error {
			s := Submission{Request: placer.Request{Select: sel, User: "ann"}}
			s.Request.Walltime = time.Duration(seconds) * time.Second
			for _, set := range with {
				set(&s)
			}
			_, err := tx.Jobs().Submit(s)
			return err
		}
	}
	bob := func(s *Submission) { s.Request.User = "bob" }
	licensed := func(s *Submission) { s.Request.Pools = []placer.PoolAmount{{Pool: "lic", Amount: 1}} }
	urgent := func(s *Submission) { s.Priority = 1 }
	after := func(s *Submission) { s.After = []Dependency{{When: AfterAny, Job: 5}} }
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
	set := func(name, value string) do { return func(tx *Tx) error { return tx.Config().Set(name, value) } }
	node := func(n uint32, is index.State) do {
		return func(tx *Tx) error { return tx.Nodes().SetState(n, is, "") }
	}
	ends := func(id uint64) do { return func(tx *Tx) error { _, err := tx.Jobs().Finish(id, 0, ""); return err } }
	kept := func(tx *Tx) error { // n0 is for others from 600 on
		begin := tx.Now().Add(600 * time.Second)
		_, err := tx.Reservations().ReserveNodes("kept", []uint32{0}, begin, begin.Add(100*time.Second))
		return err
	}
	briefly := func(tx *Tx) error { // n1 is for others for 10 s
		_, err := tx.Reservations().ReserveNodes("briefly", []uint32{1}, tx.Now(), tx.Now().Add(10*time.Second))
		return err
	}
	license := func(tx *Tx) error { return tx.Pools().Set(Pool{Name: "lic", Amount: 1}, true) }
	one := func(tx *Tx) error {
		return tx.Limits().Set(Limit{Key: "user=bob", Measure: "running", Soft: true, Max: 1})
	}
	for _, c := range []struct {
		name  string
		cpus  int64  // of each of four nodes
		job   uint64 // it starts in the last cycle
		steps map[int64][]do
	}{
		{"sooner", 1, 3, map[int64][]do{
			0: {set("backfill", "conservative"), node(0, index.Offline), license, submit("1:host=n2", 200),
				submit("1:host=n3", 100, licensed), submit("1:host=n1+1:host=n2", 300),
				submit("1", 50, licensed), cycle},
			10: {node(0, index.Up), ends(1), ends(2), cycle},
		}},
		{"promised", 2, 3, map[int64][]do{
			0: {set("backfill", "relaxed"), set("slack", "0"), node(0, index.Offline), node(3, index.Offline), kept,
				submit("1:host=n1", 100), submit("2:ncpus=2", 100), cycle, submit("1", 1000, urgent), cycle},
			10: {node(0, index.Up), cycle},
		}},
		{"overdue", 1, 4, map[int64][]do{
			0: {set("backfill", "conservative"), submit("1:host=n3", 100), submit("1:host=n0", 150),
				submit("1:host=n2", 500), submit("1:host=n1+1:host=n2", 300),
				submit("1:host=n0+1:host=n1+1:host=n3", 50), cycle},
			50:  {ends(3), cycle},
			60:  {submit("1", 10, after), cycle}, // it has looked at all plans
			110: {cycle},
		}},
		{"beyond", 1, 3, map[int64][]do{
			0: {set("backfill", "conservative"), submit("1:host=n0", 100, bob), submit("1:host=n2", 200),
				submit("1:host=n1+1:host=n2", 300), submit("1:host=n0+1:host=n1", 50, bob), cycle},
			10: {ends(2), one, cycle},
		}},
		{"behind a job without a plan", 2, 5, map[int64][]do{
			0: {set("backfill", "easy"), set("depth", "2"), node(3, index.Offline), submit("1:host=n0:ncpus=2", 500),
				submit("1:host=n1:ncpus=2", 100), submit("1:host=n2:ncpus=2", 200), cycle,
				submit("1:host=n0:ncpus=2+1:host=n2:ncpus=2", 300), cycle,
				submit("1", 1000, urgent), submit("1", 1000, urgent), submit("1", 1000, urgent), cycle},
			10: {ends(2), ends(3), briefly, cycle},
		}},
	} {
		db, clock := newDB(t)
		addNodes(t, db, "n", 4, c.cpus)
		from := clock.t
		for _, at := range slices.Sorted(maps.Keys(c.steps)) {
			clock.t = from + at
			for i, fn := range c.steps[at] {
				if err := db.Update(fn); err != nil {
					t.Fatalf("%s, step %d at %d: %v", c.name, i, at, err)
				}
			}
			last := at == slices.Max(slices.Collect(maps.Keys(c.steps)))
			err := db.View(func(tx *Tx) error {
				j, err := tx.Jobs().Get(c.job)
				if err == nil && (j.State == JobRunning) != last {
					t.Errorf("%s: job %d is %s from %d at %d", c.name, c.job, j.State, kernel.Unix(j.Start)-from, at)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
