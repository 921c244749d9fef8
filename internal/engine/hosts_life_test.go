package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestClockLives: lives of a host that executes a job, near changes of the clock in three zones. Whatever suspends the
// machine with the database, or sets its clock, no host that answers within the time of a heartbeat is called silent,
// and what is to begin at a time of day begins then, not a day later.
func TestClockLives(t *testing.T) {
	const beat = 5 * 60
	rapid.Check(t, func(r *rapid.T) {
		zone := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}).Draw(r, "zone")
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		l := newHostLife(t)
		_, change := time.Unix(rapid.Int64Range(1577836800, 1719792000).Draw(r, "year"), 0).In(loc).ZoneBounds()
		l.clock.t = change.Unix() - rapid.Int64Range(0, 30*3600).Draw(r, "before")
		job := l.claimed("ann", BySupervisor, 1000*24*time.Hour)
		l.beat("ann")
		ran := make(map[uint64]int64) // the jobs to begin, with their times
		looks := func(when string) {
			l.cycle()
			l.is(fmt.Sprintf("%s at %s", when, l.clock.now().In(loc)), job, JobRunning, false, false)
			err := l.db.View(func(tx *Tx) error {
				for id, begin := range ran {
					j, err := tx.Jobs().Get(id)
					if err != nil {
						return err
					}
					if begun := j.State != JobQueued && j.State != JobReserved; begun != (tx.Now().Unix() >= begin) {
						r.Fatalf("at %s a job to begin at %s is %s", tx.Now().In(loc), time.Unix(begin, 0).In(loc),
							j.State)
					}
				}
				return nil
			})
			if err != nil {
				r.Fatal(err)
			}
		}
		for range rapid.IntRange(3, 12).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"works", "suspended", "set back", "submits"}).Draw(r, "step") {
			case "works":
				for range rapid.IntRange(1, 12).Draw(r, "heartbeats") {
					l.pass(rapid.Int64Range(1, beat).Draw(r, "pause"))
					l.beat("ann")
				}
				looks("after work")
			case "suspended":
				l.clock.t += rapid.Int64Range(60, 8*3600).Draw(r, "for")
				for range rapid.IntRange(0, 3).Draw(r, "cycles before it answers") {
					looks("after a suspend")
					l.pass(rapid.Int64Range(0, beat/4).Draw(r, "pause"))
				}
				l.beat("ann")
				looks("when it has answered")
			case "set back":
				was := l.clock.t
				l.clock.t -= rapid.Int64Range(1, 8*3600).Draw(r, "by")
				if err := l.db.Update(func(tx *Tx) error { return tx.Hosts().Beat("n0", "ann", "boot") }); err != nil &&
					!errors.Is(err, ErrClock) {
					r.Fatalf("a write while the clock is behind: %v", err)
				}
				l.clock.t = was + 1
				looks("when time has caught up")
				l.beat("ann")
			case "submits":
				word := fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(r, "hour"),
					rapid.IntRange(0, 59).Draw(r, "minute"))
				at, err := text.ParseTimeToCome(word, l.clock.now(), loc)
				if ahead := at.Sub(l.clock.now()); err != nil || ahead < 0 || ahead > 26*time.Hour {
					r.Fatalf("%s at %s is %s, %v", word, l.clock.now().In(loc), at, err)
				}
				l.update(func(tx *Tx) error {
					list, err := tx.Jobs().Submit(
						Submission{Request: placer.Request{Select: "1:ncpus=1:vnode=n1", Walltime: time.Second},
							Begin: at, Command: []string{"true"},
							Payload: &Payload{Dir: "/", Owner: &Submitter{Name: "ann"}}})
					if err == nil && len(ran) < 3 { // n1 has room for these
						ran[list[0].ID] = at.Unix()
					} else if err == nil {
						_, err = tx.Jobs().Cancel(list[0].ID, "")
					}
					return err
				})
			}
			if t.Failed() {
				r.FailNow()
			}
		}
	})
}
