package main

import (
	"bufio"
	"fmt"
	"io"
)

const (
	units   = 10000 // of the generated plans
	horizon = 1 << 40
)

// generate writes a stream. The same arguments always make the same stream.
//
//	wide    a machine of 10000 units nearly full with about 1000 jobs at a time,
//	        most of them narrow; jobs end, come and shrink, with queries in between
//	narrow  the same with about 10 jobs at a time
//	frag    the whole machine taken for 10 of every 20, and queries for 11
//	stair   one unit taken at every second moment, then everything once; the
//	        query is for half the machine, for longer than the stair
//	saw     stairs of 100 steps, one after the other
//	long    a stair, and a span over all of it added and removed
func generate(w io.Writer, kind string, n, rounds int) error {
	out := bufio.NewWriter(w)
	g := &generator{w: out}
	g.line("%d %d", units, int64(horizon))
	switch kind {
	case "wide", "narrow":
		newCluster(g, kind == "wide", n).write(n, rounds)
	case "frag":
		g.frag(n, rounds)
	case "stair":
		g.saw(n, rounds, n)
	case "saw":
		g.saw(n, rounds, 100)
	case "long":
		g.long(n, rounds)
	default:
		return fmt.Errorf("no kind %q: want wide, narrow, frag, saw, stair or long", kind)
	}
	return out.Flush()
}

type generator struct {
	w  io.Writer
	id int
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(g.w, format+"\n", args...) // the buffer keeps the error for Flush
}

// add writes an addition and returns the span's id.
func (g *generator) add(start, duration, amount int64) int {
	g.id++
	g.line("A %d %d %d %d", g.id, start, duration, amount)
	return g.id
}

func (g *generator) repeat(rounds int, format string, args ...any) {
	for range rounds {
		g.line(format, args...)
	}
}

func (g *generator) frag(n, rounds int) {
	g.line("P build")
	for i := range n {
		g.add(int64(i)*20, 10, units)
	}
	g.line("P query_long")
	g.repeat(rounds, "Q 0 11 1")
	g.line("P query_fit")
	g.repeat(rounds, "Q 0 10 1")
}

func (g *generator) saw(n, rounds, steps int) {
	g.line("P build")
	t := int64(0)
	for done := 0; done < n; {
		for range min(steps, n-done) {
			g.add(t, 1, 1)
			done++
			t += 2
		}
		g.add(t, 1, units)
		t += 2
	}
	g.line("P query_long")
	g.repeat(rounds, "Q 0 %d %d", 2*steps+10, units/2)
}

func (g *generator) long(n, rounds int) {
	g.line("P build")
	for i := range n {
		g.add(int64(i)*2, 1, 1)
	}
	g.line("P longspan")
	for range rounds {
		g.line("R %d", g.add(0, 2*int64(n), 1))
	}
}
