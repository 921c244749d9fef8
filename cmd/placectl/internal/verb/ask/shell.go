package ask

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/sqlshell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Shell declares the verb shell.
func Shell() *session.Verb {
	return &session.Verb{
		Name:     "shell",
		Category: "Asking",
		Usage:    "query in SQL, interactively",
		May:      engine.Anybody,
		Description: "Statements end with a semicolon and may span lines. Tab completes tables, columns, functions " +
			"and keywords. The\n" +
			"arrows recall earlier statements, with a mark at their line ends; Ctrl-R finds one with the words of " +
			"the line.\n" +
			"Ctrl-C ends a statement that takes too long. Commands begin with a dot: .help lists them. Answers " +
			"taller than\n" +
			"the terminal go through $PAGER, or less. Between statements nothing is kept open or locked: " +
			"each sees the\n" +
			"current database.\n" +
			"Without a terminal, the shell reads statements from standard input and stops at the first error.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl shell\nprintf '.mode csv\\nSELECT name FROM nodes;\\n' | placectl shell",
		Run:     shell,
	}
}

func shell(r *session.Run, _ *cli.Context) error {
	process.CollectWithin(query.DefaultLimits.Bytes)
	db, err := r.Open()
	if err != nil {
		return err
	}
	read := func(fn func(*engine.Tx) error) error { return r.Read(db, fn) }
	host := shellHost{r, read, make(map[string]*syntax.View)}
	a := r.Audience()
	s := sqlshell.Settings{Format: r.Output, NoHeader: r.NoHeader, Out: r.Stdout, Terminal: a.Terminal}
	var shell *sqlshell.Shell
	if f, ok := r.Stdin.(*os.File); ok && a.Terminal && term.IsTerminal(int(f.Fd())) {
		r.Notef("%s: SQL, or .help", r.DB)
		tty := sqlshell.NewTTY(f, r.Stdout)
		if shell, err = sqlshell.OnTerminal(host, tty, s, historyFile(r)); err == nil {
			shell.Pager = func(out io.Writer) io.WriteCloser {
				_, rows := tty.Size()
				return &launch.Pager{Command: r.Getenv("PAGER"), Rows: rows, Out: out}
			}
		}
	} else {
		shell, err = sqlshell.New(host, r.Stdin, s)
	}
	if err != nil {
		return err
	}
	return shell.Run()
}

// shellHost runs the statements of a shell.
type shellHost struct {
	r     *session.Run
	view  func(func(*engine.Tx) error) error
	views map[string]*syntax.View
}

func (h shellHost) Ask(ctx context.Context, text string, statement *syntax.Statement, s *sqlshell.Settings) error {
	if statement.View != nil {
		return sqlshell.SetView(h.views, text, statement.View)
	}
	r := h.run(ctx, s)
	return ask(r, h.view, statement,
		engine.Query{Text: text, Args: s.Args(), Named: s.Named, Views: h.views}, 0)
}

// run returns a run that prints as the settings say. It has a context of its own, so that an
// interrupt ends a statement and not the shell.
func (h shellHost) run(ctx context.Context, s *sqlshell.Settings) *session.Run {
	sub := *h.r
	sub.Ctx, sub.Stdout, sub.Output, sub.NoHeader = ctx, s.Out, s.Format, s.NoHeader
	sub.StdoutTTY, sub.Widths = sub.StdoutTTY && s.Terminal, s.Widths
	return &sub
}

func (h shellHost) Printer(res output.Result, s *sqlshell.Settings) *output.Printer {
	return h.run(h.r.Ctx, s).Printer(res)
}

func (h shellHost) Report(err error) { h.r.Report(err) }

// Schema returns the tables and the views.
func (h shellHost) Schema() (what sqlshell.Schema, err error) {
	err = h.view(func(tx *engine.Tx) error {
		if what.Tables, what.Columns, err = tx.QueryTables(); err != nil {
			return err
		}
		what.Views = make(map[string]string)
		err := tx.Views().Each(func(v engine.SQLView) error {
			what.Views[v.Name] = v.Select
			return nil
		})
		if err != nil {
			return err
		}
		for name, v := range h.views {
			what.Views[name] = v.Select.String()
		}
		for name := range what.Views {
			what.Tables = append(what.Tables, name)
			if what.Columns[name], err = h.columns(tx, name); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Sort(what.Tables)
	return what, err
}

// columns returns the columns of a view, or none if it cannot be queried now.
func (h shellHost) columns(tx *engine.Tx, view string) ([]tables.Column, error) {
	text := "SELECT * FROM " + syntax.Name{Text: view}.String()
	list, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(h.r.Ctx, list[0], engine.Query{Text: text, Zone: h.r.Loc, Views: h.views})
	if err != nil {
		return nil, nil
	}
	return rows.Columns, nil
}

// historyFile returns the path of the history, "" for none.
func historyFile(r *session.Run) string {
	dir := r.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := r.Home()
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "placectl", "history")
}
