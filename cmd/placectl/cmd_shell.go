package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterh/liner"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func shellVerb() *verb {
	return &verb{
		Name:     "shell",
		Category: "Asking",
		Usage:    "ask in SQL, one question after the other",
		Description: "Statements end with a semicolon and may span lines. Tab completes tables, columns, functions and keywords, and\n" +
			"the arrows bring back what was asked before. Commands begin with a point: .help lists them. Between\n" +
			"statements nothing is kept open or locked: each sees the database as it is then.\n" +
			"Without a terminal statements are read from standard input, and the first error ends it.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl shell\nprintf '.mode csv\\nSELECT name FROM nodes;\\n' | placectl shell",
		Run:     (*runner).shell,
	}
}

// lines is where a shell reads from.
type lines interface {
	Prompt(prompt string) (string, error)
	AppendHistory(line string)
	Close() error
}

// sqlShell is a running shell.
type sqlShell struct {
	*runner
	db      *store.DB
	in      lines
	tty     bool
	timer   bool
	explain bool
	names   []string // of tables
	columns map[string][]query.Column
}

func (r *runner) shell(*cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	s := &sqlShell{runner: r, db: db}
	if err := s.learn(); err != nil {
		return err
	}
	if f, ok := r.stdin.(*os.File); ok && r.audience().terminal && isTerminal(f) {
		s.tty = true
		in, save := s.editor()
		defer save()
		s.in = in
		r.notef("%s: SQL, or .help", r.DB)
	} else {
		s.in = &plainLines{bufio.NewReader(r.stdin)}
	}
	defer s.in.Close()
	return s.loop()
}

// learn reads what tables and columns there are.
func (s *sqlShell) learn() error {
	return s.db.View(func(tx *store.Tx) (err error) {
		s.names, s.columns, err = tx.QueryTables()
		return err
	})
}

// loop reads statements and commands until the input ends, .quit, or without a
// terminal the first error.
func (s *sqlShell) loop() error {
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
			err = s.command(strings.TrimSpace(line))
			s.in.AppendHistory(line)
		} else if text.WriteString(line + "\n"); query.Complete(text.String()) {
			s.in.AppendHistory(strings.Join(strings.Fields(text.String()), " "))
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
			s.report(err)
		}
	}
}

var errQuit = errors.New("quit")

// statements asks what is complete.
func (s *sqlShell) statements(text string) error {
	list, err := query.Parse(text)
	if err != nil {
		return err
	}
	for _, statement := range list {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		start := time.Now()
		statement.Explain = statement.Explain || s.explain
		err := s.ask(ctx, s.db, statement, store.Query{Text: text, Reader: queryReader{s.runner}}, 0)
		stop()
		if err != nil {
			return err
		}
		if s.timer {
			fmt.Fprintf(s.stdout, "%.3f s\n", time.Since(start).Seconds())
		}
	}
	return nil
}

// editor is a terminal with history and completion; save puts the history away.
func (s *sqlShell) editor() (in lines, save func()) {
	l := liner.NewLiner()
	l.SetCtrlCAborts(true)
	l.SetMultiLineMode(true)
	l.SetWordCompleter(s.complete)
	path := s.historyFile()
	if f, err := os.Open(path); err == nil {
		_, _ = l.ReadHistory(f) // a history that cannot be read is none
		f.Close()
	}
	return l, func() {
		if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
			return
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return
		}
		_, _ = l.WriteHistory(f)
		f.Close()
	}
}

// historyFile is where the history is kept, "" for nowhere.
func (s *sqlShell) historyFile() string {
	dir := s.getenv("XDG_STATE_HOME")
	if dir == "" {
		home := s.getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "placectl", "history")
}

// plainLines reads lines where there is no terminal.
type plainLines struct{ *bufio.Reader }

func (p *plainLines) Prompt(string) (string, error) {
	line, err := p.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

func (p *plainLines) AppendHistory(string) {}
func (p *plainLines) Close() error         { return nil }
