package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// attemptDevices holds the devices of a job's attempt: a pass that requeues an overdue job may
// start it again elsewhere.
type attemptDevices struct {
	number  int
	devices map[string][]string // by "node resource"
}

// deviceLife is a random life of a few nodes that name their devices. Jobs begin now, by the
// clock and from the queue, and are extended, overdue or released; reservations keep parts.
// Devices are drained, returned, cut, added and removed. The model knows the devices by name,
// and which of them each job was first seen with.
type deviceLife struct {
	t      *rapid.T
	db     *DB
	clock  *clock
	jobs   uint64
	known  map[string]map[string]*modelDevice // by "node resource", then by identity
	has    map[uint64]attemptDevices          // by job
	starts int
	steps  int
}

type modelDevice struct{ drained, cut bool }

var lifeNodes = []struct{ name, ncpus, ngpus string }{
	{"g0", "0-3@0+4-7@1", "0-1@0+2-3@1"}, {"g1", "", "0-5@0"}, {"g2", "0-3@0", ""},
}

func newDeviceLife(t *rapid.T, dir string) *deviceLife {
	l := &deviceLife{t: t, clock: &clock{t: 1_000_000}, known: make(map[string]map[string]*modelDevice),
		has: make(map[uint64]attemptDevices)}
	opt := &Options{Now: l.clock.now}
	path := filepath.Join(dir, "life.db")
	err := Create(path, opt, func(tx *Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "gslices", Type: index.Long, Consumable: true}); err != nil {
			return err
		}
		for _, of := range lifeNodes {
			n := &index.Node{Name: of.name}
			n.Set(index.NCPUs, index.Value{Num: 8})
			n.Set(index.NGPUs, index.Value{Num: 4})
			for id, text := range map[index.ResID]string{index.NCPUs: of.ncpus, index.NGPUs: of.ngpus} {
				if text != "" {
					l.name(n, id, text)
				}
			}
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		l.db, err = Open(path, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var lifeResources = map[index.ResID]string{index.NCPUs: "ncpus", index.NGPUs: "ngpus"}

// name gives a node devices, in the store and in the model.
func (l *deviceLife) name(n *index.Node, id index.ResID, text string) {
	set, err := devices.Parse(text)
	if err != nil {
		l.t.Fatal(err)
	}
	n.SetDevices(id, set)
	all := make(map[string]*modelDevice)
	for _, d := range set {
		all[d.ID] = new(modelDevice)
	}
	l.known[n.Name+" "+lifeResources[id]] = all
}

// do makes a change. Refusals are allowed, but not a start that finds fewer devices than the
// amounts promise.
func (l *deviceLife) do(what string, fn func(tx *Tx) error) bool {
	err := l.db.Update(fn)
	l.t.Logf("@%d %s: %v", l.clock.t, what, err)
	var refusal *placer.Refusal
	switch {
	case err == nil:
		return true
	case strings.Contains(err.Error(), "of the devices of"):
		l.t.Fatalf("%s: %v", what, err)
	case errors.As(err, &refusal), errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid):
		return false
	}
	l.t.Fatalf("%s: %v", what, err)
	return false
}

func (l *deviceLife) request(t *rapid.T) placer.Request {
	r := placer.Request{Walltime: time.Duration(rapid.IntRange(1, 900).Draw(t, "walltime")) * time.Second}
	var chunks []string
	for range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "chunks") {
		chunks = append(chunks, fmt.Sprintf("%d:ncpus=%d:%s=%d", rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "count"),
			rapid.IntRange(0, 3).Draw(t, "ncpus"),
			rapid.SampledFrom([]string{"ngpus", "ngpus", "ngpus", "gslices"}).Draw(t, "resource"),
			rapid.IntRange(0, 3).Draw(t, "devices")))
	}
	r.Select = strings.Join(chunks, "+")
	r.Place = rapid.SampledFrom([]string{"free", "free", "pack", "scatter", "free:excl"}).Draw(t, "place")
	r.Bind = rapid.SampledFrom([]string{"", "compact", "tight", "scatter"}).Draw(t, "bind")
	return r
}

func (l *deviceLife) place(t *rapid.T) {
	r, how := l.request(t), rapid.IntRange(0, 3).Draw(t, "how")
	at := time.Unix(l.clock.t+int64(rapid.IntRange(1, 1200).Draw(t, "at")), 0)
	made := l.do(fmt.Sprintf("place %d %+v", how, r), func(tx *Tx) (err error) {
		switch how {
		case 0:
			_, err = tx.Jobs().PlaceAt(r, at)
		case 1:
			_, err = tx.Jobs().PlaceOrReserve(r)
		case 2:
			_, err = tx.Jobs().Submit(Submission{Request: r})
		default:
			_, err = tx.Jobs().Place(r)
		}
		return err
	})
	if made {
		l.jobs++
	}
}

