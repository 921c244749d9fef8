package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"pgregory.net/rapid"
)

// zone has clock changes.
var zone = berlin()

func berlin() *time.Location {
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return z
}

// drawnGantt draws a varied cluster, and a window for its picture.
func drawnGantt(t *rapid.T) (*Gantt, Window) {
	const now = 1_800_000_000
	g := &Gantt{Now: now}
	for i := range rapid.IntRange(1, 12).Draw(t, "owners") {
		o := Owner{Job: uint64(i + 1)}
		if rapid.Bool().Draw(t, "reservation") {
			o = Owner{Reservation: rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "name")}
		}
		g.Owners = append(g.Owners, o)
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
		n := Node{
			Name: fmt.Sprintf("%s%03d",
				rapid.SampledFrom([]string{"n", "a-very-long-name-of-a-node-", "b[", "x,"}).Draw(t, "prefix"), i),
			State: rapid.SampledFrom([]index.State{index.Up, index.Up, index.Down, index.Drained}).Draw(t, "state")}
		at := now - rapid.Int64Range(0, 100_000).Draw(t, "before")
		for range rapid.IntRange(0, 8).Draw(t, "bars") {
			start := at + rapid.Int64Range(0, 5000).Draw(t, "gap")
			at = start + rapid.Int64Range(1, 50_000).Draw(t, "length")
			b := Bar{Owner: int32(rapid.IntRange(0, len(g.Owners)-1).Draw(t, "owner")), Start: start, End: at, Due: at}
			switch {
			case g.Owners[b.Owner].Job == 0:
				b.Kind = Reserved
			case start > now:
				b.Kind = Planned
			case at > now:
				b.Kind = Running
			default:
				b.Kind, b.End = Overdue, now+300
			}
			n.Bars = append(n.Bars, b)
		}
		g.Nodes = append(g.Nodes, n)
	}
	for id := range 3 {
		b := Bucket{ID: uint32(id), Signature: "ncpus=8:mem=64gb:color=red", Priority: int32(id)}
		for i := range g.Nodes {
			if i%3 == id {
				b.Nodes = append(b.Nodes, &g.Nodes[i])
			}
		}
		g.Buckets = append(g.Buckets, b)
	}
	w := Window{Now: now, From: now + rapid.Int64Range(-200_000, 200_000).Draw(t, "from"), open: true}
	w.To = w.From + rapid.Int64Range(1, 10_000_000).Draw(t, "span")
	return g, w
}

// TestGanttFits: no line is wider than requested, every node is drawn or counted as left out, and the
// picture is valid XML.
func TestGanttFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := drawnGantt(t)
		o := &Options{Width: rapid.IntRange(Narrowest, 300).Draw(t, "width"),
			Rows:     rapid.IntRange(0, 5).Draw(t, "rows"),
			ByBucket: rapid.Bool().Draw(t, "bucket"), Zone: zone, Colors: rapid.Bool().Draw(t, "colors"),
			Blocks: rapid.Bool().Draw(t, "utf8")}
		for line := range strings.Lines(string(g.Text(w, o))) {
			if n := output.TextWidth(withoutColors(strings.TrimSuffix(line, "\n"))); n > o.Width {
				t.Fatalf("a line has %d columns, want at most %d:\n%s", n, o.Width, line)
			}
		}
		o.Width = NarrowestSVG
		wellFormed(t, g.SVG(w, o))
	})
}

func withoutColors(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "\x1b[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "m")
		}
		b.WriteString(part)
	}
	return b.String()
}

func wellFormed(t interface{ Fatalf(string, ...any) }, picture []byte) {
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v\n%s", err, picture)
		}
	}
}

// TestGanttPaint: each cell shows what its node does in it. Every stretch has a cell, or is counted.
func TestGanttPaint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := drawnGantt(t)
		w.cells = rapid.IntRange(1, 300).Draw(t, "cells")
		row := make([]cell, w.cells)
		for i := range g.Nodes {
			n := &g.Nodes[i]
			hidden := w.paint(n, row)
			if hidden < 0 || hidden > len(n.Bars) {
				t.Fatalf("paint hides %d of %d stretches", hidden, len(n.Bars))
			}
			for at, c := range row {
				if c.owner < 0 {
					continue
				}
				from, to := w.instant(max(at-1, 0)), w.instant(min(at+2, w.cells))+1
				found := false
				for _, b := range n.Bars {
					found = found || b.Owner == c.owner && b.Start <= to && b.End >= from
				}
				if !found {
					t.Fatalf("cell %d shows %v, which is not on the node at that time", at, c)
				}
			}
			if now, on := w.nowCell(), n.BarAt(w.Now); now >= 0 && on >= 0 && row[now].owner < 0 {
				t.Fatal("the node is taken now, but its cell is free")
			}
		}
	})
}

