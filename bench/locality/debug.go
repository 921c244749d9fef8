package main

import (
	"fmt"
	"os"

	"github.com/placectl/placectl/locality"
)

var dbgNext float64
var dbgMark [10]bool

func (s *simulation) debug(e event) {
	if os.Getenv("DBG") == "" {
		return
	}
	b := s.batch
	if float64(b.Remaining) < .0005*float64(b.Total) && e.at/s.ideal > dbgNext && os.Getenv("DBG") == "2" {
		dbgNext = e.at/s.ideal + .02
		fmt.Printf("at %.3f waiting %d:", e.at/s.ideal, b.Waiting)
		s.rows.EachMember(func(m *locality.Member) error {
			if len(m.Live) > 0 {
				fmt.Printf(" host %d gone=%v speed %.2f(%.2f) jobs %d %v busy since %.3f;", m.Host, s.actors[m.Host].leaves, s.actors[m.Host].speed, float64(m.Rate)/24/1e6, m.Jobs, m.Live, float64(m.Busy)/s.ideal)
			}
			return nil
		})
		fmt.Println()
		s.rows.Longest(func(c *locality.Cursor) (bool, error) {
			fmt.Printf("WAIT %+v %v\n", *c, c.TimeLeft())
			return true, nil
		})
		s.rows.EachMember(func(m *locality.Member) error { return nil })
	}
	for i, f := range []float64{.97, .9, .5, .2, .1, .05, .02, .01, .005, 0} {
		if !dbgMark[i] && float64(b.Waiting) <= f*float64(b.Total) {
			dbgMark[i] = true
			rate := 0.0
			for _, a := range s.actors {
				rate += a.speed
			}
			placed := 0
			ncur := 0
			var hist [3][11]int
			s.rows.EachMember(func(m *locality.Member) error {
				if m.Placed {
					placed++
				}
				return nil
			})
			for c := 0; c < b.Slots(); {
				k, _ := s.rows.CursorAt(c)
				c = k.Last + 1
				x := k.TimeLeft() / b.TimeLeft()
				i := 0
				for _, l := range []float64{.001, .5, .8, .9, .95, 1.05, 1.1, 1.2, 1.5, 2} {
					if x > l {
						i++
					}
				}
				hist[k.Hosts()][i]++
				ncur++
			}
			fmt.Printf("waiting %.3f remaining %.4f at %.4f placed %d ranges %d transfers %.3f rate est/true %.3f\n", f, float64(b.Remaining)/float64(b.Total), e.at/s.ideal, placed, ncur, float64(b.Transfers)/float64(b.Used), float64(b.Rate)/24/1e6/rate)
			fmt.Println(hist, b.Moves)
		}
	}
}
