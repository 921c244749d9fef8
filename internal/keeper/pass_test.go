package keeper

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// wouldSee is a database in which a cycle would see a given number.
type wouldSee struct {
	Database
	*Startable
}

func (db wouldSee) Look(ctx context.Context) (*View, error) {
	v, err := db.Database.Look(ctx)
	if err == nil {
		v.Startable = *db.Startable
	}
	return v, err
}

// TestDue: if nothing changes, cycles are made when something begins by the clock.
func TestDue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := runnerIn(s.dir)
	r.Stamp = func() string { return "the same" }
	p := r.NewPasses()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n := 0
	p.Cycle = func() (Cycled, error) {
		if n++; n == 10 {
			cancel()
		}
		return Cycled{Due: time.Now()}, nil
	}
	if p.Work(ctx, Wakes{Every: time.Millisecond}); n < 10 { //nolint:errcheck // it ends with the context
		t.Errorf("%d cycles in 20 s, though something is always due", n)
	}
}

// TestStartable: a cycle follows a change that may let something start. Other changes get one only if none was
// made for a while.
func TestStartable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := runnerIn(s.dir)
	stamp := "a"
	r.Stamp = func() string { return stamp }
	p := r.NewPasses()
	var is Startable
	made := 0
	p.DB = wouldSee{p.DB, &is}
	p.Cycle = func() (Cycled, error) { made++; return Cycled{Startable: is}, nil }
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		change func()
		makes  bool
	}{
		{"the first turn", func() {}, true},
		{"nothing", func() {}, false},
		{"a beat", func() { stamp = "b" }, false},
		{"a submission", func() { stamp, is.Commits = "c", 1 }, true},
		{"a long time", func() { p.cycled = p.cycled.Add(-time.Hour) }, false},
		{"a beat a long time after the last cycle", func() { stamp = "d" }, true},
		{"a restored database", func() { stamp, is.Epoch = "e", 7 }, true},
		{"a beat soon after", func() { stamp = "f" }, false},
		{"the same, a long time later", func() { p.cycled = p.cycled.Add(-time.Hour) }, true},
		{"a plan that has come due", func() { p.Due = time.Now() }, true},
	} {
		c.change()
		was := made
		if p.Turn(ctx); made-was > 1 || made > was != c.makes {
			t.Errorf("%s: %d cycles, want one: %v", c.name, made-was, c.makes)
		}
	}
}

// TestComesDuringCycle: what is submitted between a cycle and the look at the database after it gets a cycle
// of its own, at once.
func TestComesDuringCycle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := runnerIn(s.dir)
	stamp, made := "a", 0
	r.Stamp = func() string { return stamp }
	p := r.NewPasses()
	var is Startable
	p.DB = wouldSee{p.DB, &is}
	p.Cycle = func() (Cycled, error) {
		saw := is
		if made++; made == 1 {
			stamp, is.Commits = "b", 1
		}
		return Cycled{Startable: saw}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	changed := make(chan struct{}, 1)
	changed <- struct{}{}
	p.Turn(ctx)
	if !p.Wait(ctx, Wakes{Changed: changed}) {
		t.Error("Wait waits although a job came during the cycle")
	}
	if p.Turn(ctx); made != 2 {
		t.Errorf("%d cycles, want a second one for what came during the first", made)
	}
	if p.Turn(ctx); made != 2 {
		t.Errorf("%d cycles, want 2: nothing has come since", made)
	}
}

// TestPacing: there are pauses between turns and between cycles, and longer ones if cycles take long.
func TestPacing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ took, pause time.Duration }{
		{0, 20 * time.Millisecond}, {4 * time.Millisecond, 20 * time.Millisecond},
		{10 * time.Millisecond, 50 * time.Millisecond},
		{70 * time.Millisecond, 350 * time.Millisecond}, {time.Second, 350 * time.Millisecond},
	} {
		if got := pauseBehind(c.took); got != c.pause {
			t.Errorf("pauseBehind(%v) = %v, want %v", c.took, got, c.pause)
		}
	}
	s := newSite(t)
	r := runnerIn(s.dir)
	n := 0
	r.Stamp = func() string { n++; return fmt.Sprint(n) }
	p := r.NewPasses()
	var is Startable
	var began, ended []time.Time
	p.DB = wouldSee{p.DB, &is}
	p.Cycle = func() (Cycled, error) {
		began = append(began, time.Now())
		time.Sleep(30 * time.Millisecond)
		ended = append(ended, time.Now())
		return Cycled{Startable: is}, nil
	}
	ctx := context.Background()
	p.Turn(ctx)
	is.Commits++
	p.Turn(ctx)
	if len(began) != 2 {
		t.Fatalf("%d cycles, want 2", len(began))
	}
	if pause := began[1].Sub(ended[0]); pause < 150*time.Millisecond {
		t.Errorf("a cycle begins %v after one of 30 ms", pause)
	}
	last := time.Now()
	p.Turn(ctx)
	if pause := time.Since(last); pause < leastPause {
		t.Errorf("a turn without a cycle ends %v after the previous one", pause)
	}
}

// TestGivesMemoryBack: the garbage of a cycle is collected once, when nothing happens any more.
func TestGivesMemoryBack(t *testing.T) {
	p := runnerIn(newSite(t).dir).NewPasses()
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	for _, c := range []struct {
		ago  time.Duration // since the last cycle
		more uint32
	}{{time.Second, 0}, {trimAfter + time.Second, 1}} {
		p.cycled = time.Now().Add(-c.ago)
		for i := range uint32(2) {
			before := forced()
			p.Due = time.Now().Add(10 * time.Millisecond)
			if p.Wait(t.Context(), Wakes{}); forced()-before != c.more*(1-i) {
				t.Errorf("a cycle %v ago, wait %d: %d garbage collections", c.ago, i, forced()-before)
			}
		}
	}
}

// TestTidy: a pass removes the free slots and the bell of a keeper that was killed.
func TestTidy(t *testing.T) {
	t.Parallel()
	r := runnerIn(newSite(t).dir)
	st, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	sl, err := st.openSlot(slotName(r.Host, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer sl.close()
	bell, err := st.hangBell(bellName(r.Host))
	if err != nil {
		t.Fatal(err)
	}
	defer bell.Close()
	if err := r.NewPasses().Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(st.path)
	for _, e := range left {
		if e.Name() != beatFile {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err != nil || len(left) > 1 {
		t.Error(left, err)
	}
}