func TestGanttTicks(t *testing.T) {
	at := func(s string) int64 {
		x, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return x.Unix()
	}
	for _, c := range []struct {
		from, to string
		chars    int
		want     string
	}{
		{"2026-11-20 10:07", "2026-11-20 10:13", 40, "10:08 10:10 10:12"},
		{"2026-11-20 09:50", "2026-11-20 13:10", 40, "10:00 11:00 12:00 13:00"},
		{"2026-10-25 00:00", "2026-10-25 08:00", 40, "00:00 02:00 04:00 06:00"},       // the night has 25 hours
		{"2026-03-29 00:00", "2026-03-29 06:00", 60, "00:00 01:00 03:00 04:00 05:00"}, // this night has 23 hours
		{"2026-11-19 12:00", "2026-11-24 12:00", 62, "Fri 20 Nov Sat 21 Nov Sun 22 Nov Mon 23 Nov Tue 24 Nov"},
		{"2026-11-18 12:00", "2026-12-10 12:00", 30, "23 Nov 30 Nov 7 Dec"}, // Mondays
		{"2026-11-18 12:00", "2027-03-10 12:00", 60, "Dec 2026 Jan 2027 Feb 2027 Mar 2027"},
		{"2026-11-18 12:00", "2033-03-10 12:00", 24, "2028 2030 2032"},
	} {
		from, to := at(c.from), at(c.to)
		var got []string
		for _, tick := range pickStep(from, to, c.chars).ticks(from, to, zone) {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s in %d: %q, want %q", c.from, c.to, c.chars, strings.Join(got, " "), c.want)
		}
	}
}

// TestGanttFold: neighbours that look the same share a row. If there are too many rows, outlines share
// rows, and the rest is left out and counted.
func TestGanttFold(t *testing.T) {
	var nodes []Node
	for i := range 10 {
		n := Node{Name: fmt.Sprintf("n%d", i)}
		if i >= 4 {
			n.Bars = []Bar{{Owner: int32(i), Kind: Running, Start: 0, End: 50}}
		}
		if i == 9 {
			n.Bars[0].End = 80
		}
		nodes = append(nodes, n)
	}
	w := Window{From: 0, To: 100, Now: 10, cells: 20}
	for _, c := range []struct{ limit, rows, left int }{{0, 7, 0}, {7, 7, 0}, {6, 3, 0}, {2, 2, 1}, {1, 1, 6}} {
		if f := w.fold(nodes, c.limit); len(f.groups) != c.rows || f.left != c.left {
			t.Errorf("limit %d: %d rows and %d nodes left out, want %d and %d", c.limit, len(f.groups), f.left, c.rows,
				c.left)
		}
	}
}

func TestGanttWindow(t *testing.T) {
	const now, hour = 1_800_000_000, 3600
	for _, c := range []struct {
		name string
		ends []int64 // hours from now
		to   int64
	}{
		{"nothing", nil, 24 * hour},
		{"an hour", []int64{1}, hour + hour/20},
		{"all long", []int64{100, 100}, 105 * hour},
		{"one much longer", []int64{1, 2, 3, 500}, 24*hour + 24*hour/20},
	} {
		g := &Gantt{Now: now}
		for i, end := range c.ends {
			g.Owners = append(g.Owners, Owner{})
			g.Nodes = append(g.Nodes, Node{Bars: []Bar{{Owner: int32(i), Start: now, End: now + end*hour}}})
		}
		w := g.Window(time.Time{}, time.Time{})
		if w.To != now+c.to || w.From >= now {
			t.Errorf("%s: from %d to %d, want to %d", c.name, w.From-now, w.To-now, c.to)
		}
	}
}

// TestGanttCurve: an overdue job and the one that should have followed it take a node once.
func TestGanttCurve(t *testing.T) {
	n := &Node{Bars: []Bar{{Start: 0, End: 20}, {Start: 10, End: 30}}}
	m := &Node{Bars: []Bar{{Start: 25, End: 40}}}
	w := Window{From: 0, To: 50, cells: 5, Now: 5}
	c := w.Curve([]*Node{n, m, {State: index.Down}})
	if got := fmt.Sprint(c.Steps, c.Up, c.NotUp); got != "[{5 25 1} {25 30 2} {30 40 1} {40 50 0}] 2 1" {
		t.Errorf("Curve = %s", got)
	}
	if n, known := c.leastFree(&w, 2, 3); n != 0 || !known {
		t.Errorf("leastFree(2, 3) = %d, %v, want 0, true", n, known)
	}
	if _, known := c.most(0, 5); known {
		t.Error("leastFree knows the past")
	}
}
