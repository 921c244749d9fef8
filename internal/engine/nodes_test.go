package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
)

func readNode(t *testing.T, db *DB, name string) (n *index.Node) {
	t.Helper()
	if err := db.View(func(tx *Tx) (err error) { n, err = tx.Nodes().Get(name); return err }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPutNodeInvalid(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 2)
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		change func(n *index.Node)
		want   string
	}{
		{func(n *index.Node) { n.Speed = -1 }, "speed -1 of node n0"},
		{func(n *index.Node) { n.Speed = inf }, "speed +Inf of node n0: it must be a finite number above 0"},
		{func(n *index.Node) { n.ProcSpeed = nan }, "procspeed NaN of node n0"},
		{func(n *index.Node) { n.Load = -0.5 }, "load -0.5 of node n0: it must be a finite number of 0 or more"},
		{func(n *index.Node) { n.Load = inf }, "load +Inf"},
		{func(n *index.Node) { n.Usage = 1.5 }, "usage 1.5 of node n0: it must be a number from 0 to 1"},
		{func(n *index.Node) { n.Usage = nan }, "usage NaN"},
		{func(n *index.Node) { n.Access = 4 }, "access access(4)"},
		{func(n *index.Node) { n.Sharing = 6 }, "sharing sharing(6)"},
	}
	for _, tt := range tests {
		before := readNode(t, db, "n0")
		n := *before
		tt.change(&n)
		err := db.Update(func(tx *Tx) error { _, err := tx.Nodes().Put(&n); return err })
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
		if diff := cmp.Diff(before, readNode(t, db, "n0")); diff != "" {
			t.Errorf("%s: %s", tt.want, diff)
		}
	}
}

func TestSetLoad(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 3, 2)
	set := func(number uint32, load float64) error {
		return db.Update(func(tx *Tx) error { return tx.Nodes().SetLoad(number, load) })
	}
	// The first load of a node, another, and the removal of its last one.
	for _, load := range []float64{0.5, 12.25, 12.25, 0} {
		want := readNode(t, db, "n1")
		want.Load = load
		if err := set(1, load); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readNode(t, db, "n1")); diff != "" {
			t.Errorf("%g: %s", load, diff)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("%g: %q", load, list)
		}
	}
	for _, load := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := set(1, load); !errors.Is(err, ErrInvalid) {
			t.Errorf("%g: %v", load, err)
		}
	}
	if err := set(3, 1); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := db.View(func(tx *Tx) error { return tx.Nodes().SetLoad(1, 1) }); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if n := readNode(t, db, "n1"); n.Load != 0 {
		t.Errorf("the load is %g", n.Load)
	}
}
