package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"pgregory.net/rapid"
)

// drawnGantt is a cluster of some variety, and the window to draw it in.
func drawnGantt(t *rapid.T) (*ganttData, ganttWindow) {
	const now = 1_800_000_000
	g := &ganttData{now: now}
	for i := range rapid.IntRange(1, 12).Draw(t, "owners") {
		o := ganttOwner{Owner: store.Owner{Job: uint64(i + 1)}}
		if rapid.Bool().Draw(t, "reservation") {
			o.Owner = store.Owner{Reservation: rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "name")}
		}
		g.owners = append(g.owners, o)
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
		n := ganttNode{name: fmt.Sprintf("%s%03d", rapid.SampledFrom([]string{"n", "a-very-long-name-of-a-node-", "b[", "x,"}).Draw(t, "prefix"), i),
			state: rapid.SampledFrom([]index.State{index.Up, index.Up, index.Down, index.Drained}).Draw(t, "state"), bucket: uint32(i % 3)}
		at := now - rapid.Int64Range(0, 100_000).Draw(t, "before")
		for range rapid.IntRange(0, 8).Draw(t, "bars") {
			start := at + rapid.Int64Range(0, 5000).Draw(t, "gap")
			at = start + rapid.Int64Range(1, 50_000).Draw(t, "length")
			b := ganttBar{owner: int32(rapid.IntRange(0, len(g.owners)-1).Draw(t, "owner")), start: start, end: at, due: at}
			switch {
			case g.owners[b.owner].Job == 0:
				b.kind = ganttReserved
			case start > now:
				b.kind = ganttPlanned
			case at > now:
				b.kind = ganttRunning
			default:
				b.kind, b.end = ganttOverdue, now+300
			}
			n.bars = append(n.bars, b)
		}
		g.nodes = append(g.nodes, n)
	}
	for id := range 3 {
		b := ganttBucket{id: uint32(id), signature: "ncpus=8:mem=64gb:color=red", priority: int32(id)}
		for i := range g.nodes {
			if g.nodes[i].bucket == uint32(id) {
				b.nodes = append(b.nodes, &g.nodes[i])
			}
		}
		g.buckets = append(g.buckets, b)
	}
	w := ganttWindow{now: now, from: now + rapid.Int64Range(-200_000, 200_000).Draw(t, "from"), open: true}
	w.to = w.from + rapid.Int64Range(1, 10_000_000).Draw(t, "span")
	return g, w
}

// No line is wider than asked for, every node is drawn or counted as left out,
// and the picture is XML.
func TestGanttFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := drawnGantt(t)
		c := newCapture()
		c.stdoutTTY = rapid.Bool().Draw(t, "terminal")
		if rapid.Bool().Draw(t, "utf8") {
			c.vars["LC_ALL"] = "C.UTF-8"
		}
		o := &ganttOptions{width: rapid.IntRange(narrowestGantt, 300).Draw(t, "width"), rows: rapid.IntRange(0, 5).Draw(t, "rows"),
			byBucket: rapid.Bool().Draw(t, "bucket")}
		if err := c.runner().drawGantt(g, w, o); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(c.out.String()) {
			if n := output.TextWidth(withoutColors(strings.TrimSuffix(line, "\n"))); n > o.width {
				t.Fatalf("%d columns of %d:\n%s", n, o.width, line)
			}
		}
		o.width = narrowestSVG
		wellFormed(t, c.runner().ganttSVG(g, w, o))
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
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
}

// Each cell shows what its node does in it; every stretch has a cell, or is
// counted.
func TestGanttPaint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, w := drawnGantt(t)
		w.cells = rapid.IntRange(1, 300).Draw(t, "cells")
		row := make([]ganttCell, w.cells)
		for i := range g.nodes {
			n := &g.nodes[i]
			hidden := w.paint(n, row)
			if hidden < 0 || hidden > len(n.bars) {
				t.Fatalf("%d of %d hidden", hidden, len(n.bars))
			}
			for at, c := range row {
				if c.owner < 0 {
					continue
				}
				from, to := w.instant(max(at-1, 0)), w.instant(min(at+2, w.cells))+1
				found := false
				for _, b := range n.bars {
					found = found || b.owner == c.owner && b.start <= to && b.end >= from
				}
				if !found {
					t.Fatalf("cell %d shows %v, which is not on the node then", at, c)
				}
			}
			if now, on := w.nowCell(), n.barNow(w.now); now >= 0 && on >= 0 && row[now].owner < 0 {
				t.Fatalf("the node is taken now and the drawing says it is free")
			}
		}
	})
}

