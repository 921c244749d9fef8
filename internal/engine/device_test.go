package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// gpuNode declares g1 with devices, and whatever else is given as name=value.
func gpuNode(t testing.TB, db *DB, name string, values ...string) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		n := &index.Node{Name: name}
		for _, v := range values {
			key, value, _ := strings.Cut(v, "=")
			def, _ := defs.Lookup(key)
			if devices.Named(value) {
				set, err := devices.Parse(value)
				if err != nil {
					return err
				}
				n.SetDevices(def.ID, set)
			} else if err := n.SetAmount(defs, key, value); err != nil {
				return err
			}
		}
		_, err = tx.Nodes().Put(n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// begin places a request and returns the job and its devices.
func begin(t testing.TB, db *DB, r placer.Request) (uint64, string) {
	t.Helper()
	var id uint64
	var text string
	err := db.Update(func(tx *Tx) error {
		if r.Walltime == 0 {
			r.Walltime = time.Hour
		}
		j, err := tx.Jobs().Place(r)
		if err != nil {
			return err
		}
		id = j.ID
		text, err = tx.Devices().Of(j)
		return err
	})
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return id, text
}

func mustUpdate(t testing.TB, db *DB, fn func(tx *Tx) error) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func devicesOf(t testing.TB, db *DB, id uint64) (text string) {
	t.Helper()
	err := db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err == nil {
			text, err = tx.Devices().Of(j)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sound(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Fatal(err)
	}
}

func TestDevicesOfJobs(t *testing.T) {
	db, _ := newDB(t)
	gpuNode(t, db, "g1", "ncpus=0-15@0+16-31@1", "ngpus=0-1@0+2-3@1", "mem=64gb")
	a, got := begin(t, db, placer.Request{Select: "1:ncpus=4:ngpus=1"})
	if got != "g1:ngpus=0:ncpus=0-3" {
		t.Error(got)
	}
	if _, got := begin(t, db, placer.Request{Select: "1:ncpus=8:ngpus=2"}); got != "g1:ngpus=2-3:ncpus=16-23" {
		t.Error(got)
	}
	// the group with fewest free
	if _, got := begin(t, db, placer.Request{Select: "1:ncpus=2"}); got != "g1:ncpus=24-25" {
		t.Error(got)
	}
	if err := db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ngpus=2", Walltime: time.Hour})
		return err
	}); !errors.Is(err, placer.ErrNotNow) {
		t.Error(err)
	}
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Extend(a, 2*time.Hour); return err })
	if got := devicesOf(t, db, a); got != "g1:ngpus=0:ncpus=0-3" {
		t.Error("extended:", got)
	}
	sound(t, db)
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Release(a); return err })
	if got := devicesOf(t, db, a); got != "" {
		t.Error("ended:", got)
	}
	if _, got := begin(t, db, placer.Request{Select: "1:ncpus=1:ngpus=2",
		Bind: "scatter"}); got != "g1:ngpus=0-1:ncpus=0" {
		t.Error(got)
	}
	sound(t, db)
}

// A job that has a node for itself has all its devices in service.
func TestDevicesOfWholeNodes(t *testing.T) {
	db, _ := newDB(t)
	gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
	gpuNode(t, db, "g2", "ncpus=8", "ngpus=a,b@0")
	addNodes(t, db, "n", 1, 8)
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Devices().Drain(0, "ngpus", []string{"2"}, "ecc"); return err })
	if _, got := begin(t, db,
		placer.Request{Select: "3:ncpus=1", Place: "scatter:excl"}); got != "g1:ngpus=0-1,3+g2:ngpus=a,b" {
		t.Error(got)
	}
	sound(t, db)
}

// A device that is drained while a job has it counts neither for the node nor for the job.
func TestDrainDeviceInUse(t *testing.T) {
	db, clock := newDB(t)
	gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
	a, _ := begin(t, db, placer.Request{Select: "1:ngpus=2"})
	var planned *Job
	mustUpdate(t, db, func(tx *Tx) (err error) {
		planned, err = tx.Jobs().PlaceAt(placer.Request{Select: "1:ngpus=4", Walltime: time.Hour},
			time.Unix(clock.t+3600, 0))
		return err
	})
	mustUpdate(t, db, func(tx *Tx) error {
		if _, err := tx.Devices().Drain(0, "ngpus", []string{"1"}, "ecc"); err != nil {
			return err
		}
		if m := tx.Nodes().Moved(); len(m) != 1 || m[0].ID != planned.ID || m[0].State != JobFailed {
			t.Errorf("moved: %+v", m)
		}
		return nil
	})
	sound(t, db)
	if _, got := begin(t, db, placer.Request{Select: "1:ngpus=2"}); got != "g1:ngpus=2-3" {
		t.Error(got)
	}
	sound(t, db)
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Release(a); return err })
	if _, got := begin(t, db, placer.Request{Select: "1:ngpus=1"}); got != "g1:ngpus=0" {
		t.Error(got)
	}
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Devices().Resume(0, "ngpus", []string{"1"}); return err })
	if _, got := begin(t, db, placer.Request{Select: "1:ngpus=1"}); got != "g1:ngpus=1" {
		t.Error(got)
	}
	sound(t, db)
}

