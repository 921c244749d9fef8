package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
)

// benchGPUs returns a store of nodes with 16 cores and 4 GPUs, which are named or not.
func benchGPUs(b *testing.B, nodes int, named bool) *DB {
	db, _ := newDB(b)
	values := []string{"ncpus=16", "ngpus=4"}
	if named {
		values = []string{"ncpus=0-7@0+8-15@1", "ngpus=0-1@0+2-3@1"}
	}
	gpuNode(b, db, "g0", values...)
	mustUpdate(b, db, func(tx *Tx) error {
		n, err := tx.Nodes().ByNumber(0)
		for i := 1; i < nodes && err == nil; i++ {
			n.Name = fmt.Sprint("g", i)
			_, err = tx.Nodes().Put(n)
		}
		return err
	})
	return db
}

// BenchmarkDeviceStart makes starts on nodes that name their devices and on nodes that count
// them, in turn, and reports the processor's time of both and the least ratio of rounds: one
// start rolled back, 64 of them in a transaction, and one committed and released.
func BenchmarkDeviceStart(b *testing.B) {
	errBack := errors.New("back")
	request := placer.Request{Select: "1:ncpus=2:ngpus=1", Walltime: time.Hour}
	start := func(db *DB, n int) error {
		err := db.Update(func(tx *Tx) error {
			for range n {
				if _, err := tx.Jobs().Place(request); err != nil {
					return err
				}
			}
			return errBack
		})
		if errors.Is(err, errBack) {
			return nil
		}
		return err
	}
	for _, bench := range []struct {
		name string
		step func(db *DB) error
	}{
		{"rolledback", func(db *DB) error { return start(db, 1) }},
		{"64", func(db *DB) error { return start(db, 64) }},
		{"committed", func(db *DB) error {
			var id uint64
			err := db.Update(func(tx *Tx) error {
				j, err := tx.Jobs().Place(request)
				if err == nil {
					id = j.ID
				}
				return err
			})
			if err != nil {
				return err
			}
			return db.Update(func(tx *Tx) error { _, err := tx.Jobs().Release(id); return err })
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			dbs := []*DB{benchGPUs(b, 64, false), benchGPUs(b, 64, true)}
			const round = 20
			spent := [2][]time.Duration{}
			b.ResetTimer()
			for range max(1, b.N/round) {
				for k, db := range dbs {
					began := cpuTime()
					for range round {
						if err := bench.step(db); err != nil {
							b.Fatal(err)
						}
					}
					spent[k] = append(spent[k], cpuTime()-began)
				}
			}
			for k, name := range []string{"counted-us", "named-us"} {
				slices.Sort(spent[k])
				b.ReportMetric(float64(spent[k][len(spent[k])/4].Nanoseconds())/round/1000, name)
			}
			b.ReportMetric(float64(spent[1][len(spent[1])/4])/float64(spent[0][len(spent[0])/4]), "ratio")
		})
	}
}

// BenchmarkDeviceTable reads all of 80,000 devices: 10,000 nodes with 4 GPUs and 4 cores, some
// of them in use.
func BenchmarkDeviceTable(b *testing.B) {
	db, _ := newDB(b)
	gpuNode(b, db, "g0", "ncpus=0-1@0+2-3@1", "ngpus=0-1@0+2-3@1")
	mustUpdate(b, db, func(tx *Tx) error {
		n, err := tx.Nodes().ByNumber(0)
		for i := 1; i < 10_000 && err == nil; i++ {
			n.Name = fmt.Sprintf("g%05d", i)
			_, err = tx.Nodes().Put(n)
		}
		for i := 0; i < 500 && err == nil; i++ {
			_, err = tx.Jobs().Place(placer.Request{Select: "1:ncpus=1:ngpus=1", Walltime: time.Hour})
		}
		return err
	})
	for name, text := range map[string]string{
		"all":   "SELECT node, resource, id, grp, state, job FROM devices",
		"star":  "SELECT * FROM devices",
		"count": "SELECT count(*) FROM devices WHERE state = 'free'",
	} {
		list, err := query.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			began := cpuTime()
			defer func() { b.ReportMetric(float64((cpuTime()-began).Microseconds())/float64(b.N)/1000, "cpu-ms/op") }()
			for range b.N {
				err := db.View(func(tx *Tx) error {
					rows, err := tx.Query(context.Background(), list[0], Query{})
					if err != nil {
						return err
					}
					n := 0
					for _, err := range rows.All() {
						if err != nil {
							return err
						}
						n++
					}
					if n != 80_000 && n != 1 {
						return fmt.Errorf("%d rows", n)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
