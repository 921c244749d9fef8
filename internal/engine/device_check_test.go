package engine

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// TestCheckFindsDevices changes rows behind the back of the store: check says what is wrong.
func TestCheckFindsDevices(t *testing.T) {
	job := func(id uint64, fn func(*row.Job)) func(*file.Recorder) error {
		return func(r *file.Recorder) error {
			key := row.Key64(id)
			payload, err := r.Get(row.Jobs, key)
			if err != nil {
				return err
			}
			j, err := row.DecodeJob(key, payload)
			if err != nil {
				return err
			}
			fn(j)
			return r.Put(row.Jobs, key, row.EncodeJob(j))
		}
	}
	node := func(fn func(*index.Node)) func(*file.Recorder) error {
		return func(r *file.Recorder) error {
			key := row.Key32(0)
			payload, err := r.Get(row.Nodes, key)
			if err != nil {
				return err
			}
			n, err := row.DecodeNode(key, payload)
			if err != nil {
				return err
			}
			fn(n)
			return r.Put(row.Nodes, key, row.EncodeNode(n))
		}
	}
	which := func(positions ...int) (b devices.Bits) {
		for _, i := range positions {
			b = b.With(i)
		}
		return b
	}
	for finding, change := range map[string]func(*file.Recorder) error{
		"job 1 and job 2 both have device 1 of resource 1 of node g1": job(2, func(j *row.Job) {
			j.Devices[0].Which = which(1, 2)
		}),
		"job 2 has device #9 of resource 1 of node g1, which names 4": job(2, func(j *row.Job) {
			j.Devices[0].Which = which(2, 9)
		}),
		"job 2 has 1 devices of resource 1 of node g1 in service, and 2 are counted": job(2, func(j *row.Job) {
			j.Devices[0].Which = which(2)
		}),
		"job 1 has 0 devices of resource 1 of node g1 in service, and 2 are counted": job(1, func(j *row.Job) {
			j.Devices = nil
		}),
		"job 3 is finished, and has devices": job(3, func(j *row.Job) {
			j.Devices = []row.JobDevices{{Res: index.NGPUs, Which: which(3)}}
		}),
		"node g1 has 4 of resource 1, and 3 of its devices are in service": node(func(n *index.Node) {
			n.Devices[0].Set[3].Drained = true
		}),
		"job 2 has device 3 of resource 1 of node g1, which is cut": node(func(n *index.Node) {
			n.Devices[0].Set[3].Slices, n.Devices[0].Set[3].Into = 2, "gslices"
		}),
		"node g1: the device 0 appears twice": node(func(n *index.Node) { n.Devices[0].Set[1].ID = "0" }),
	} {
		db, _ := newDB(t)
		gpuNode(t, db, "g1", "ncpus=8", "ngpus=0-3@0")
		var third uint64
		begin(t, db, placer.Request{Select: "1:ngpus=2"})
		begin(t, db, placer.Request{Select: "1:ngpus=2"})
		third, _ = begin(t, db, placer.Request{Select: "1:ncpus=1"})
		mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Jobs().Release(third); return err })
		sound(t, db)
		if err := db.file.Update(func(r *file.Recorder) (bool, error) { return true, change(r) }); err != nil {
			t.Fatal(err)
		}
		var found []string
		if err := db.Check(func(f string) { found = append(found, f) }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(found, "; "), finding) {
			t.Errorf("check says %q, and not %s", found, finding)
		}
	}
}