// A planned job gets its devices when a writer lets it begin, not when a reader looks.
func TestDevicesByTheClock(t *testing.T) {
	db, clock := newDB(t)
	gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
	var planned *Job
	mustUpdate(t, db, func(tx *Tx) (err error) {
		planned, err = tx.Jobs().PlaceAt(placer.Request{Select: "1:ngpus=2", Walltime: time.Hour},
			time.Unix(clock.t+60, 0))
		return err
	})
	clock.t += 60
	if got := devicesOf(t, db, planned.ID); got != "" {
		t.Error("a reader:", got)
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.happenedNothing() })
	if got := devicesOf(t, db, planned.ID); got != "g1:ngpus=0-1" {
		t.Error("after a writer:", got)
	}
	sound(t, db)
}

// happenedNothing makes a change that only changes the instant of the file.
func (tx *Tx) happenedNothing() error { tx.k.Dirty = true; return nil }

// Changes that are impossible while jobs have devices, or unnamed amounts, change nothing.
func TestDevicesInUseStay(t *testing.T) {
	db, _ := newDB(t)
	mustUpdate(t, db, func(tx *Tx) error {
		return tx.Config().AddResource(index.Def{Name: "gslices", Type: index.Long, Consumable: true})
	})
	gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
	gpuNode(t, db, "g2", "ncpus=8", "ngpus=4")
	a, _ := begin(t, db, placer.Request{Select: "1:ngpus=1"})
	b, _ := begin(t, db, placer.Request{Select: "1:ngpus=4"})
	renamed := func(node, text string) func(tx *Tx) error {
		return func(tx *Tx) error {
			n, err := tx.Nodes().Get(node)
			if err != nil {
				return err
			}
			set, err := devices.Parse(text)
			if err != nil {
				return err
			}
			n.SetDevices(index.NGPUs, set)
			_, err = tx.Nodes().Put(n)
			return err
		}
	}
	for why, tried := range map[string]func(tx *Tx) error{
		"ncpus of node g2: job 2 has some of it from before its devices were named, so its devices are unknown": func(
			tx *Tx) error {
			n, err := tx.Nodes().Get("g2")
			if err != nil {
				return err
			}
			n.SetDevices(index.NCPUs, devices.Numbered(8))
			_, err = tx.Nodes().Put(n)
			return err
		},
		"ngpus of node g1: job 1 has device 0": renamed("g1", "1-3@0"),
		"ngpus of node g1: job 1 is using device 0, so it cannot be cut": func(tx *Tx) error {
			_, err := tx.Devices().Cut(0, "ngpus", []string{"0"}, 4, "gslices")
			return err
		},
		"ngpus of node g1: 4 of its devices are in service, but the amount is 3; ngpus= forgets the devices": func(
			tx *Tx) error {
			n, err := tx.Nodes().Get("g1")
			if err != nil {
				return err
			}
			n.Set(index.NGPUs, index.Value{Num: 3})
			_, err = tx.Nodes().Put(n)
			return err
		},
	} {
		if err := db.Update(tried); !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v\nnot %s", err, why)
		}
	}
	mustUpdate(t, db, renamed("g1", "0@1+7,8@0")) // 0 stays, under another position
	if got := devicesOf(t, db, a); got != "g1:ngpus=0" {
		t.Error(got)
	}
	mustUpdate(t, db, renamed("g1", "0-3@0"))
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Devices().Cut(0, "ngpus", []string{"3"}, 4, "gslices")
		return err
	})
	if _, got := begin(t, db, placer.Request{Select: "1:gslices=3"}); got != "g1:gslices=3/0-2" {
		t.Error(got)
	}
	if err := db.Update(func(tx *Tx) error {
		_, err := tx.Devices().Cut(0, "ngpus", []string{"3"}, 0, "")
		return err
	}); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	for _, cut := range []int{3, 5} { // its slices keep their names, and would be of another size
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Devices().Cut(0, "ngpus", []string{"3"}, cut, "gslices")
			return err
		})
		if want := fmt.Sprintf("gslices of node g1: job 3 has device 3/0, which is one of 4 slices and would "+
			"be one of %d", cut); !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Release(b); return err })
	mustUpdate(t, db, renamed("g2", "0-3@0"))
	sound(t, db)
}

