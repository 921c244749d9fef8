package rows

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// past is a database with a clock, where jobs end one after the other.
type past struct {
	*engine.DB
	now time.Time
}

func newPast(t testing.TB) *past {
	t.Helper()
	p := &past{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	opt := &engine.Options{Now: func() time.Time { return p.now }, AnyTime: true}
	path := filepath.Join(t.TempDir(), "c.db")
	err := engine.Create(path, opt, func(tx *engine.Tx) error {
		n := &index.Node{Name: "n1"}
		n.Set(index.NCPUs, index.Value{Num: 1000})
		_, err := tx.Nodes().Put(n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.DB, err = engine.Open(path, &engine.Options{Now: opt.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() }) //nolint:errcheck // the test is over
	return p
}

// since returns the jobs of a selection without those that ended before an instant.
func (p *past) since(s fronts.Selection, since time.Time) (list []uint64, err error) {
	err = p.View(func(tx *engine.Tx) error {
		list = nil
		v := &View{Tx: tx}
		return v.Jobs(s, func(j *fronts.Job) error {
			if !j.State.Over() || !j.End.Before(since) {
				list = append(list, j.ID)
			}
			return nil
		})
	})
	return list, err
}

// TestEndedSince: no job that has ended since an instant is missing, whether the events of that time are
// there or archived, and jobs are sorted by number.
func TestEndedSince(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		p := newPast(outer)
		var live []uint64
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			p.now = p.now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "minutes")) * time.Minute)
			err := p.Update(func(tx *engine.Tx) error {
				for range rapid.IntRange(0, 2).Draw(t, "begin") {
					j, err := tx.Jobs().Place(
						placer.Request{Select: "1:ncpus=1",
							Walltime: time.Duration(rapid.IntRange(1, 10).Draw(t, "walltime")) * time.Minute,
							User:     "ann"})
					if err != nil {
						return err
					}
					live = append(live, j.ID)
				}
				if len(live) > 0 && rapid.Bool().Draw(t, "end") {
					k := rapid.IntRange(0, len(live)-1).Draw(t, "which")
					if j, err := tx.Jobs().Get(live[k]); err != nil || !j.State.Live() {
						return err
					}
					if _, err := tx.Jobs().Release(live[k]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 7).Draw(t, "archive") == 0 {
				name := filepath.Join(outer.TempDir(), "old.jsonl")
				if _, err := p.Archive(name, p.now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "ago"))*time.Minute),
					nil); err != nil {
					t.Fatal(err)
				}
				live = nil
			}
		}
		since := p.now.Add(-time.Duration(rapid.IntRange(-1, 20).Draw(t, "since")) * time.Minute)
		want, err := p.since(fronts.Selection{Ended: true}, since)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.since(fronts.Selection{Ended: true, Since: since}, since)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("jobs ended since %v: %v, want %v (%v)", since, got, want, err)
		}
	})
}

// BenchmarkRecent lists the jobs that have ended in the last minutes among many that ended before, as
// squeue -t all does all day.
func BenchmarkRecent(b *testing.B) {
	for _, many := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			p := newPast(b)
			end := func(n int) {
				err := p.Update(func(tx *engine.Tx) error {
					for range n {
						j, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann"})
						if err == nil {
							_, err = tx.Jobs().Release(j.ID)
						}
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
			end(many)
			p.now = p.now.Add(time.Hour)
			end(10)
			since := p.now.Add(-5 * time.Minute)
			for b.Loop() {
				if list, err := p.since(fronts.Selection{Ended: true, Since: since}, since); err != nil ||
					len(list) != 10 {
					b.Fatal(list, err)
				}
			}
		})
	}
}
