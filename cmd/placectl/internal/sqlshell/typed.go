package sqlshell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"golang.org/x/term"
)

// typed reads texts from a terminal, line by line until they are complete. It saves the history when it
// is closed.
type typed struct {
	tty      Terminal
	complete func(text string, pos int) (head string, found []string, tail string)
	editor   *term.Terminal
	history  history
	file     string // the history's path, "" for none
	before   string // the earlier lines of the text being edited
	sought   string // the text sought with Ctrl-R
	back     int    // the position in the history to search from
}

func edited(t Terminal, s *Shell, file string) lines {
	e := &typed{tty: t, complete: s.complete, file: file}
	if f, err := os.Open(file); err == nil {
		_ = e.history.load(f) // without a readable file the history is empty
		f.Close()
	}
	return e
}

// Next reads a text. It returns errAborted after Ctrl-C, and io.EOF after Ctrl-D.
func (e *typed) Next() (string, error) {
	restore, err := e.tty.Raw()
	if err != nil {
		return "", err
	}
	if e.editor == nil {
		e.editor = term.NewTerminal(interruptible{e.tty}, "")
		e.editor.History, e.editor.AutoCompleteCallback = &e.history, e.key
	}
	e.editor.SetBracketedPasteMode(true)
	text, err := e.read()
	e.editor.SetBracketedPasteMode(false)
	if err != nil {
		e.editor = nil // the editor still holds the line
		_, _ = io.WriteString(e.tty, "\r\n")
	}
	return text, errors.Join(err, restore())
}

func (e *typed) read() (string, error) {
	e.before = ""
	for prompt := "placectl> "; ; prompt = "     ...> " {
		columns, rows := e.size()
		if err := e.editor.SetSize(columns, rows); err != nil {
			return "", err
		}
		e.editor.SetPrompt(prompt)
		line, err := e.editor.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return "", err
		}
		text := e.before + broken(line)
		if whole(text) {
			e.history.keep(text)
			return text, nil
		}
		e.before = text + "\n"
	}
}

func (e *typed) size() (columns, rows int) {
	if columns, rows = e.tty.Size(); columns <= 0 {
		return 80, 24
	}
	return columns, rows
}

// broken restores line breaks from their marks.
func broken(line string) string { return strings.ReplaceAll(line, breakMark, "\n") }

// key handles a key that the editor does not know, given the line and the cursor.
func (e *typed) key(line string, pos int, key rune) (string, int, bool) {
	const tab, search = '\t', 'R' - '@'
	switch key {
	case tab:
		return e.tab(line, pos)
	case search:
		return e.search(line)
	}
	return "", 0, false
}

// tab extends the word before the cursor to the common prefix of all candidates. If it is that long
// already, tab lists them.
func (e *typed) tab(line string, pos int) (string, int, bool) {
	typed := e.before + broken(line[:pos])
	head, found, _ := e.complete(typed+broken(line[pos:]), len(typed))
	if len(found) == 0 {
		return line, pos, true
	}
	common := found[0]
	for _, f := range found[1:] {
		for !strings.HasPrefix(strings.ToLower(f), strings.ToLower(common)) {
			common = common[:len(common)-1]
		}
	}
	word := typed[len(head):]
	if len(common) > len(word) || len(found) == 1 {
		start := line[:pos-len(word)] + common
		return start + line[pos:], len(start), true
	}
	columns, rows := e.size()
	_, _ = io.WriteString(e.editor, list(found, columns, rows-2)) // the editor redraws the line below
	return line, pos, true
}

// search finds the newest text of the history that contains the line, and an older one at each
// repetition.
func (e *typed) search(line string) (string, int, bool) {
	if e.back == 0 || e.back > e.history.Len() || e.history.At(e.back-1) != line {
		e.sought, e.back = line, 0
	}
	for back := e.back; back < e.history.Len(); back++ {
		if text := e.history.At(back); strings.Contains(strings.ToLower(text), strings.ToLower(e.sought)) {
			e.back = back + 1
			return text, len(text), true
		}
	}
	return line, len(line), true
}

// list arranges candidates in columns, and says how many do not fit.
func list(found []string, columns, rows int) string {
	const most = 200
	wide := 0
	for _, f := range found {
		wide = max(wide, output.TextWidth(f)+2)
	}
	across := max(columns/wide, 1)
	shown := min(len(found), most, max(rows, 1)*across)
	var b strings.Builder
	for i, f := range found[:shown] {
		b.WriteString(f)
		if i%across == across-1 || i == shown-1 {
			b.WriteString("\n")
		} else {
			b.WriteString(strings.Repeat(" ", wide-output.TextWidth(f)))
		}
	}
	if shown < len(found) {
		fmt.Fprintf(&b, "and %d more\n", len(found)-shown)
	}
	return b.String()
}

// Close writes the history. If that fails the old file stays.
func (e *typed) Close() error {
	if e.file == "" || os.MkdirAll(filepath.Dir(e.file), 0o700) != nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(e.file), ".history-*")
	if err != nil {
		return nil // as if there were no history
	}
	defer os.Remove(f.Name())
	if e.history.save(f) == nil && f.Close() == nil {
		_ = os.Rename(f.Name(), e.file)
	}
	return nil
}