// The devices of an attempt stay known after it is over, whatever devices the node then names.
// An unclaimed attempt is described without devices.
func TestDevicesOfAttemptsThatAreOver(t *testing.T) {
	db, _ := newDB(t)
	gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
	gpuNode(t, db, "n1", "ncpus=8", "ngpus=4")
	placed, _ := begin(t, db, placer.Request{Select: "1:ngpus=2:host=g1"})
	plain, _ := begin(t, db, placer.Request{Select: "1:ngpus=2:host=n1"})
	var queued uint64
	mustUpdate(t, db, func(tx *Tx) error {
		j, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ngpus=1:host=g1", Walltime: time.Hour}})
		if err == nil {
			queued = j[0].ID
			_, err = tx.Cycle().Run(CycleSpec{})
		}
		return err
	})
	same := func(what string, job uint64, want ...string) {
		t.Helper()
		var got []string
		err := db.View(func(tx *Tx) error {
			return tx.Attempts().Each(job, func(a *Attempt) error { got = append(got, a.Devices); return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: job %d had %q, not %q", what, job, got, want)
		}
	}
	same("running", placed, "g1:ngpus=0-1")
	same("running", queued, "g1:ngpus=2")
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Requeue(queued, "test"); return err })
	mustUpdate(t, db, func(tx *Tx) error {
		_, err1 := tx.Jobs().Release(placed)
		_, err2 := tx.Jobs().Release(plain)
		return errors.Join(err1, err2)
	})
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
	same("released", placed, "g1:ngpus=0-1")
	same("counted", plain, "n1:ngpus=0-1")
	same("at the second attempt", queued, "g1:ngpus=2", "g1:ngpus=0")
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Finish(queued, 3, "bad"); return err })
	mustUpdate(t, db, func(tx *Tx) error { return tx.Nodes().Remove(0) })
	same("its node is gone", placed, "g1:ngpus=0-1")
	same("failed", queued, "g1:ngpus=2", "g1:ngpus=0")
	err := db.View(func(tx *Tx) error {
		a, err1 := tx.Attempts().Get(placed, 0)
		b, err2 := tx.Attempts().Get(plain, 0)
		c, err3 := tx.Attempts().Get(queued, 0)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if a.State != b.State || a.Outcome != b.Outcome || a.Exit != b.Exit || a.Why != b.Why ||
			!a.Ended.Equal(b.Ended) || !a.Began.Equal(b.Began) || len(a.Chunks) != 1 {
			t.Errorf("with devices %+v, without %+v", a, b)
		}
		if c.Outcome != OutcomeExited || c.Exit != 3 || c.Why != "bad" {
			t.Errorf("the attempt that failed: %+v", c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, db)
}

// What is free of a node is remembered during a transaction, whatever it does: jobs never
// share a device, and get one as long as the count allows.
func TestDevicesInOneTransaction(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		db, _ := newDB(outer)
		gpuNode(outer, db, "g1", "ncpus=8", "ngpus=0-1@0+2-3@1")
		gpuNode(outer, db, "g2", "ncpus=8", "ngpus=0-1@0+2-3@1")
		err := db.Update(func(tx *Tx) error {
			var jobs []uint64
			drained := map[uint32]bool{}
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				switch node := rapid.Uint32Range(0, 1).Draw(t, "node"); rapid.SampledFrom(
					[]string{"place", "place", "place", "release", "drain"}).Draw(t, "what") {
				case "place":
					n := rapid.IntRange(1, 2).Draw(t, "gpus")
					j, err := tx.Jobs().Place(placer.Request{Select: fmt.Sprintf("1:ngpus=%d", n), Walltime: time.Hour})
					var no *placer.Refusal
					if errors.As(err, &no) {
						continue
					}
					if err != nil {
						return err
					}
					jobs = append(jobs, j.ID)
				case "release":
					if len(jobs) > 0 {
						i := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
						if _, err := tx.Jobs().Release(jobs[i]); err != nil {
							return err
						}
						jobs = slices.Delete(jobs, i, i+1)
					}
				case "drain":
					change := tx.Devices().Resume
					if !drained[node] {
						change = func(node uint32, resource string, ids []string) (*index.Node, error) {
							return tx.Devices().Drain(node, resource, ids, "x")
						}
					}
					drained[node] = !drained[node]
					if _, err := change(node, "ngpus", []string{"1"}); err != nil {
						return err
					}
				}
				who := make(map[string]uint64)
				for _, id := range jobs {
					j, err := tx.Jobs().Get(id)
					if err != nil {
						return err
					}
					held, err := tx.Devices().HeldBy(j)
					if err != nil {
						return err
					}
					if len(held) == 0 {
						t.Fatalf("job %d has no devices", id)
					}
					for _, h := range held {
						for _, d := range h.Devices {
							if other := who[h.Name+d.ID]; other != 0 {
								t.Fatalf("jobs %d and %d have device %s of %s", other, id, d.ID, h.Name)
							}
							who[h.Name+d.ID] = id
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sound(outer, db)
	})
}
