package backfill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wide is a gate that admits all jobs, and counts.
type wide struct{ waiting, running int }

func (w *wide) Count(_ int32, waiting, running int) {
	w.waiting += waiting
	w.running += running
}
func (w *wide) Pass() error     { return nil }
func (w *wide) Open(int32) bool { return true }

// turns is a gate that admits one job in each pass.
type turns struct {
	wide
	left int
}

func (g *turns) Count(job int32, waiting, running int) {
	g.wide.Count(job, waiting, running)
	if running > 0 {
		g.left--
	}
}
func (g *turns) Pass() error     { g.left = 1; return nil }
func (g *turns) Open(int32) bool { return g.left > 0 }

// An open gate changes nothing. Another one never starts more jobs than it admits, and all
// jobs run in the end.
func TestGates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Job
		at := int64(0)
		for range rapid.IntRange(1, 25).Draw(t, "jobs") {
			at += rapid.Int64Range(0, 5).Draw(t, "later")
			request := rapid.Int64Range(1, 20).Draw(t, "request")
			jobs = append(jobs, Job{Submit: at, Request: request, Run: rapid.Int64Range(0, request).Draw(t, "run"),
				Procs: rapid.Int64Range(1, 6).Draw(t, "procs")})
		}
		for _, p := range []Policy{FCFS, EASY} {
			want, err := Run(6, jobs, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range []Gate{&wide{}, &turns{}} {
				got, err := RunShared(6, g, jobs, p, nil)
				if err != nil {
					t.Fatal(err)
				}
				if w, open := g.(*wide); open {
					if diff := cmp.Diff(want, got); diff != "" || *w != (wide{}) {
						t.Fatalf("%s: %+v left; (-without +with)\n%s", p, *w, diff)
					}
				}
			}
		}
	})
}
