package sqlshell

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterh/liner"
)

// lines is where a shell reads from.
type lines interface {
	Prompt(prompt string) (string, error)
	AppendHistory(line string)
	Close() error
}

// editor is a terminal with history and completion, which puts the history away as it is
// closed.
type editor struct {
	*liner.State
	history string // its file, "" for none
}

func edited(complete liner.WordCompleter, history string) lines {
	l := liner.NewLiner()
	l.SetCtrlCAborts(true)
	l.SetMultiLineMode(true)
	l.SetWordCompleter(complete)
	if f, err := os.Open(history); err == nil {
		_, _ = l.ReadHistory(f) // a history that cannot be read is none
		f.Close()
	}
	return &editor{l, history}
}

// Close gives the terminal back.
func (e *editor) Close() error {
	e.save()
	return e.State.Close()
}

func (e *editor) save() {
	if e.history == "" || os.MkdirAll(filepath.Dir(e.history), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(e.history, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, _ = e.WriteHistory(f)
	f.Close()
}

// plainLines reads lines where there is no terminal.
type plainLines struct{ *bufio.Reader }

func plain(in io.Reader) lines { return &plainLines{bufio.NewReader(in)} }

func (p *plainLines) Prompt(string) (string, error) {
	line, err := p.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

func (p *plainLines) AppendHistory(string) {}
func (p *plainLines) Close() error         { return nil }
