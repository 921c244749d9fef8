package daily

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/placectl/placectl/cmd/placectl/internal/fullscreen"
)

// Top is the state of a live view: what it shows of a store, and how.
type Top struct {
	Live    *Live
	Order   Order
	Title   string
	Zone    *time.Location
	Color   bool
	Blocks  bool   // the terminal can show Unicode blocks
	Trouble string // why the store could not be read just now

	Attended *Attended

	Said string   // the result of the last key
	Text []string // shown instead of jobs until Escape: a log, an explanation; nil for none

	chosen string // the number of the job chosen with the arrows, "" for none
	asks   bool   // asking whether to cancel it
	filter string
	typing bool // a filter is being typed
	events bool // events instead of jobs
	help   bool
	scroll int
	end    bool     // the end of the text was visible
	place  int      // position of the chosen job among those shown
	follow bool     // scroll to the chosen job
	deed   []string // see Deed
}

// Wish is what a key asks of the program that runs the view.
type Wish int

// The wishes.
const (
	Nothing Wish = iota
	Redraw
	Reread // another order was chosen
	Quit
	Act // a deed for the chosen job: see Deed
)

// deeds are what keys do to the chosen job: the words of a command line, without the job's number.
var deeds = map[fullscreen.Key][]string{'h': {"hold"}, 'u': {"unhold"}, 'l': {"logs", "--tail", "1000"},
	'e': {"explain"}}

// shows reports whether a deed serves to show its output.
func shows(verb string) bool { return verb == "logs" || verb == "explain" }

// Deed returns the command line that the last key asks to run.
func (t *Top) Deed() []string { return t.deed }

// Follows reports whether a log is shown. Then the same deed should run again from time to time.
func (t *Top) Follows() bool { return t.Text != nil && t.deed[0] == "logs" }

// Done takes the result of a deed.
func (t *Top) Done(failed bool, printed string) {
	lines := strings.Split(strings.TrimRight(printed, "\n"), "\n")
	if shows(t.deed[0]) && !failed {
		switch {
		case t.deed[0] != "logs":
			t.scroll = 0
		case t.Text == nil || t.end:
			t.scroll = len(lines)
		}
		t.Text = lines
		return
	}
	if t.Follows() { // the log is unreadable just now
		return
	}
	t.Said = t.deed[0] + " " + t.chosen + ": done"
	if failed {
		t.Said = strings.TrimPrefix(lines[len(lines)-1], "placectl: ")
	}
}

// wants asks to run a command line on the chosen job.
func (t *Top) wants(words ...string) Wish {
	if t.chosen == "" {
		t.Said = "choose a job with the arrows first"
		return Redraw
	}
	t.deed = slices.Concat(words, []string{t.chosen})
	return Act
}

// choose moves the choice by some of the jobs that are shown.
func (t *Top) choose(by int) {
	var shown []string
	at := -1
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) {
			if l.Job == t.chosen {
				at = len(shown)
			}
			shown = append(shown, l.Job)
		}
	}
	if len(shown) == 0 {
		t.chosen = ""
		return
	}
	switch { // the job is gone: choose the one now at its place, or the one before
	case at >= 0:
	case t.place > 0 && by > 0:
		at = t.place - 1
	case t.place > 0:
		at = t.place
	case by < 0:
		at = len(shown)
	}
	at = max(0, min(at+by, len(shown)-1))
	t.chosen, t.place, t.follow = shown[at], at, true
}

// orders are the orders that the key s goes through.
var orders = []struct {
	order Order
	text  string
}{{Next, "what happens next"}, {Newest, "newest"}, {ByState, "state"}}

// Press handles a key.
func (t *Top) Press(k fullscreen.Key) Wish {
	if k == fullscreen.Interrupt {
		return Quit
	}
	if t.typing {
		return t.typed(k)
	}
	t.Said = ""
	if t.asks {
		if t.asks = false; k == 'y' || k == 'Y' {
			return t.wants("cancel")
		}
		return Redraw
	}
	t.help = t.help && k != fullscreen.Escape
	if t.Text != nil && (k == fullscreen.Escape || k == 'q' || k == 'l' || k == 'e') {
		t.Text, t.scroll = nil, 0
		return Redraw
	}
	if jobs := !t.help && !t.events && t.Text == nil; jobs {
		switch k {
		case fullscreen.Up:
			t.choose(-1)
			return Redraw
		case fullscreen.Down:
			t.choose(1)
			return Redraw
		case 'k':
			if t.chosen == "" {
				return t.wants("cancel")
			}
			t.asks = true
			return Redraw
		}
		if words, ok := deeds[k]; ok {
			return t.wants(words...)
		}
	}
	switch k {
	case 'q', 'Q':
		return Quit
	case 's':
		for i := range orders {
			if orders[i].order == t.Order {
				t.Order, t.scroll = orders[(i+1)%len(orders)].order, 0
				return Reread
			}
		}
	case '/':
		t.typing, t.filter, t.scroll = true, "", 0
	case fullscreen.Escape:
		t.filter, t.scroll, t.chosen, t.place = "", 0, "", 0
	case 'f':
		t.events, t.scroll = !t.events, 0
	case '?':
		t.help = !t.help
	case fullscreen.Up:
		t.scroll--
	case fullscreen.Down:
		t.scroll++
	case fullscreen.PageUp:
		t.scroll -= 10
	case fullscreen.PageDown, ' ':
		t.scroll += 10
	case fullscreen.Home:
		t.scroll = 0
	case fullscreen.End:
		t.scroll = 1 << 20
	default:
		return Nothing
	}
	return Redraw
}

// typed handles a key while a filter is being typed.
func (t *Top) typed(k fullscreen.Key) Wish {
	switch {
	case k == fullscreen.Enter:
		t.typing = false
	case k == fullscreen.Escape:
		t.typing, t.filter = false, ""
	case k == fullscreen.Erase:
		if r := []rune(t.filter); len(r) > 0 {
			t.filter = string(r[:len(r)-1])
		}
	case k > 0 && unicode.IsPrint(rune(k)) && len(t.filter) < 64:
		t.filter += string(rune(k))
	}
	return Redraw
}
