package daily

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fullscreen"
	"github.com/placectl/placectl/internal/engine"
)

func topOf(jobs ...string) *Top {
	t := &Top{Live: &Live{Stats: &engine.Stats{}}, Zone: time.UTC}
	for _, job := range jobs {
		t.Live.Lines = append(t.Live.Lines, &Line{Job: job, State: "queued"})
	}
	return t
}

func screenOf(t *Top) string {
	var b strings.Builder
	for _, line := range t.Lines(80, 12) {
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestTopChoice: if the chosen job is gone, the arrows go on from its place, and no other job is chosen
// instead.
func TestTopChoice(t *testing.T) {
	top := topOf("1", "2", "3", "4")
	for range 3 {
		top.Press(fullscreen.Down)
	}
	for _, c := range []struct {
		key  fullscreen.Key
		want string
	}{{fullscreen.Down, "4"}, {fullscreen.Up, "2"}} {
		top := *top
		top.Live = topOf("1", "2", "4").Live
		if screen := screenOf(&top); strings.Contains(screen, "k cancel") {
			t.Errorf("a job is still chosen:\n%s", screen)
		}
		top.Press(c.key)
		if screen := screenOf(&top); !strings.Contains(screen, c.want+": k cancel") {
			t.Errorf("after key %d job %s should be chosen:\n%s", c.key, c.want, screen)
		}
	}
}

// TestTopFollowsLog: if the end of a log is visible it stays so. If the reader scrolls up, the log stays
// there.
func TestTopFollowsLog(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("more\n", n) + "the end\n" }
	top := topOf("1")
	top.Press(fullscreen.Down)
	if wish := top.Press('l'); wish != Act || top.Follows() {
		t.Fatalf("Press('l') = %v, want Act; Follows() = %v, want false", wish, top.Follows())
	}
	top.Done(false, lines(30))
	screenOf(top)
	top.Done(false, lines(40))
	if screen := screenOf(top); !top.Follows() || !strings.Contains(screen, "the end") {
		t.Errorf("the end of the log should be visible:\n%s", screen)
	}
	top.Done(true, "placectl: it is locked")
	if screen := screenOf(top); !strings.Contains(screen, "the end") {
		t.Errorf("an unreadable log should stay on the screen:\n%s", screen)
	}
	top.Press(fullscreen.PageUp)
	screenOf(top)
	top.Done(false, lines(50))
	if screen := screenOf(top); strings.Contains(screen, "the end") {
		t.Errorf("the log should not scroll:\n%s", screen)
	}
	top.Press(fullscreen.Escape)
	if top.Follows() {
		t.Error("no log is shown")
	}
}
