// Package lineedit reads texts of one or several lines at a terminal: with editing keys, a
// history that keeps texts as they were, completion, and pasting that changes nothing.
//
// The text is kept as runes with a cursor; after each key it is drawn anew, as rows of the
// width that the terminal has then (draw.go). A row is never longer than that, so that the
// terminal itself wraps nothing, and a text that is higher than the terminal is seen
// through a window around the cursor. A terminal that tells no size has 80 columns.
package lineedit

import (
	"bufio"
	"errors"
	"io"
)

// ErrAborted says that a text was given up (Ctrl-C).
var ErrAborted = errors.New("aborted")

// Terminal is what texts are read from and drawn on.
type Terminal interface {
	io.ReadWriter
	// Size is its columns and rows, 0 for what is not known.
	Size() (columns, rows int)
	// Raw has it pass on every key; restore takes that back.
	Raw() (restore func() error, err error)
}

// Editor reads texts from a terminal, one after the other.
type Editor struct {
	History History
	// Complete finds what the word before a byte offset may become: the text before that
	// word, the candidates for it, and the text behind. It may be nil.
	Complete func(text string, pos int) (head string, found []string, tail string)
	// Whole reports whether Enter ends a text, or else begins another line of it; nil always
	// ends it.
	Whole func(text string) bool

	term   Terminal
	in     *bufio.Reader
	screen screen
	line   line
	prompt [2]string // of the first line, and of the others
	back   int       // how far back in the history the text is from, 0 for none
	kept   string    // the text that was there before the history was looked at
	cut    string    // what was last cut out
	search *search   // in the history, where one goes on
	below  []string  // lines below the text, until the next key
}

// New makes an editor.
func New(t Terminal) *Editor { return &Editor{term: t, in: bufio.NewReader(t)} }

// The sequences that have a terminal mark what is pasted.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// Read reads one text. It is ErrAborted where that is given up, and io.EOF where the input
// ends, or Ctrl-D stands for an empty text.
func (e *Editor) Read(prompt, more string) (text string, err error) {
	restore, err := e.term.Raw()
	if err != nil {
		return "", err
	}
	e.line, e.back, e.search, e.screen = line{}, 0, nil, screen{}
	e.prompt = [2]string{prompt, more}
	defer func() {
		io.WriteString(e.term, pasteOff) //nolint:errcheck // a terminal that is gone
		if again := restore(); err == nil {
			err = again
		}
	}()
	if _, err = io.WriteString(e.term, pasteOn); err != nil {
		return "", err
	}
	for {
		if e.in.Buffered() == 0 {
			if err := e.draw(); err != nil {
				return "", err
			}
		}
		e.below = nil
		k, err := readKey(e.in)
		if err != nil {
			return "", err
		}
		done, err := e.key(k)
		if done || err != nil {
			if err == nil {
				e.History.Add(e.line.String())
			}
			e.line.at = len(e.line.text)
			if left := e.leave(); err == nil {
				err = left
			}
			return e.line.String(), err
		}
	}
}

// leave draws the text for the last time, and goes below it.
func (e *Editor) leave() error {
	if err := e.draw(); err != nil {
		return err
	}
	_, err := io.WriteString(e.term, "\r\n")
	return err
}

// key does what a key says, and reports whether the text is done.
func (e *Editor) key(k key) (done bool, err error) {
	if e.search != nil && e.searching(k) {
		return false, nil
	}
	switch k.code {
	case keyEnter:
		if e.Whole == nil || e.Whole(e.line.String()) {
			return true, nil
		}
		e.line.insert("\n")
	case keyInterrupt:
		return true, ErrAborted
	case keyDelete, keyEnd:
		if k.code == keyEnd && len(e.line.text) == 0 {
			return true, io.EOF
		}
		e.line.remove(e.line.at, e.line.at+1)
	case keyTab:
		e.complete()
	case keySearch:
		e.search = &search{before: e.line, from: 1}
	case keyClear:
		_, err = io.WriteString(e.term, "\x1b[H\x1b[2J")
		e.screen = screen{}
	case keyPaste, keyText:
		e.line.insert(k.text)
	case keyUp, keyDown:
		e.upDown(k.code == keyUp)
	case keyYank:
		e.line.insert(e.cut)
	default:
		if from, to := e.line.span(k.code); from < to {
			e.cut = string(e.line.text[from:to])
			e.line.remove(from, to)
		} else {
			e.line.move(k.code)
		}
	}
	return false, err
}

// upDown goes to another line of the text, or where there is none to another text.
func (e *Editor) upDown(up bool) {
	if e.line.vertical(up) {
		return
	}
	to := e.back - 1
	if up {
		to = e.back + 1
	}
	if to < 0 || to > e.History.Len() {
		return
	}
	if e.back == 0 {
		e.kept = e.line.String()
	}
	e.back = to
	if to == 0 {
		e.line.set(e.kept)
	} else {
		e.line.set(e.History.At(to))
	}
}
