package daily

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/placectl/placectl/cmd/placectl/internal/fullscreen"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Top is the state of a live view: what of a store is shown, and how.
type Top struct {
	Live    *Live
	Order   Order
	Title   string
	Zone    *time.Location
	Color   bool
	Blocks  bool   // the terminal shows the blocks of Unicode
	Trouble string // why the store could not be read just now

	Attended *Attended

	filter string
	typing bool // a filter is being typed
	events bool // events in place of jobs
	help   bool
	scroll int
}

// What a key asks of who runs the view.
type Wish int

// The wishes.
const (
	Nothing Wish = iota
	Redraw
	Reread // another order was chosen
	Quit
)

// orders are what s goes through.
var orders = []struct {
	order Order
	text  string
}{{Next, "what happens next"}, {Newest, "newest"}, {ByState, "state"}}

// Press takes a key.
func (t *Top) Press(k fullscreen.Key) Wish {
	if k == fullscreen.Interrupt {
		return Quit
	}
	if t.typing {
		return t.typed(k)
	}
	t.help = t.help && k != fullscreen.Escape
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
		t.filter, t.scroll = "", 0
	case 'f':
		t.events, t.scroll = !t.events, 0
	case '?', 'h':
		t.help = !t.help
	case fullscreen.Up, 'k':
		t.scroll--
	case fullscreen.Down, 'j':
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

// typed takes a key of a filter that is being typed.
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

// Lines draws the view on so many columns and lines; lines 0 is as many as there are, with
// neither keys nor scrolling.
func (t *Top) Lines(width, height int) [][]byte {
	head := t.head(width, height)
	foot := [][]byte(nil)
	if height > 0 {
		foot = [][]byte{t.foot(width)}
	}
	var body [][]byte
	switch {
	case t.help:
		body = textLines(topHelp, width)
	case t.events:
		body = t.eventLines(width, len(t.Live.Events))
	default:
		body = t.jobLines(width)
	}
	if height == 0 {
		body = append(body, nil)
		return append(append(head, body...), t.eventLines(width, 8)...)
	}
	room := max(height-len(head)-len(foot), 0)
	if t.scroll == 0 && !t.help && !t.events {
		body = t.shareOut(body, width, room)
	}
	if !t.events && !t.help && room >= len(body)+4 {
		body = append(append(body, nil), t.eventLines(width, room-len(body)-1)...)
	}
	t.scroll = max(min(t.scroll, len(body)-room), 0)
	fixed := 0 // the names of columns stay
	if !t.help && len(body) > 0 {
		fixed = min(1, room)
	}
	shown := append([][]byte{}, body[:fixed]...)
	shown = append(shown, body[min(fixed+t.scroll, len(body)):]...)
	for len(shown) < room {
		shown = append(shown, nil)
	}
	lines := append(append(head, shown[:room]...), foot...)
	return lines[:min(len(lines), height)]
}

// shareOut leaves, of jobs that are more than there is room for, half of the room to those
// that wait, for they would be on no screen otherwise.
func (t *Top) shareOut(body [][]byte, width, room int) [][]byte {
	running := 0
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) && l.State == store.JobRunning.String() {
			running++
		}
	}
	waiting := len(body) - 1 - running
	kept := max(room-2-waiting, (room-2)/2)
	if t.Order != Next || waiting <= 0 || kept < 1 || kept >= running {
		return body
	}
	more := cutLine(fmt.Sprintf("... and %d more that run: the arrows scroll", running-kept), width)
	return slices.Concat(body[:1+kept], [][]byte{more}, body[1+running:])
}

const topHelp = `
  q        leave
  s        order: what happens next, newest, by state
  /        only lines that have a word; Esc shows all again
  f        events in place of jobs, and back
  arrows   scroll; PageUp, PageDown, Home, End too
  ?        this, and away with it`

// textLines is a text, cut to a width.
func textLines(text string, width int) (lines [][]byte) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, output.Cut(nil, line, width))
	}
	return lines
}

// head is what stands above: what the cluster has, and how much of it is taken.
func (t *Top) head(width, height int) (lines [][]byte) {
	v := t.Live
	s := &Status{Stats: v.Stats}
	var states []string
	for state, n := range v.Stats.ByState {
		if n > 0 {
			states = append(states, fmt.Sprint(n, " ", nodeWord(state)))
		}
	}
	title := fmt.Sprintf("%s  %s", t.Title, v.Now.In(t.Zone).Format("2006-01-02 15:04:05"))
	if t.Trouble != "" {
		title += "  " + t.Trouble
	}
	lines = append(lines, t.bold(title, width))
	lines = append(lines, cutLine(fmt.Sprintf("nodes %d: %s", v.Stats.Nodes, strings.Join(states, ", ")), width))
	lines = append(lines, cutLine(fmt.Sprintf("jobs  %d running, %d waiting", s.running(), s.waitingJobs()), width))
	if who := t.Attended.text(s.waitingJobs(), v.Now, t.Zone); who != "" {
		lines = append(lines, cutLine("attended "+who, width))
	}
	most := len(v.Loads)
	if height > 0 {
		most = min(most, max(height/4, 1))
	}
	for i := range v.Loads[:most] {
		lines = append(lines, cutLine(v.Loads[i].text(width, t.Blocks), width))
	}
	return append(lines, nil)
}

func (t *Top) jobLines(width int) [][]byte {
	var b bytes.Buffer
	p := output.New(&b, output.Options{Terminal: true, Color: t.Color, Width: func() int { return width }}, output.Result{Columns: lineColumns.Columns()})
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) {
			lineColumns.Print(p, l) //nolint:errcheck // a buffer takes all
		}
	}
	p.Close() //nolint:errcheck // as above
	lines := bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n"))
	if t.Live.More > 0 {
		lines = append(lines, cutLine(fmt.Sprintf("and %d more", t.Live.More), width))
	}
	return lines
}

func (t *Top) eventLines(width, most int) (lines [][]byte) {
	lines = append(lines, t.bold("LATELY", width))
	for _, h := range t.Live.Events {
		label := text.BriefTime(h.At, t.Live.Now, t.Zone) + "  " + text.LocalTimes(h.Text, t.Zone)
		if len(lines) < most && (!t.events || t.filter == "" || strings.Contains(strings.ToLower(label), strings.ToLower(t.filter))) {
			lines = append(lines, cutLine(label, width))
		}
	}
	return lines
}

// foot is the line of keys, or the filter that is being typed.
func (t *Top) foot(width int) []byte {
	if t.typing {
		return t.bold("/"+t.filter+"_", width)
	}
	text := "q quit  s order  / filter  f events  ? help"
	for i := range orders {
		if orders[i].order == t.Order {
			text += "  by " + orders[i].text
		}
	}
	if t.filter != "" {
		text = "/" + t.filter + "  " + text
	}
	return t.bold(text, width)
}

// bold is a line that stands out, where there is colour.
func (t *Top) bold(s string, width int) []byte {
	line := cutLine(s, width)
	if !t.Color {
		return line
	}
	return append(append([]byte("\x1b[1m"), line...), "\x1b[0m"...)
}

func cutLine(s string, width int) []byte {
	if width == 0 {
		return []byte(text.Printable(s))
	}
	return output.Cut(nil, text.Printable(s), width)
}
