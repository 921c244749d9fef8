package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// open opens a store as of a minute ago, because the measured processes read the clock.
func open(path string) (*engine.DB, error) {
	return openAt(path, time.Now().Add(-time.Minute).Truncate(time.Second))
}

func openAt(path string, now time.Time) (*engine.DB, error) {
	return engine.Open(path, &engine.Options{Now: func() time.Time { return now }})
}

// fill makes a store with nodes of 16 kinds. Some of them run a job each, and these end one after the
// other.
func fill(path string, nodes, running int) error {
	if err := create(path, time.Now().Add(-2*time.Minute), nodes); err != nil {
		return err
	}
	return run(path, running)
}

// create makes a store with nodes of 16 kinds as of an instant.
func create(path string, then time.Time, nodes int) error {
	if err := engine.Create(path, &engine.Options{Now: func() time.Time { return then }}, func(tx *engine.Tx) error {
		return tx.Config().AddResource(index.Def{Name: "color", Type: index.String})
	}); err != nil {
		return err
	}
	db, err := openAt(path, then)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(tx *engine.Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		color, _ := defs.Lookup("color")
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("node%06d", i)}
			n.Set(index.NCPUs, index.Value{Num: 16})
			n.Set(index.Mem, index.Value{Num: 64 << 20})
			n.Set(color.ID, index.Value{Str: fmt.Sprintf("c%d", i%16)})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// run makes jobs run on some nodes.
func run(path string, running int) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(tx *engine.Tx) error {
		for i := range running {
			r := placer.Request{Select: "1:ncpus=16", Walltime: time.Hour + time.Duration(i)*time.Second,
				User: fmt.Sprintf("user%d", i%20)}
			if i%2 == 0 {
				r.Select, r.Place = "1:ncpus=1", "excl"
			}
			if _, err := tx.Jobs().Place(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// queue submits mixed jobs of 20 users: whole nodes and parts of them, one to 512 chunks, of some kind
// or any, for minutes to a day.
func queue(path string, n int) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	return db.Update(func(tx *engine.Tx) error {
		for i := range n {
			sel := pick("1", "1", "1", "1", "2", "4", "8", "16", "64", "512") + ":ncpus=" + pick("1", "2", "4", "8",
				"16")
			if random.IntN(3) == 0 {
				sel += fmt.Sprintf(":color=c%d", random.IntN(16))
			}
			_, err := tx.Jobs().Submit(engine.Submission{
				Request: placer.Request{Select: sel, Place: pick("free", "free", "scatter", "scatter:excl", "excl"),
					User:     fmt.Sprintf("user%d", random.IntN(20)),
					Walltime: time.Duration([]int{5, 30, 60, 120, 480, 1440}[random.IntN(6)]) * time.Minute,
					Name:     fmt.Sprintf("job%d", i)},
				Priority: int64(random.IntN(3))})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// outcome counts the queue's running jobs, and those with a plan.
func outcome(path string, placed int) (started, planned int, err error) {
	db, err := open(path)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	err = db.View(func(tx *engine.Tx) error {
		return tx.Jobs().Each(func(j *engine.Job) error {
			switch {
			case j.ID <= uint64(placed):
			case j.State == engine.JobRunning:
				started++
			default:
				planned++
			}
			return nil
		}, engine.JobRunning, engine.JobReserved)
	})
	return started, planned, err
}
