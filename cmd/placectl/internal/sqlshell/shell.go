// Package sqlshell is a shell for SQL. It reads statements and commands, from a terminal with history
// and completion or from any other input, and lets its host run them.
package sqlshell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// Host runs the statements of a shell.
type Host interface {
	// Ask runs a statement of a text and prints its answer, or makes a view.
	Ask(ctx context.Context, text string, statement *syntax.Statement, s *Settings) error
	// Printer starts any other answer.
	Printer(res output.Result, s *Settings) *output.Printer
	// Schema returns what can be queried now.
	Schema() (Schema, error)
	// Report reports an error that does not end the shell.
	Report(error)
}

// Schema is what can be queried.
type Schema struct {
	Tables  []string // with views
	Columns map[string][]tables.Column
	Views   map[string]string // the SELECT of each view
}

// Settings say how to print answers, and hold the values of parameters.
type Settings struct {
	Format   output.Format
	NoHeader bool
	Widths   []int          // of columns, 0 for automatic
	Named    map[string]any // named parameters, without their sign
	Numbered map[int]any    // numbered parameters
	Out      io.Writer      // where answers go
	Terminal bool           // In is a terminal
}

// Shell is a running shell.
type Shell struct {
	Settings
	// Pager makes a pager for an answer higher than the terminal. It is nil for none.
	Pager func(out io.Writer) io.WriteCloser

	host    Host
	schema  Schema
	in      lines
	tty     bool // input comes from a terminal
	timer   bool
	paged   bool // answers go through the pager
	explain bool
	echoed  io.Writer // stdout
	file    *os.File  // of .output or .once
	once    bool      // for one answer only
	reading int       // how many files of .read are open
	pending strings.Builder
}

// New makes a shell that reads statements from in.
func New(host Host, in io.Reader, s Settings) (*Shell, error) {
	what, err := host.Schema()
	return &Shell{Settings: s, schema: what, host: host, in: plain(in), echoed: s.Out}, err
}

// OnTerminal makes a shell that reads statements from a terminal. history is the path of its history
// file, "" for none.
func OnTerminal(host Host, t Terminal, s Settings, history string) (*Shell, error) {
	shell, err := New(host, nil, s)
	shell.tty, shell.paged = true, true
	shell.in = edited(t, shell, history)
	return shell, err
}

// errQuit ends the shell.
var errQuit = errors.New("quit")

// Run reads statements and commands until the input ends, until .quit, or without a terminal until the
// first error.
func (s *Shell) Run() (err error) {
	defer s.in.Close()
	defer func() { err = errors.Join(err, s.closeFile()) }()
	for {
		text, err := s.in.Next()
		switch {
		case errors.Is(err, errAborted):
			s.pending.Reset()
			continue
		case errors.Is(err, io.EOF):
			if s.tty {
				return nil
			}
			return quitting(s.rest())
		case err != nil:
			return err
		}
		err = s.text(text)
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil {
			if !s.tty {
				return err
			}
			s.pending.Reset()
			s.host.Report(err)
		}
	}
}

func quitting(err error) error {
	if errors.Is(err, errQuit) {
		return nil
	}
	return err
}

// text runs the lines of a text.
func (s *Shell) text(text string) error {
	for line := range strings.Lines(text) {
		if err := s.line(strings.TrimRight(line, "\r\n")); err != nil {
			return err
		}
	}
	return nil
}

// line takes another line: a command, or a line of a statement, which runs when it is complete.
func (s *Shell) line(line string) error {
	if command := commandOf(line); s.pending.Len() == 0 && command != "" {
		return s.do(command)
	}
	if s.pending.Len() == 0 && strings.TrimSpace(line) == "" {
		return nil
	}
	s.pending.WriteString(line + "\n")
	if !query.Complete(s.pending.String()) {
		return nil
	}
	return s.rest()
}

// rest runs what is pending.
func (s *Shell) rest() error {
	text := s.pending.String()
	s.pending.Reset()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return s.statements(text)
}

// commandOf returns the command on a line, "" for none. A command begins with a period, or with a word that begins
// no statement: help, exit and quit alone, SHOW TABLES, DESCRIBE.
func commandOf(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, ".") {
		return line
	}
	switch word := strings.ToLower(strings.TrimRight(line, "; ")); word {
	case "help", "exit", "quit":
		return "." + word
	}
	return Listing(line)
}

// whole reports whether a text is complete, so that nothing would be left pending.
func whole(text string) bool {
	var pending strings.Builder
	for line := range strings.Lines(text) {
		if pending.Len() == 0 && (commandOf(line) != "" || strings.TrimSpace(line) == "") {
			continue
		}
		if pending.WriteString(line); query.Complete(pending.String()) {
			pending.Reset()
		}
	}
	return pending.Len() == 0
}

// statements runs the complete statements of a text.
func (s *Shell) statements(text string) error {
	list, err := query.Parse(text)
	if err != nil {
		return err
	}
	for _, statement := range list {
		if err := s.ask(text, statement); err != nil {
			return err
		}
		if statement.View == nil {
			continue
		}
		if s.schema, err = s.host.Schema(); err != nil {
			return err
		}
	}
	return nil
}

// ask runs one statement. An interrupt ends it but not the shell.
func (s *Shell) ask(text string, statement *syntax.Statement) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	statement.Explain = statement.Explain || s.explain && statement.View == nil
	start := time.Now()
	err := s.answer(func(to *Settings) error { return s.host.Ask(ctx, text, statement, to) })
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err == nil && s.timer {
		fmt.Fprintf(s.echoed, "%.3f s\n", time.Since(start).Seconds())
	}
	return err
}

// lines is the input of a shell: texts of whole lines.
type lines interface {
	Next() (string, error)
	Close() error
}

// plainLines reads lines without a terminal.
type plainLines struct{ *bufio.Reader }

func plain(in io.Reader) lines { return &plainLines{bufio.NewReader(in)} }

func (p *plainLines) Next() (string, error) {
	line, err := infile.ReadLine(p.Reader)
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return string(line), err
}

func (p *plainLines) Close() error { return nil }
