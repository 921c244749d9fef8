package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
)

// now returns the same instant for all variants.
func now() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }

// variant is a set of rules.
type variant struct {
	name string
	set  func(*engine.Tx) error // nil: no rules
}

var variants = []variant{
	{"none", nil},
	{"twenty limits that hold back no job", twenty},
	{"all who wait are of an account at its limit", func(tx *engine.Tx) error {
		return tx.Limits().Set(engine.Limit{Key: "account=chem", Measure: "running", Max: 0})
	}},
	{"job_priority slurm", func(tx *engine.Tx) error { return tx.Config().Set("job_priority", "slurm") }},
	{"preemption by queue urgent, with no job waiting", func(tx *engine.Tx) error {
		rule, err := preempt.Parse("queue=urgent over all")
		if err != nil {
			return err
		}
		return tx.Preemption().Set(rule)
	}},
}

// twenty sets twenty rules: for each user, for some of them, and for all.
func twenty(tx *engine.Tx) error {
	var list []engine.Limit
	for i := range 10 {
		list = append(list, engine.Limit{Key: fmt.Sprint("user=u", i), Measure: "running", Max: 5000},
			engine.Limit{Key: fmt.Sprint("user=u", i), Measure: "ncpus", Max: 50_000})
	}
	list[0].Key, list[1].Key, list[2].Key = "user=*", "user=*", "all"
	return tx.Limits().Set(list...)
}

// fill makes 1,000 full nodes, one that is too small for every waiting job, and the queue.
func fill(path string, waiting int) error {
	if err := engine.Create(path, &engine.Options{AnyTime: true, Now: now}, nil); err != nil {
		return err
	}
	db, err := engine.Open(path, &engine.Options{Now: now})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(tx *engine.Tx) error {
		if err := tx.Accounts().Set(engine.Account{Name: "chem"}); err != nil {
			return err
		}
		if err := tx.Queues().Add(engine.Queue{Name: "urgent"}); err != nil {
			return err
		}
		for i := range 1000 {
			if err := node(tx, fmt.Sprint("n", i), 16); err != nil {
				return err
			}
			if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=16", User: fmt.Sprint("u", i%100),
				Account: "chem", Walltime: 100*time.Hour + time.Duration(i)*time.Second}); err != nil {
				return err
			}
		}
		for i := range waiting {
			r := placer.Request{Select: "1:ncpus=16", User: fmt.Sprint("u", i%100), Account: "chem",
				Walltime: time.Duration(1+i%8) * time.Hour}
			if _, err := tx.Jobs().Submit(engine.Submission{Request: r}); err != nil {
				return err
			}
		}
		return node(tx, "small", 15)
	})
}

func node(tx *engine.Tx, name string, cpus int64) error {
	n := &index.Node{Name: name}
	n.Set(index.NCPUs, index.Value{Num: cpus})
	n.Set(index.Mem, index.Value{Num: 64 << 20})
	_, err := tx.Nodes().Put(n)
	return err
}

// changes is how often the nodes of the large cluster change.
const changes = 500

// past prints how long queries about a large cluster's past take.
func past(dir string, nodes, rounds int) error {
	path, at := filepath.Join(dir, "past.db"), now()
	clock := func() time.Time { return at }
	if err := engine.Create(path, &engine.Options{AnyTime: true, Now: clock}, nil); err != nil {
		return err
	}
	db, err := engine.Open(path, &engine.Options{Now: clock})
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Update(func(tx *engine.Tx) error {
		for i := range nodes {
			if err := node(tx, fmt.Sprintf("n%06d", i), 16); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range changes {
		if err != nil {
			return err
		}
		at = at.Add(time.Hour)
		err = db.Update(func(tx *engine.Tx) error {
			return tx.Nodes().SetState(uint32(i*7%nodes), []index.State{index.Offline, index.Up}[i/7%2], "maintenance")
		})
	}
	if err != nil {
		return err
	}
	fmt.Printf("\n%d nodes, some changed %d times in %d days; the least of %d, processor time\n\n| asked for | rows "+
		"| ms |\n|---|--:|--:|\n", nodes, changes, changes/24, rounds)
	for _, text := range []string{
		"SELECT * FROM capacity",
		"SELECT p.day, sum(c.ncpus_up * p.seconds) FROM capacity c JOIN per_day(c.start, c.until) p GROUP BY p.day",
		"SELECT count(*) FROM nodes AT '2026-11-25 12:00' WHERE state = 'offline'",
		"SELECT count(*) FROM nodes WHERE state = 'offline'",
	} {
		var took []time.Duration
		n := 0
		for range rounds {
			d, err := spent(1, func() error {
				rows, err := db.Query(context.Background(), text)
				if err != nil {
					return err
				}
				n = 0
				for range rows.All() {
					n++
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			took = append(took, d)
		}
		slices.Sort(took)
		fmt.Printf("| `%s` | %d | %.1f |\n", text, n, ms(took[0]))
	}
	return nil
}
