package main

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	clock := testNow
	c := newCapture()
	c.stderrTTY = true
	c.now = func() time.Time { return clock }
	p := c.runner().progress("importing", 4000)
	p.add(1) // too soon to show
	if c.err.Len() > 0 {
		t.Errorf("drawn at once: %q", c.err.String())
	}
	clock = clock.Add(3 * time.Second)
	p.add(999)
	p.add(1000) // too soon to draw again
	want := "\rimporting [######..................] 1,000/4,000  3s\x1b[K"
	if got := c.err.String(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	p.done()
	p.done()
	if got := c.err.String(); got != want+"\r\x1b[K" {
		t.Errorf("done: %q", got)
	}
}

func TestProgressWithoutTotal(t *testing.T) {
	c := newCapture()
	c.stderrTTY, c.width = true, func() int { return 12 }
	p := c.runner().progress("reading", 0)
	p.count = 12345
	if got := p.line(p.began.Add(time.Second)); got != "reading 12," {
		t.Errorf("%q", got)
	}
	p.width = 0
	if got := p.line(p.began.Add(time.Second)); got != "reading 12,345  1s" {
		t.Errorf("%q", got)
	}
	p.count, p.total = 9, 4 // more came than was announced
	if got := p.line(p.began); !strings.Contains(got, "[########################] 9/4") {
		t.Errorf("%q", got)
	}
}

func TestProgressKeepsQuiet(t *testing.T) {
	for _, tt := range []struct{ tty, quiet bool }{{false, false}, {true, true}} {
		clock := testNow
		c := newCapture()
		c.stderrTTY = tt.tty
		c.now = func() time.Time { return clock }
		r := c.runner()
		r.Quiet = tt.quiet
		p := r.progress("importing", 10)
		clock = clock.Add(time.Second)
		p.add(5)
		p.done()
		if c.err.Len() > 0 {
			t.Errorf("%+v: %q", tt, c.err.String())
		}
	}
}
