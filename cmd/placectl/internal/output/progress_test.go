package output

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	clock := time.Unix(1795167000, 0)
	var out strings.Builder
	p := NewProgress(&out, 0, func() time.Time { return clock }, "importing", 4000)
	p.Add(1) // too soon to show
	if out.Len() > 0 {
		t.Errorf("the bar is drawn at once: %q", out.String())
	}
	clock = clock.Add(3 * time.Second)
	p.Add(999)
	p.Add(1000) // too soon to draw again
	want := "\rimporting [######..................] 1,000/4,000  3s\x1b[K"
	if got := out.String(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	p.Done()
	p.Done()
	if got := out.String(); got != want+"\r\x1b[K" {
		t.Errorf("after Done: %q, want %q", got, want+"\r\x1b[K")
	}
}

func TestProgressWithoutTotal(t *testing.T) {
	p := NewProgress(io.Discard, 12, time.Now, "reading", 0)
	p.count = 12345
	if got := p.line(p.began.Add(time.Second)); got != "reading 12," {
		t.Errorf("a bar of 12 columns is %q, want reading 12,", got)
	}
	p.width = 0
	if got := p.line(p.began.Add(time.Second)); got != "reading 12,345  1s" {
		t.Errorf("a bar without a width is %q, want reading 12,345  1s", got)
	}
	p.count, p.total = 9, 4 // more than the announced total
	if got := p.line(p.began); !strings.Contains(got, "[########################] 9/4") {
		t.Errorf("a bar beyond its total is %q, want it full with 9/4", got)
	}
}