func (l *deviceLife) job(t *rapid.T) {
	if l.jobs == 0 {
		t.Skip("no jobs")
	}
	id, what := rapid.Uint64Range(1, l.jobs).Draw(t, "job"), rapid.IntRange(0, 4).Draw(t, "what")
	walltime := time.Duration(rapid.IntRange(1, 2000).Draw(t, "walltime")) * time.Second
	l.do(fmt.Sprintf("job %d %d", id, what), func(tx *Tx) (err error) {
		switch what {
		case 0:
			_, err = tx.Jobs().Extend(id, walltime)
		case 1:
			_, err = tx.Jobs().Requeue(id, "")
		case 2:
			_, err = tx.Jobs().Finish(id, 0, "")
		default:
			_, err = tx.Jobs().Release(id)
		}
		return err
	})
}

func (l *deviceLife) reserve(t *rapid.T) {
	r := l.request(t)
	start := time.Unix(l.clock.t+int64(rapid.IntRange(0, 600).Draw(t, "start")), 0)
	name := rapid.SampledFrom([]string{"r", "s"}).Draw(t, "name")
	l.do("reserve "+name+" "+r.Select, func(tx *Tx) error {
		_, err := tx.Reservations().Reserve(name, r, start)
		if errors.Is(err, ErrExists) {
			_, err = tx.Reservations().Remove(name)
		}
		return err
	})
}

// device drains a device, returns it to service, cuts it, or makes it whole.
func (l *deviceLife) device(t *rapid.T) {
	node := rapid.Uint32Range(0, 2).Draw(t, "node")
	resource := rapid.SampledFrom([]string{"ngpus", "ngpus", "ncpus", "gslices"}).Draw(t, "resource")
	id := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "id"))
	if resource == "gslices" {
		id += fmt.Sprintf("/%d", rapid.IntRange(0, 1).Draw(t, "slice"))
	}
	what := rapid.IntRange(0, 4).Draw(t, "what")
	key := lifeNodes[node].name + " "
	done := l.do(fmt.Sprintf("device %d of %s %s=%s", what, key, resource, id), func(tx *Tx) (err error) {
		switch what {
		case 0, 1:
			_, err = tx.Devices().Drain(node, resource, []string{id}, "x")
		case 2:
			_, err = tx.Devices().Resume(node, resource, []string{id})
		case 3:
			_, err = tx.Devices().Cut(node, resource, []string{id}, 2, "gslices")
		default:
			_, err = tx.Devices().Cut(node, resource, []string{id}, 0, "")
		}
		return err
	})
	if !done {
		return
	}
	d := l.known[key+resource][id]
	switch what {
	case 0, 1:
		d.drained = true
	case 2:
		d.drained = false
	default:
		if what == 4 && !d.cut {
			return // it was whole; another device of that number may be cut
		}
		slices := l.known[key+"gslices"]
		if slices == nil {
			slices = make(map[string]*modelDevice)
			l.known[key+"gslices"] = slices
		}
		d.cut = what == 3
		for _, s := range []string{id + "/0", id + "/1"} {
			delete(slices, s)
			if d.cut {
				slices[s] = new(modelDevice)
			}
		}
	}
}

// rename names other devices: some go, some come, some are in another group.
func (l *deviceLife) rename(t *rapid.T) {
	node := rapid.Uint32Range(0, 2).Draw(t, "node")
	text := rapid.SampledFrom([]string{"0-3@0", "0-1@0+2-3@1", "3,0-1@0+2,7@1", "0@0", "1-6@0"}).Draw(t, "devices")
	was := l.known[lifeNodes[node].name+" ngpus"]
	var now map[string]*modelDevice
	done := l.do("rename "+lifeNodes[node].name+" "+text, func(tx *Tx) error {
		n, err := tx.Nodes().ByNumber(node)
		if err != nil {
			return err
		}
		old := n.DevicesOf(index.NGPUs)
		l.name(n, index.NGPUs, text)
		now = l.known[n.Name+" ngpus"]
		set := n.DevicesOf(index.NGPUs)
		for i := range set { // what it was stays
			if k := old.Find(set[i].ID); k >= 0 {
				group := set[i].Group
				set[i] = old[k]
				set[i].Group = group
				now[set[i].ID] = was[set[i].ID]
			}
		}
		n.SetDevices(index.NGPUs, set)
		_, err = tx.Nodes().Put(n)
		return err
	})
	if !done {
		l.known[lifeNodes[node].name+" ngpus"] = was
	}
}

