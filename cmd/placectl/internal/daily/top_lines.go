package daily

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Lines draws the view in width columns and height lines. A height of 0 draws everything, without the
// line of keys and without scrolling.
func (t *Top) Lines(width, height int) [][]byte {
	head := t.head(width, height)
	var body [][]byte
	switch {
	case t.help:
		body = textLines(strings.Split(topHelp, "\n"), width)
	case t.Text != nil:
		body = textLines(t.Text, width)
	case t.events:
		body = t.eventLines(width, len(t.Live.Events))
	default:
		body = t.jobLines(width)
	}
	if height == 0 {
		body = append(body, nil)
		return append(append(head, body...), t.eventLines(width, 8)...)
	}
	room := max(height-len(head)-1, 0)
	at := t.inSight(room, len(body))
	if t.scroll == 0 && !t.help && !t.events && t.Text == nil && at < 0 {
		body = t.shareOut(body, width, room)
	}
	if !t.events && !t.help && t.Text == nil && room >= len(body)+4 {
		body = append(append(body, nil), t.eventLines(width, room-len(body)-1)...)
	}
	t.end = t.scroll >= len(body)-room
	t.scroll = max(min(t.scroll, len(body)-room), 0)
	fixed := 0 // the column names do not scroll
	if !t.help && t.Text == nil && len(body) > 0 {
		fixed = min(1, room)
	}
	if at >= 0 && fixed+at < len(body) {
		body[fixed+at] = slices.Concat([]byte("\x1b[7m"), body[fixed+at], []byte("\x1b[0m"))
	}
	shown := append([][]byte{}, body[:fixed]...)
	shown = append(shown, body[min(fixed+t.scroll, len(body)):]...)
	for len(shown) < room {
		shown = append(shown, nil)
	}
	lines := append(append(head, shown[:room]...), t.foot(width))
	return lines[:min(len(lines), height)]
}

// inSight returns the position of the chosen job, -1 for none. If it was just chosen, the view scrolls
// to show it.
func (t *Top) inSight(room, lines int) int {
	at, i := -1, 0
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) {
			if l.Job == t.chosen {
				at = i
			}
			i++
		}
	}
	if at < 0 || t.help || t.events || t.Text != nil {
		if at < 0 {
			t.chosen = ""
		}
		return -1
	}
	if lines > i+2 { // too narrow for one line each
		return -1
	}
	if t.follow {
		t.scroll, t.follow = max(min(t.scroll, at), at-max(room-2, 0)), false
	}
	return at
}

// shareOut leaves at least half of the room to waiting jobs if there are more jobs than room. Otherwise
// running jobs would push them off the screen.
func (t *Top) shareOut(body [][]byte, width, room int) [][]byte {
	running := 0
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) && l.State == engine.JobRunning.String() {
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
  arrows   choose a job; PageUp, PageDown, Home, End scroll
  k        cancel the chosen job, if you say y
  h u      hold it; let it go
  l e      its log; why it is where it is; Esc goes back
  ?        this, and away with it`

// textLines cuts lines to a width.
func textLines(text []string, width int) (lines [][]byte) {
	for _, line := range text {
		lines = append(lines, cutLine(line, width))
	}
	return lines
}

// head returns the lines above the jobs: what the cluster has, and how much of it is taken.
func (t *Top) head(width, height int) (lines [][]byte) {
	v := t.Live
	s := &Status{Stats: v.Stats}
	title := fmt.Sprintf("%s  %s", t.Title, v.Now.In(t.Zone).Format("2006-01-02 15:04:05"))
	if t.Trouble != "" {
		title += "  " + t.Trouble
	}
	lines = append(lines, t.bold(title, width))
	lines = append(lines, cutLine("nodes "+s.nodes(), width))
	lines = append(lines, cutLine(fmt.Sprintf("jobs  %d running, %d waiting", s.running(), s.waitingJobs()), width))
	if who := t.Attended.text(s.waitingJobs(), v.Now, t.Zone); who != "" {
		lines = append(lines, cutLine("queue runner: "+who, width))
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
	p := output.New(&b, output.Options{Terminal: true, Color: t.Color, Width: func() int { return width }},
		output.Result{Columns: lineColumns.Columns()})
	for _, l := range t.Live.Lines {
		if l.matches(t.filter) {
			lineColumns.Print(p, l) //nolint:errcheck // writes to a buffer never fail
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
	lines = append(lines, t.bold("RECENT", width))
	for _, h := range t.Live.Events {
		label := text.BriefTime(h.At, t.Live.Now, t.Zone) + "  " + text.LocalTimes(h.Text, t.Zone)
		if len(lines) < most && (!t.events || t.filter == "" || strings.Contains(strings.ToLower(label),
			strings.ToLower(t.filter))) {
			lines = append(lines, cutLine(label, width))
		}
	}
	return lines
}

// foot returns the line of keys, or the filter that is being typed.
func (t *Top) foot(width int) []byte {
	if t.typing {
		return t.bold("/"+t.filter+"_", width)
	}
	switch {
	case t.asks:
		return t.bold("cancel job "+t.chosen+"? y cancels, any other key does not", width)
	case t.Said != "":
		return t.bold(t.Said, width)
	case t.Text != nil:
		if t.Follows() {
			return t.bold("Esc back  arrows scroll  End follows", width)
		}
		return t.bold("Esc back  arrows scroll", width)
	}
	text := "q quit  s order  / filter  f events  ? help"
	for i := range orders {
		if orders[i].order == t.Order {
			text += "  by " + orders[i].text
		}
	}
	if t.chosen != "" {
		text = t.chosen + ": k cancel  h hold  u unhold  l log  e explain  q quit  ? help  Esc none"
	}
	if t.filter != "" {
		text = "/" + t.filter + "  " + text
	}
	return t.bold(text, width)
}

// bold returns a line in bold, if there is colour.
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
