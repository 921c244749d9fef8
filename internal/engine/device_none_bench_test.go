package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// BenchmarkWithoutDevices places, makes cycles and releases on nodes that count their resources, in
// a store where no node names devices and in one where others do, in turn. It reports the processor
// time of both and their ratio: what devices cost if you do not use them.
func BenchmarkWithoutDevices(b *testing.B) {
	made := func(others bool) *DB {
		db := benchGPUs(b, 64, false)
		if others {
			gpuNode(b, db, "named", "ncpus=0-7@0+8-15@1", "ngpus=0-1@0+2-3@1")
			mustUpdate(b, db, func(tx *Tx) error {
				n, err := tx.Nodes().Get("named")
				if err == nil {
					err = tx.Nodes().SetState(n.Number, index.Drained, "out of use")
				}
				return err
			})
		}
		return db
	}
	request := placer.Request{Select: "1:ncpus=2:ngpus=1", Walltime: time.Hour}
	var spent [3][2][]time.Duration
	dbs := []*DB{made(false), made(true)}
	timed := func(step, k int, fn func(*Tx) error) {
		began := cpuTime()
		if err := dbs[k].Update(fn); err != nil {
			b.Fatal(err)
		}
		spent[step][k] = append(spent[step][k], cpuTime()-began)
	}
	b.ResetTimer()
	for range b.N {
		for k := range dbs {
			var placed, queued *Job
			timed(0, k, func(tx *Tx) (err error) { placed, err = tx.Jobs().Place(request); return err })
			err := dbs[k].Update(func(tx *Tx) error {
				jobs, err := tx.Jobs().Submit(Submission{Request: request})
				if err == nil {
					queued = jobs[0]
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			timed(1, k, func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
			timed(2, k, func(tx *Tx) error { _, err := tx.Jobs().Release(placed.ID); return err })
			if err := dbs[k].Update(func(tx *Tx) error {
				_, err := tx.Jobs().Release(queued.ID)
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for step, name := range []string{"place", "cycle", "release"} {
		var quarter [2]time.Duration
		for k := range quarter {
			slices.Sort(spent[step][k])
			quarter[k] = spent[step][k][len(spent[step][k])/4]
		}
		b.ReportMetric(float64(quarter[0].Nanoseconds())/1000, name+"-us")
		b.ReportMetric(float64(quarter[1])/float64(quarter[0]), name+"-ratio")
	}
}
