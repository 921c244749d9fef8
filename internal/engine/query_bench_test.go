package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
)

// benchStore has 100,000 nodes of sixteen kinds, and 100,000 jobs of ten nodes each. The jobs
// only have rows: nothing is planned in the calendar.
var benchStore = sync.OnceValues(func() (*DB, error) {
	const nodes = 100_000
	path := filepath.Join(testDir, "bench.db")
	opt := &Options{Now: func() time.Time { return time.Unix(1_000_000_000, 0) }}
	err := Create(path, opt, nil)
	if err != nil {
		return nil, err
	}
	db, err := Open(path, opt)
	if err != nil {
		return nil, err
	}
	return db, db.Update(func(tx *Tx) error {
		for i := range 4 {
			if err := tx.Queues().Add(Queue{Name: fmt.Sprintf("q%d", i)}); err != nil {
				return err
			}
		}
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("n%05d", i), Queue: fmt.Sprintf("q%d", i%4), Load: float64(i*7%64) / 8}
			if n.State = index.Up; i%100 == 0 {
				n.State = index.Offline
			}
			n.Set(index.NCPUs, index.Value{Num: []int64{8, 16, 32, 64}[i/4%4]})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		for i := range nodes {
			j := new(row.Job)
			j.ID, j.State, j.User, j.Select, j.Place = tx.k.State.NextJob, JobRunning, fmt.Sprintf("u%d", i%50),
				"10:ncpus=8", "scatter:excl"
			j.Start, j.End, j.Walltime = 1_000_000_000-int64(i%7200), 1_000_003_600, 3600
			tx.k.State.NextJob++
			c := row.JobChunk{Count: 10}
			for k := range 10 {
				c.Nodes = append(c.Nodes, row.JobNode{Node: uint32((i*10 + k) % nodes), Chunks: 1})
			}
			j.Chunks = []row.JobChunk{c}
			if err := jobs.PutJob(tx.k, j, 0); err != nil {
				return err
			}
		}
		return nil
	})
})

var testDir string

func BenchmarkQuery(b *testing.B) {
	if testDir == "" {
		testDir = b.TempDir()
	}
	db, err := benchStore()
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct{ name, text string }{
		{"count", "SELECT count(*) FROM nodes"},
		{"and", "SELECT count(*) FROM nodes WHERE state = 'free' AND ncpus >= 16"},
		{"or", "SELECT count(*) FROM nodes WHERE state = 'free' OR ncpus > 32"},
		{"not", "SELECT count(*) FROM nodes WHERE NOT (state = 'free' OR ncpus = 16)"},
		{"filter100k", "SELECT count(*) FROM nodes WHERE load > 7.5"},
		{"group100k", "SELECT queue, sum(load), count(*) FROM nodes GROUP BY queue"},
		{"order100k", "SELECT name, load FROM nodes ORDER BY load DESC LIMIT 10"},
		{"filter1M", "SELECT count(*) FROM allocations WHERE start > 999999000"},
		{"join1M", "SELECT n.queue, count(*), sum(a.ncpus) FROM allocations a JOIN nodes n ON a.node = n.name " +
			"GROUP BY n.queue"},
	} {
		list, err := query.Parse(q.text)
		if err != nil {
			b.Fatal(err)
		}
		err = db.View(func(tx *Tx) error {
			prepare := func() *Rows {
				rows, err := tx.Query(context.Background(), list[0], Query{Text: q.text})
				if err != nil {
					b.Fatal(err)
				}
				return rows
			}
			rows := prepare()
			drain := func() {
				for _, err := range rows.All() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.Run(q.name+"/run", func(b *testing.B) {
				for b.Loop() {
					drain()
				}
			})
			b.Run(q.name+"/prepare", func(b *testing.B) {
				for b.Loop() {
					prepare()
				}
			})
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNodeStates counts nodes by state in a transaction of its own each time, as a
// process that answers once does. Of 100,000 nodes 50,000 are shared, with 7 cpus left or
// fewer.
func BenchmarkNodeStates(b *testing.B) {
	opt := &Options{Now: func() time.Time { return time.Unix(1_000_000_000, 0) }}
	path := filepath.Join(b.TempDir(), "states.db")
	if err := Create(path, opt, nil); err != nil {
		b.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		b.Fatal(err)
	}
	err = db.Update(func(tx *Tx) error {
		for i := range 100_000 {
			n := &index.Node{Name: fmt.Sprintf("n%05d", i), Priority: int32(i % 16)}
			n.Set(index.NCPUs, index.Value{Num: 8})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		for i := range 8 {
			// The earlier ones have fewer cpus left than this one asks for, and are full.
			r := placer.Request{Select: fmt.Sprintf("6250:ncpus=%d", 8-i), Place: "scatter", Walltime: time.Hour,
				Policy: "lastavailable"}
			if _, err := tx.Jobs().Place(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, where := range []string{"", " WHERE state = 'free'", " WHERE state = 'partly'",
		" WHERE state = 'busy' AND ncpus > 4", " AT 'now+1m' WHERE state = 'partly'"} {
		text := "SELECT count(*) FROM nodes" + where
		list, err := query.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				err := db.View(func(tx *Tx) error {
					rows, err := tx.Query(context.Background(), list[0], Query{Text: text})
					if err != nil {
						return err
					}
					for _, err := range rows.All() {
						if err != nil {
							return err
						}
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
