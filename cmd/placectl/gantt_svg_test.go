package main

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
func sharedGantt(t *rapid.T) (*ganttData, ganttWindow) {
	g, w := drawnGantt(t)
	for i := range g.nodes {
		n := &g.nodes[i]
		for range rapid.IntRange(0, 9).Draw(t, "beside") {
			start := g.now + rapid.Int64Range(-60_000, 100_000).Draw(t, "start")
			b := ganttBar{owner: int32(rapid.IntRange(0, len(g.owners)-1).Draw(t, "owner")), kind: ganttPlanned, start: start,
				end: max(start, g.now) + rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 90_000)).Draw(t, "length")}
			b.due = b.end
			switch {
			case g.owners[b.owner].Job == 0:
				b.kind = ganttReserved
			case start <= g.now && rapid.Bool().Draw(t, "overdue"):
				b.kind, b.due = ganttOverdue, rapid.Int64Range(start, g.now).Draw(t, "due")
			case start <= g.now:
				b.kind = ganttRunning
			}
			n.bars = append(n.bars, b)
		}
		slices.SortStableFunc(n.bars, func(a, b ganttBar) int { return cmp.Compare(a.start, b.start) })
	}
	if rapid.Bool().Draw(t, "near") {
		w.from = g.now - rapid.Int64Range(-1000, 1000).Draw(t, "before")
		w.to = w.from + rapid.Int64Range(1, 200_000).Draw(t, "after")
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
		o := &ganttOptions{width: rapid.IntRange(narrowestSVG, 2000).Draw(t, "width"), rows: rapid.IntRange(0, 12).Draw(t, "rows"),
			byBucket: rapid.Bool().Draw(t, "bucket")}
		if !o.byBucket {
			g.buckets = nil
		}
		picture := newCapture().runner().ganttSVG(g, w, o)
		wellFormed(t, picture)
		if page := htmlPage(picture); !bytes.Contains(page, picture[bytes.Index(picture, []byte("<svg")):]) {
			t.Fatalf("the page does not hold the picture:\n%s", page)
		}
		const eps = 0.01 // of a pixel; a tenth is the least that is written
		boxes := boxesOf(picture)
		for i, a := range boxes {
			if a.x < svgMargin-eps || a.x2 > float64(o.width)-svgMargin+eps || a.x2-a.x < eps || a.y < svgHead {
				t.Fatalf("%+v is outside, or nothing, in\n%s", a, picture)
			}
			for _, b := range boxes[:i] {
				if a.x < b.x2-eps && b.x < a.x2-eps && a.y < b.y2-eps && b.y < a.y2-eps {
					t.Fatalf("%+v and %+v lie over each other in\n%s", a, b, picture)
				}
			}
		}
		if !o.byBucket {
			everyStretch(t, picture, boxes, w.foldBars(g.nodes, o.rows, o.width), &w)
		}
	})
}

func everyStretch(t *rapid.T, picture []byte, boxes []box, f ganttFolded, w *ganttWindow) {
	stretches, overdue, drawn, hidden := 0, 0, 0, 0
	for i := range f.groups {
		for k := range f.groups[i].nodes[0].bars {
			if b := &f.groups[i].nodes[0].bars[k]; w.shows(b) {
				stretches++
				if b.kind == ganttOverdue {
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