func TestGanttTicks(t *testing.T) {
	at := func(s string) int64 {
		x, err := time.ParseInLocation("2006-01-02 15:04", s, testLoc)
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
		{"2026-03-29 00:00", "2026-03-29 06:00", 60, "00:00 01:00 03:00 04:00 05:00"}, // and this one 23
		{"2026-11-19 12:00", "2026-11-24 12:00", 62, "Fri 20 Nov Sat 21 Nov Sun 22 Nov Mon 23 Nov Tue 24 Nov"},
		{"2026-11-18 12:00", "2026-12-10 12:00", 30, "23 Nov 30 Nov 7 Dec"}, // Mondays
		{"2026-11-18 12:00", "2027-03-10 12:00", 60, "Dec 2026 Jan 2027 Feb 2027 Mar 2027"},
		{"2026-11-18 12:00", "2033-03-10 12:00", 24, "2028 2030 2032"},
	} {
		from, to := at(c.from), at(c.to)
		var got []string
		for _, tick := range pickStep(from, to, c.chars).ticks(from, to, testLoc) {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s in %d: %q, want %q", c.from, c.to, c.chars, strings.Join(got, " "), c.want)
		}
	}
}

// Neighbours that look the same are one row; too many rows first share outlines
// and then are left out, and counted.
func TestGanttFold(t *testing.T) {
	var nodes []ganttNode
	for i := range 10 {
		n := ganttNode{name: fmt.Sprintf("n%d", i)}
		if i >= 4 {
			n.bars = []ganttBar{{owner: int32(i), kind: ganttRunning, start: 0, end: 50}}
		}
		if i == 9 {
			n.bars[0].end = 80
		}
		nodes = append(nodes, n)
	}
	w := ganttWindow{from: 0, to: 100, now: 10, cells: 20}
	for _, c := range []struct{ limit, rows, left int }{{0, 7, 0}, {7, 7, 0}, {6, 3, 0}, {2, 2, 1}, {1, 1, 6}} {
		for _, f := range []ganttFolded{w.fold(nodes, c.limit), w.foldBars(nodes, c.limit, 500)} {
			if len(f.groups) != c.rows || f.left != c.left {
				t.Errorf("limit %d: %d rows and %d nodes left out, want %d and %d", c.limit, len(f.groups), f.left, c.rows, c.left)
			}
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
		g := &ganttData{now: now}
		for i, end := range c.ends {
			g.owners = append(g.owners, ganttOwner{})
			g.nodes = append(g.nodes, ganttNode{bars: []ganttBar{{owner: int32(i), start: now, end: now + end*hour}}})
		}
		w, err := g.window(&ganttOptions{})
		if err != nil || w.to != now+c.to || w.from >= now {
			t.Errorf("%s: from %d to %d (%v), want to %d", c.name, w.from-now, w.to-now, err, c.to)
		}
	}
}

// An overdue job and what was to follow it take a node once.
func TestGanttCurve(t *testing.T) {
	n := &ganttNode{bars: []ganttBar{{start: 0, end: 20}, {start: 10, end: 30}}}
	m := &ganttNode{bars: []ganttBar{{start: 25, end: 40}}}
	c := curve([]*ganttNode{n, m, {state: index.Down}}, 5)
	if got := fmt.Sprint(c.steps, c.up, c.notUp); got != "[{5 1} {25 2} {30 1} {40 0}] 2 1" {
		t.Error(got)
	}
	w := ganttWindow{from: 0, to: 40, cells: 4, now: 5}
	if n, known := c.least(&w, 2, 3); n != 0 || !known {
		t.Error(n, known)
	}
	if _, known := c.most(0, 5); known {
		t.Error("it knows the past")
	}
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.svg"), filepath.Join(dir, "link.svg")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	info, _ := os.Lstat(link)
	if string(data) != "new" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%q, %v", data, info.Mode())
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	if err := replaceFile(dir, nil); err == nil {
		t.Error("it replaced a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Error(left)
	}
}

// 10,000 nodes with as many jobs.
func BenchmarkGantt(b *testing.B) {
	path := filepath.Join(b.TempDir(), "test.db")
	err := store.Create(path, &store.Options{Now: func() time.Time { return testNow }}, func(tx *store.Tx) error {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		ncpus, _ := defs.Lookup("ncpus")
		for i := range 10_000 {
			n := &index.Node{Name: fmt.Sprintf("node%05d", i)}
			n.Set(ncpus.ID, index.Value{Num: 8})
			if _, err := tx.PutNode(n); err != nil {
				return err
			}
		}
		for i := range 10_000 {
			if _, err := tx.Place(placer.Request{Select: "1", Place: "excl", Walltime: time.Duration(60+i*7919%500) * time.Minute}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{"", "--rows 40", "--by bucket", "--svg -", "-o json"} {
		b.Run(firstOf(strings.ReplaceAll(args, " ", ""), "all"), func(b *testing.B) {
			for b.Loop() {
				c := newCapture(append([]string{"--db", path, "gantt"}, strings.Fields(args)...)...)
				c.stdout = io.Discard
				if code := c.run(); code != exitOK {
					b.Fatal(c.err.String())
				}
			}
		})
	}
}
