package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"pgregory.net/rapid"
)

// settingValues are values for every setting; "" is its default.
var settingValues = map[string][]string{
	"accept": {"feasible", "any"}, "access": {"shared", "singleuser", "singlejob", "singletask"},
	"backfill": {"easy", "fcfs", "conservative", "relaxed"}, "slack": {"0", "0.5", "3"}, "depth": {"1", "2", "7"},
	"bind": {"compact", "tight", "scatter"}, "chunk_fit": {"first", "exact"}, "default_walltime": {"60", "86400"},
	"do_not_span_sets": {"true", "false"}, "group_key": {"rack", "rack,color", "color"},
	"enforce": {"none", "poll", "cgroup"}, "pin": {"cpus"}, "detect": {"drain", "off"}, "state_dir": {"/x"},
	"start": {"auto", "manual"}, "path": {"/bin"}, "job_priority": {"AGE", "slurm", "FAIRSHARE", "maui", "fifo"},
	"priority_every": {"1", "1h"}, "priority_min": {"-5", "0"}, "priority_max": {"5"}, "half_life": {"60", "1d"},
	"server": {"pbs", "pbs-1.lab"}, "default_partition": {"batch", "main"}, "max_array": {"100", "100000"},
	"min_job_age": {"5m", "300"}, "launch_db": {"/x.db", "ssh://ann@head/x.db"}, "launch": {"exec", "work"},
	"local_program": {"true"}, "hook": {"true"}, "health": {"true"}, "claim_within": {"1", "60", "2h"},
	"lost_after": {"0", "60", "2h"}, "suspect_after": {"0", "1", "2"}, "suspect_window": {"60", "2h"},
	"local_timeout": {"1"},
	"keep_ended":    {"1000d", "3650d"}, "keep_keys": {"90", "12h", "30d"}, "only_explicit_sets": {"true", "false"},
	"overdue": {"keep", "finish"}, "policy": {"lastavailable", "tetris", "minresource", "local"},
	"priorityf": {"SPEED+10*CPROCS"}, "set_delay": {"0", "100", "forever"},
	"set_order":  {"smallest", "first", "largest"},
	"share_unit": {"nodes", "mem", "ncpus"}, "signature": {"ncpus", "mem", "color,ncpus", "rack"},
	"topology": {"rack", "rack,color"},
}

// configure changes a setting, a queue, a resource or a node, while jobs run, wait
// and are planned, and reservations stand.
func (q *queueLife) configure(t *rapid.T) {
	what := rapid.SampledFrom([]string{"setting", "setting", "setting", "queue", "resource", "node", "same node"}).Draw(
		t, "what")
	names := SettingNames()
	name := rapid.SampledFrom(names).Draw(t, "setting")
	values := settingValues[name]
	if values == nil {
		t.Fatalf("no values for setting %s", name)
	}
	value := rapid.SampledFrom(append([]string{""}, values...)).Draw(t, "value")
	queue := Queue{Name: rapid.SampledFrom([]string{"q", "s", "s.1"}).Draw(t, "queue"),
		Policy:   rapid.SampledFrom([]string{"", "tetris"}).Draw(t, "policy"),
		GroupKey: rapid.SampledFrom([][]string{nil, {"rack"}}).Draw(t, "key")}
	gone := rapid.Bool().Draw(t, "gone")
	number := rapid.Uint32Range(0, 4).Draw(t, "node")
	cpus := rapid.Int64Range(2, 6).Draw(t, "ncpus")
	color := rapid.SampledFrom([]string{"", "red", "s.1"}).Draw(t, "color")
	q.calm = false
	_ = q.both(fmt.Sprintf("configure %s: %s=%s, %+v, node %d", what, name, value, queue, number),
		func(tx *Tx) (any, error) {
			switch {
			case what == "setting":
				return nil, tx.Config().Set(name, value)
			case what == "queue" && gone:
				return nil, tx.Queues().Remove(queue.Name)
			case what == "queue":
				return nil, tx.Queues().Set(queue)
			case what == "resource":
				defs, err := tx.Config().Resources()
				if err != nil {
					return nil, err
				}
				if _, there := defs.Lookup("extra"); there {
					return nil, tx.Config().RemoveResource("extra")
				}
				return nil, tx.Config().AddResource(index.Def{Name: "extra", Type: index.Long, Consumable: gone})
			}
			n, err := tx.Nodes().ByNumber(number)
			if err != nil {
				return nil, err
			}
			if what == "node" {
				return nil, q.replace(tx, n, cpus, color)
			}
			_, err = tx.Nodes().Put(n)
			return nil, err
		})
}

