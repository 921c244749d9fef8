package chart

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sharedGantt is a cluster in which stretches lie beside each other, too.
func sharedGantt(t *rapid.T) (*Gantt, Window) {
	g, w := drawnGantt(t)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for range rapid.IntRange(0, 9).Draw(t, "beside") {
			start := g.Now + rapid.Int64Range(-60_000, 100_000).Draw(t, "start")
			b := Bar{Owner: int32(rapid.IntRange(0, len(g.Owners)-1).Draw(t, "owner")), Kind: Planned, Start: start,
				End: max(start, g.Now) + rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 90_000)).Draw(t, "length")}
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

var boxPattern = regexp.MustCompile(`<rect class="([a-z0-9 ]+)" x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)"`)

// boxesOf finds the rectangles of a picture that show something.
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

// Nothing lies over anything else in a picture, nor outside it, and every stretch of a
// row is drawn or counted as having no room.
func TestGanttBoxesBeside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, w := sharedGantt(t)
		o := &Options{Width: rapid.IntRange(NarrowestSVG, 2000).Draw(t, "width"), Rows: rapid.IntRange(0, 12).Draw(t, "rows"),
			ByBucket: rapid.Bool().Draw(t, "bucket"), Zone: zone}
		picture := g.SVG(w, o)
		wellFormed(t, picture)
		if page := Page("a & b", picture); !bytes.Contains(page, picture[bytes.Index(picture, []byte("<svg")):]) {
			t.Fatalf("the page does not hold the picture:\n%s", page)
		}
		const eps = 0.01 // of a pixel; a tenth is the least that is written
		boxes := boxesOf(picture)
		for i, a := range boxes {
			if a.x < svgMargin-eps || a.x2 > float64(o.Width)-svgMargin+eps || a.x2-a.x < eps || a.y < svgHead {
				t.Fatalf("%+v is outside, or nothing, in\n%s", a, picture)
			}
			for _, b := range boxes[:i] {
				if a.x < b.x2-eps && b.x < a.x2-eps && a.y < b.y2-eps && b.y < a.y2-eps {
					t.Fatalf("%+v and %+v lie over each other in\n%s", a, b, picture)
				}
			}
		}
		if !o.ByBucket {
			everyStretch(t, picture, boxes, w.foldBars(g.Nodes, o.Rows, o.Width), &w)
		}
	})
}

func everyStretch(t *rapid.T, picture []byte, boxes []box, f folded, w *Window) {
	stretches, overdue, drawn, hidden := 0, 0, 0, 0
	for i := range f.groups {
		for k := range f.groups[i].nodes[0].Bars {
			if b := &f.groups[i].nodes[0].Bars[k]; w.Shows(b) {
				stretches++
				if b.Kind == Overdue {
					overdue++
				}
			}
		}
	}
	for _, b := range boxes {
		switch word, _, _ := strings.Cut(b.class, " "); word {
		case "reserved", "planned", "running", "overdue":
			drawn++
		}
	}
	drawn -= len(legendKinds(picture))
	if m := regexp.MustCompile(`>([0-9,]+) stretch(es have| has) no room here`).FindSubmatch(picture); m != nil {
		hidden, _ = strconv.Atoi(strings.ReplaceAll(string(m[1]), ",", ""))
	}
	if drawn+hidden < stretches || drawn+hidden > stretches+overdue {
		t.Fatalf("%d stretches, %d of them overdue: %d are drawn, %d counted in\n%s", stretches, overdue, drawn, hidden, picture)
	}
}

// legendKinds are the legend's words for stretches.
func legendKinds(picture []byte) [][]byte {
	return regexp.MustCompile(`>(overdue|running|planned|reserved)</text>`).FindAll(picture, -1)
}
