// Package sqlshell is the shell of SQL: it reads statements and commands, from a terminal
// with history and completion, or from anything else, and asks its host.
package sqlshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/peterh/liner"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/query"
)

// Host answers what is asked in a shell.
type Host interface {
	// Ask prints the answer of a statement of a text.
	Ask(ctx context.Context, text string, statement *query.Statement) error
	// Printer starts another answer.
	Printer(output.Result) *output.Printer
	// SetFormat says how answers are printed from now on.
	SetFormat(output.Format)
	// Report tells an error that does not end the shell.
	Report(error)
}

// Schema is what can be asked for.
type Schema struct {
	Tables  []string
	Columns map[string][]query.Column
}

// Shell is a running shell.
type Shell struct {
	Schema
	host    Host
	in      lines
	out     io.Writer
	tty     bool
	timer   bool
	explain bool
}

// New makes a shell that reads statements from in.
func New(host Host, in io.Reader, out io.Writer, what Schema) *Shell {
	return &Shell{Schema: what, host: host, in: plain(in), out: out}
}

// OnTerminal makes one that reads them from the terminal of the process. Its history is
// kept in a file, "" for none.
func OnTerminal(host Host, out io.Writer, what Schema, history string) *Shell {
	s := &Shell{Schema: what, host: host, out: out, tty: true}
	s.in = edited(s.complete, history)
	return s
}

// Run reads statements and commands until the input ends, .quit, or without a
// terminal the first error.
func (s *Shell) Run() error {
	defer s.in.Close()
	var text strings.Builder
	for {
		prompt := "placectl> "
		if text.Len() > 0 {
			prompt = "     ...> "
		}
		line, err := s.in.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			text.Reset()
			continue
		case errors.Is(err, io.EOF):
			if strings.TrimSpace(text.String()) == "" || s.tty {
				return nil
			}
			return s.statements(text.String())
		case err != nil:
			return err
		}
		if text.Len() == 0 && strings.HasPrefix(strings.TrimSpace(line), ".") {
			err = s.do(strings.TrimSpace(line))
			s.in.AppendHistory(line)
		} else if text.WriteString(line + "\n"); query.Complete(text.String()) {
			if line, ok := query.OneLine(text.String()); ok {
				s.in.AppendHistory(line)
			}
			err = s.statements(text.String())
			text.Reset()
		}
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil && !s.tty {
			return err
		}
		if err != nil {
			s.host.Report(err)
		}
	}
}

var errQuit = errors.New("quit")

// statements asks what is complete.
func (s *Shell) statements(text string) error {
	list, err := query.Parse(text)
	if err != nil {
		return err
	}
	for _, statement := range list {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		start := time.Now()
		statement.Explain = statement.Explain || s.explain
		err := s.host.Ask(ctx, text, statement)
		stop()
		if err != nil {
			return err
		}
		if s.timer {
			fmt.Fprintf(s.out, "%.3f s\n", time.Since(start).Seconds())
		}
	}
	return nil
}
