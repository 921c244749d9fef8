package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// TestLongNames: no name of a request has more bytes than MaxName.
func TestLongNames(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 1)
	long := strings.Repeat("a", MaxName+1)
	for _, r := range []placer.Request{{Name: long}, {User: long}, {Group: long}, {Account: long}, {Class: long},
		{Queue: long}, {Reservation: long}} {
		r.Select = "1:ncpus=1"
		for what, ask := range map[string]func(tx *Tx) error{
			"submit": func(tx *Tx) error { _, err := tx.Jobs().Submit(Submission{Request: r}); return err },
			"place":  func(tx *Tx) error { _, err := tx.Jobs().Place(r); return err },
		} {
			if err := db.Update(ask); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestLongTexts: reasons, paths, addresses and settings have a maximum length, wherever they
// come from.
func TestLongTexts(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 1)
	long := strings.Repeat("a", 5000)
	submit := func(tx *Tx, s Submission) error {
		s.Request.Select = "1:ncpus=1"
		_, err := tx.Jobs().Submit(s)
		return err
	}
	if err := db.Update(func(tx *Tx) error {
		return errors.Join(submit(tx, Submission{}), submit(tx, Submission{}))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }); err != nil {
		t.Fatal(err)
	}
	dir := "/" + long
	for what, ask := range map[string]func(tx *Tx) error{
		"hold":          func(tx *Tx) error { _, err := tx.Jobs().Hold(2, long); return err },
		"cancel":        func(tx *Tx) error { _, err := tx.Jobs().Cancel(2, long); return err },
		"requeue":       func(tx *Tx) error { _, err := tx.Jobs().Requeue(1, long); return err },
		"requeue, hold": func(tx *Tx) error { _, err := tx.Jobs().RequeueHeld(1, long); return err },
		"done":          func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 0, long); return err },
		"submit, hold":  func(tx *Tx) error { return submit(tx, Submission{Hold: true, Reason: long}) },
		"node":          func(tx *Tx) error { return tx.Nodes().SetState(0, index.Down, long) },
		"device": func(tx *Tx) error {
			_, err := tx.Devices().Drain(0, "ncpus", []string{"0"}, long)
			return err
		},
		"directory":      func(tx *Tx) error { return submit(tx, Submission{Payload: &Payload{Dir: dir}}) },
		"output":         func(tx *Tx) error { return submit(tx, Submission{Payload: &Payload{Dir: "/", Out: dir}}) },
		"errors":         func(tx *Tx) error { return submit(tx, Submission{Payload: &Payload{Dir: "/", Err: dir}}) },
		"standard input": func(tx *Tx) error { return submit(tx, Submission{Payload: &Payload{Dir: "/", Input: dir}}) },
		"addresses": func(tx *Tx) error {
			return submit(tx, Submission{Payload: &Payload{Dir: "/", Ending: Ending{Mail: "end", MailTo: long}}})
		},
		"setting": func(tx *Tx) error { return tx.Config().Set("server", long) },
		"preemption": func(tx *Tx) error {
			return tx.Preemption().Set(&preempt.Rule{Over: subject.Key{{Kind: subject.Queue, Name: long}}})
		},
	} {
		if err := db.Update(ask); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %.300v", what, err)
		}
	}
}
