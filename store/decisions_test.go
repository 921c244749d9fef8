package store

import (
	"testing"

	"github.com/placectl/placectl/index"
)

// TestLiftedAtItsTurn: a plan that is lifted for a job that comes first is made anew, or put
// back, at its turn: before anybody behind it has one.
func TestLiftedAtItsTurn(t *testing.T) {
	for _, backfill := range []string{"easy", "conservative"} {
		t.Run(backfill, func(t *testing.T) {
			s := newStory(t, backfill, "n0=1 n1=2 n2=2")
			s.place("X", "1:ncpus=2", 0, 600)
			s.place("Y", "1:ncpus=2", 0, 600)
			s.submit("HEAD", "1:ncpus=2", 600, prio(3))
			s.submit("LOW", "1:ncpus=2", 3600, prio(1))
			s.cycle()
			s.at(100).done("Y")
			s.submit("NEW", "1:ncpus=1", 600, prio(5))
			s.cycle()
			s.want("X running 0 n1, HEAD running 100 n2, NEW running 100 n0, LOW reserved 600 n1")
		})
	}
}

// TestPutOffInTurn: a job whose start an overdue one puts off keeps its turn, whoever writes
// first, and those behind it come behind it.
func TestPutOffInTurn(t *testing.T) {
	for _, first := range []string{"done", "cycle", "hold"} {
		t.Run(first, func(t *testing.T) {
			s := newStory(t, "conservative", "n1=4")
			s.place("A", "1:ncpus=4", 0, 60)
			s.submit("B", "1:ncpus=4", 60, prio(9))
			for _, name := range []string{"C", "D", "E"} {
				s.submit(name, "1:ncpus=4", 600)
			}
			s.cycle()
			s.want("A running 0 n1, B reserved 60 n1, C reserved 120 n1, D reserved 720 n1, E reserved 1320 n1")
			s.at(61)
			switch first {
			case "cycle":
				s.cycle()
			case "hold":
				s.do(func(tx *Tx) error { _, err := tx.Hold(s.ids["E"], ""); return err })
				s.do(func(tx *Tx) error { _, err := tx.Unhold(s.ids["E"]); return err })
			}
			s.at(70).done("A")
			s.cycle()
			s.want("B running 70 n1, C reserved 130 n1, D reserved 730 n1, E reserved 1330 n1")
		})
	}
}

// TestPlacedIsPutOff: a job placed for an instant that an overdue one puts off goes before
// those of the queue, and comes forward again, but not to before that instant.
func TestPlacedIsPutOff(t *testing.T) {
	s := newStory(t, "conservative", "n1=4")
	s.place("A", "1:ncpus=4", 0, 60)
	s.place("B", "1:ncpus=4", 60, 60)
	s.submit("C", "1:ncpus=4", 600)
	s.cycle()
	s.want("A running 0 n1, B reserved 60 n1, C reserved 120 n1")
	s.at(61).cycle()
	s.want("A running 0 n1, B reserved 361 n1, C reserved 421 n1")
	s.at(70).done("A")
	s.cycle()
	s.want("B running 70 n1, C reserved 130 n1")
}

// TestNodeTakesPlansAlong: a node that cannot serve any more takes the plans on it along: they
// are made anew in the order of the queue, or wait and say why.
func TestNodeTakesPlansAlong(t *testing.T) {
	for _, state := range []index.State{index.Down, index.Offline, index.Drained} {
		t.Run(state.String(), func(t *testing.T) {
			s := newStory(t, "conservative", "n1=4 n2=4")
			s.place("X", "1:ncpus=4", 0, 600)
			s.place("Y", "1:ncpus=4", 0, 700)
			s.submit("B", "1:ncpus=4", 300, prio(9))
			s.submit("C", "1:ncpus=4", 300)
			s.cycle()
			s.want("X running 0 n1, Y running 0 n2, B reserved 600 n1, C reserved 700 n2")
			s.at(100).node("n1", state)
			s.want("X running 0 n1, Y running 0 n2, B reserved 700 n2, C reserved 1000 n2")
			s.at(110).node("n2", state)
			s.want("X running 0 n1, Y running 0 n2, B queued, C queued")
			s.at(120).node("n1", index.Up)
			s.cycle()
			s.want("X running 0 n1, Y running 0 n2, B reserved 600 n1, C reserved 900 n1")
		})
	}
}