func (l *deviceLife) pass(t *rapid.T) {
	l.clock.t += int64(rapid.IntRange(1, 500).Draw(t, "seconds"))
	before := l.db
	if err := before.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error { _, err := tx.Devices().Of(j); return err })
	}); err != nil {
		t.Fatal(err)
	}
	l.do("cycle", func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); return err })
}

// sound verifies what must be true after each step.
func (l *deviceLife) sound(t *rapid.T) {
	held := make(map[string]uint64)
	err := l.db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error { return l.soundJob(tx, j, held) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if l.steps++; l.steps%6 != 0 {
		return // it costs more than all the rest
	}
	if err := l.db.Check(func(finding string) { t.Errorf("check: %s", finding) }); err != nil {
		t.Fatal(err)
	}
}

func (l *deviceLife) soundJob(tx *Tx, j *Job, held map[string]uint64) error {
	list, err := tx.Devices().HeldBy(j)
	if err != nil {
		return err
	}
	if j.State != JobRunning {
		if len(list) > 0 {
			l.t.Errorf("job %d is %s, and has %v", j.ID, j.State, list)
		}
		delete(l.has, j.ID)
		return nil
	}
	now := make(map[string][]string)
	for _, h := range list {
		key := h.Name + " " + h.Resource
		now[key] = kernel.IdsOf(h.Devices)
		for _, id := range now[key] {
			if other := held[key+" "+id]; other != 0 {
				l.t.Errorf("jobs %d and %d both have %s of %s", other, j.ID, id, key)
			}
			held[key+" "+id] = j.ID
			if d := l.known[key][id]; d == nil || d.cut {
				l.t.Errorf("job %d has %s of %s, which is not there", j.ID, id, key)
			}
		}
	}
	if before := l.has[j.ID]; before.number == j.Attempt {
		if fmt.Sprint(before.devices) != fmt.Sprint(now) {
			l.t.Errorf("job %d had %v and has %v", j.ID, before.devices, now)
		}
		return nil
	}
	l.has[j.ID] = attemptDevices{j.Attempt, now}
	l.starts++
	return l.began(tx, j, now)
}

// began verifies what a job has when it is seen for the first time: as many devices as it
// asked for, or all, and none that is drained.
func (l *deviceLife) began(tx *Tx, j *Job, now map[string][]string) error {
	chunks, err := tx.Jobs().Asked(j)
	if err != nil {
		return err
	}
	want := make(map[string]int)
	for i, c := range j.Chunks {
		for _, n := range c.Nodes {
			name := lifeNodes[n.Node].name
			for _, resource := range []string{"ncpus", "ngpus", "gslices"} {
				key := name + " " + resource
				switch {
				case l.known[key] == nil:
				case !n.Shared:
					want[key] = 0
					for _, d := range l.known[key] {
						if !d.drained && !d.cut {
							want[key]++
						}
					}
				default:
					defs, err := tx.Config().Resources()
					if err != nil {
						return err
					}
					def, _ := defs.Lookup(resource)
					for _, w := range chunks[i].Wants {
						if w.Res == def.ID {
							want[key] += int(w.Value.Num) * n.Chunks
						}
					}
				}
			}
		}
	}
	for key, n := range want {
		if len(now[key]) != n {
			l.t.Errorf("job %d should have %d of %s, and has %v", j.ID, n, key, now[key])
		}
		if slices.ContainsFunc(now[key], func(id string) bool { return l.known[key][id].drained }) {
			l.t.Errorf("job %d began with a drained one of %s: %v", j.ID, key, now[key])
		}
	}
	return nil
}

// TestDeviceLife: whenever the amounts let a job begin, it finds its devices, and keeps them
// until it has ended. No other job has them meanwhile.
func TestDeviceLife(t *testing.T) {
	t.Parallel()
	starts, lives := 0, 0
	base := t.TempDir()
	dir := func() string {
		lives++
		path := filepath.Join(base, fmt.Sprint(lives))
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rapid.Check(t, func(t *rapid.T) {
		l := newDeviceLife(t, dir())
		t.Repeat(map[string]func(*rapid.T){
			"place": l.place, "place 2": l.place, "place 3": l.place, "job": l.job, "reserve": l.reserve,
			"device": l.device,
			"rename": l.rename, "pass": l.pass, "": l.sound,
		})
		starts += l.starts
	})
	t.Logf("%d starts", starts)
}
