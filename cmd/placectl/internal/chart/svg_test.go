package chart

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sharedGantt returns a cluster in which stretches may overlap.
func sharedGantt(t *rapid.T) (*Gantt, Window) {
	g, w := drawnGantt(t)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for range rapid.IntRange(0, 9).Draw(t, "beside") {
			start := g.Now + rapid.Int64Range(-60_000, 100_000).Draw(t, "start")
			b := Bar{Owner: int32(rapid.IntRange(0, len(g.Owners)-1).Draw(t, "owner")), Kind: Planned, Start: start,
				End: max(start, g.Now) + rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 90_000)).Draw(t,
					"length")}
			b.Due = b.End
			switch {
			case g.Owners[b.Owner].Job == 0:
				b.Kind = Reserved
			case start <= g.Now && rapid.Bool().Draw(t, "overdue"):
				b.Kind, b.Due = Overdue, rapid.Int64Range(start, g.Now).Draw(t, "due")
			case start <= g.Now:
				b.Kind = Running
			}
			n.Bars = append(n.Bars, b)
		}
		slices.SortStableFunc(n.Bars, func(a, b Bar) int { return cmp.Compare(a.Start, b.Start) })
	}
	if rapid.Bool().Draw(t, "near") {
		w.From = g.Now - rapid.Int64Range(-1000, 1000).Draw(t, "before")
		w.To = w.From + rapid.Int64Range(1, 200_000).Draw(t, "after")
	}
	return g, w
}

// box is a rectangle of a picture.
type box struct {
	class        string
	x, y, x2, y2 float64
}

var boxPattern = regexp.MustCompile(
	`<rect class="([a-z0-9 ]+)" x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)"`)

// boxesOf finds the visible rectangles of a picture.
func boxesOf(picture []byte) []box {
	var out []box
	for _, m := range boxPattern.FindAllSubmatch(picture, -1) {
		var n [4]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(string(m[i+2]), 64)
		}
		out = append(out, box{string(m[1]), n[0], n[1], n[0] + n[2], n[1] + n[3]})
	}
	return out
}

// TestGanttBoxesBeside: no boxes of a picture overlap or lie outside it. Every stretch of a row is drawn, or
// counted as having no room.
func TestGanttBoxesBeside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, w := sharedGantt(t)
		o := &Options{Width: rapid.IntRange(NarrowestSVG, 2000).Draw(t, "width"),
			Rows:     rapid.IntRange(0, 12).Draw(t, "rows"),
			ByBucket: rapid.Bool().Draw(t, "bucket"), Zone: zone}
		picture := g.SVG(w, o)
		wellFormed(t, picture)
		const eps = 0.01 // of a pixel; positions are written in tenths
		boxes := boxesOf(picture)
		for i, a := range boxes {
			if a.x < svgMargin-eps || a.x2 > float64(o.Width)-svgMargin+eps || a.x2-a.x < eps || a.y < svgHead {
				t.Fatalf("the box %+v is empty or outside the picture\n%s", a, picture)
			}
			for _, b := range boxes[:i] {
				if a.x < b.x2-eps && b.x < a.x2-eps && a.y < b.y2-eps && b.y < a.y2-eps {
					t.Fatalf("the boxes %+v and %+v overlap in\n%s", a, b, picture)
				}
			}
		}
	})
}

// TestGanttTitles: the titles that the mouse shows have exact times, whatever a pixel is.
func TestGanttTitles(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, zone).Unix()
	g := &Gantt{Now: at, Owners: []Owner{{Job: 7, Name: "a", User: "ann"}, {Reservation: "r"}, {Job: 8}},
		Nodes: []Node{{Name: "n1", Bars: []Bar{{Owner: 0, Kind: Overdue, Start: at - 601, End: at + 61, Due: at - 1},
			{Owner: 1, Kind: Reserved, Start: at + 3601, End: at + 7201, Due: at + 7201}}},
			{Name: "n2", Bars: []Bar{{Owner: 0, Kind: Running, Start: at - 10, End: at + 4000, Due: at + 4000},
				{Owner: 2, Kind: Running, Start: at - 5, End: at + 5000, Due: at + 5000}}}}}
	picture := string(g.SVG(Window{From: at - 3600, To: at + 36000, Now: at}, &Options{Width: 800, Zone: zone}))
	for _, want := range []string{"job 7 (a) of ann\noverdue\nn1\n2026-11-20 09:49:59 to 09:59:59 (10m), and goes on",
		"free\nn1\n2026-11-20 10:01:01 to 11:00:01 (59m)",
		"reservation r\nplanned\nn1\n2026-11-20 11:00:01 to 12:00:01 (1h)", "free\nn1\n2026-11-20 12:00:01 to 20:00:00",
		"job 8\nrunning\nn2\n"} {
		if !strings.Contains(picture, "<title>"+want) {
			t.Errorf("no title says %q in\n%s", want, picture)
		}
	}
	if n := strings.Count(picture, ">n2</text>"); n != 1 {
		t.Errorf("a node with two lanes has %d labels, want 1", n)
	}
}
