package main

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// fill makes a store of n nodes that is half full.
func fill(path string, n int, uniform bool) error {
	now := time.Now().Add(-time.Minute).Truncate(time.Second)
	opt := &engine.Options{Now: func() time.Time { return now }}
	err := engine.Create(path, opt, func(tx *engine.Tx) error {
		for _, name := range []string{"rack", "switch"} {
			if err := tx.Config().AddResource(index.Def{Name: name, Type: index.String, Unique: true}); err != nil {
				return err
			}
		}
		return tx.Config().Set("topology", "rack,switch")
	})
	if err != nil {
		return err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Update(func(tx *engine.Tx) error { return addNodes(tx, n, uniform) }); err != nil {
		return err
	}
	return db.Update(func(tx *engine.Tx) error { return occupy(tx, n) })
}

func addNodes(tx *engine.Tx, n int, uniform bool) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	rack, _ := defs.Lookup("rack")
	swtch, _ := defs.Lookup("switch")
	for i := range n {
		node := &index.Node{Name: fmt.Sprintf("node%06d", i)}
		node.Set(index.NCPUs, index.Value{Num: 64})
		node.Set(index.Mem, index.Value{Num: 256 << 20})
		if i%8 == 7 {
			node.Set(index.NGPUs, index.Value{Num: 4})
		}
		node.Set(rack.ID, index.Value{Str: fmt.Sprintf("r%d", i/48/8)})
		node.Set(swtch.ID, index.Value{Str: fmt.Sprintf("s%d", i/48)})
		if !uniform {
			node.Speed = []float64{1, 1.5, 2, 2.5}[i/7%4]
			if i%4 == 1 {
				node.Load = float64(i % 64)
			}
		}
		if _, err := tx.Nodes().Put(node); err != nil {
			return err
		}
	}
	return nil
}

// occupy takes a quarter of the nodes whole, and gives half of the nodes two jobs each.
func occupy(tx *engine.Tx, n int) error {
	for i := range n {
		var jobs []placer.Request
		name := fmt.Sprintf(":host=node%06d", i)
		switch i / 32 % 4 { // in stretches, for contiguous
		case 0:
			jobs = []placer.Request{{Select: "1:ncpus=64" + name, Place: "excl"}}
		case 1, 2:
			jobs = []placer.Request{{Select: fmt.Sprintf("1:ncpus=%d:mem=%dgb", 8+i%17, 16+i%31) + name},
				{Select: fmt.Sprintf("1:ncpus=%d:mem=8gb", 4+i%5) + name}}
		}
		for _, r := range jobs {
			r.Walltime = 2*time.Hour + time.Duration(i)*time.Second
			if _, err := tx.Jobs().Place(r); err != nil {
				return err
			}
		}
	}
	return nil
}