// replace gives a node other resources: no less than what is taken of it.
func (q *queueLife) replace(tx *Tx, n *index.Node, cpus int64, color string) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	if v, _ := n.Get(index.NCPUs); cpus > v.Num {
		n.Set(index.NCPUs, index.Value{Num: cpus})
	}
	for _, name := range []string{"color", "rack"} {
		if def, ok := defs.Lookup(name); ok && color != "" {
			n.Set(def.ID, index.Value{Str: color + name})
		}
	}
	_, err = tx.Nodes().Put(n)
	return err
}

// TestSettingsLife changes every setting, and everything else that describes a cluster, at any
// moment of a queue's random life, and checks the file after each step.
func TestSettingsLife(t *testing.T) {
	t.Parallel()
	for _, name := range SettingNames() {
		if settingValues[name] == nil {
			t.Errorf("no values for setting %s", name)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueueLife(rt, t.TempDir())
		_ = q.both("resources", func(tx *Tx) (any, error) {
			for _, name := range []string{"color", "rack"} {
				if err := tx.Config().AddResource(index.Def{Name: name, Type: index.String}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		placed := func(t *rapid.T) {
			q.place(t)
			q.submitted = lastIn(q.snapshot())
		}
		pass := func(t *rapid.T) {
			q.clock.t += int64(rapid.IntRange(0, 2500).Draw(t, "seconds"))
			_ = q.both("settle", func(tx *Tx) (any, error) { return nil, tx.Nodes().SetLoad(0, float64(q.clock.t%7)) })
		}
		rt.Repeat(map[string]func(*rapid.T){
			"configure": q.configure, "configure more": q.configure, "submit": q.submit, "change": q.change,
			"cycle": q.cycleQuietly, "place": placed, "place more": placed,
			"reserve": q.reserve, "unreserve": q.unreserve, "down": q.down, "pass": pass,
			"several": q.several(q.configure), "": q.holds,
		})
		for _, db := range q.dbs {
			db.Close()
		}
	})
}

// cycleQuietly makes a cycle whose order another test verifies.
func (q *queueLife) cycleQuietly(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.IntRange(0, 4).Draw(t, "backfill"))}
	var launch []*Job
	_ = q.both(fmt.Sprintf("cycle %+v", spec), func(tx *Tx) (any, error) {
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return nil, err
		}
		launch = r.Launch
		return fmt.Sprint(ids(r.Started), ids(r.Launch), ids(r.Planned), ids(r.Finished)), nil
	})
	for _, j := range launch {
		q.told[j.ID] = true
	}
}

// Each word of a setting is accepted, its default is among them, and no other word is
// accepted.
func TestSettingWords(t *testing.T) {
	db, _ := newDB(t)
	for _, def := range kernel.SettingDefs {
		words := SettingWords(def.Name)
		err := db.Update(func(tx *Tx) error {
			for _, word := range words {
				if err := tx.Config().Set(def.Name, word); err != nil {
					t.Errorf("%s=%s: %v", def.Name, word, err)
				}
			}
			if other := "no-such-word"; len(words) > 0 && tx.Config().Set(def.Name, other) == nil {
				t.Errorf("%s takes %s", def.Name, other)
			}
			return tx.Config().Set(def.Name, "") // some words need another setting
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(words) > 0 && def.Value != "" && !slices.Contains(words, def.Value) {
			t.Errorf("%s: %v lacks the default %s", def.Name, words, def.Value)
		}
		for _, value := range settingValues[def.Name] {
			if len(words) > 0 && !slices.Contains(words, value) && def.Name != "job_priority" &&
				def.Name != "share_unit" {
				t.Errorf("%s: %v lacks %s", def.Name, words, value)
			}
		}
	}
}
