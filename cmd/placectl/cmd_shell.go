package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/sqlshell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
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

func (r *runner) shell(*cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	host := shellHost{r, db, make(map[string]*query.View)}
	var what sqlshell.Schema
	if err := db.View(func(tx *store.Tx) (err error) {
		what.Tables, what.Columns, err = tx.QueryTables()
		return err
	}); err != nil {
		return err
	}
	if f, ok := r.stdin.(*os.File); ok && r.audience().terminal && term.IsTerminal(int(f.Fd())) {
		r.notef("%s: SQL, or .help", r.DB)
		return sqlshell.OnTerminal(host, r.stdout, what, r.historyFile()).Run()
	}
	return sqlshell.New(host, r.stdin, r.stdout, what).Run()
}

// shellHost answers what is asked in a shell.
type shellHost struct {
	r     *runner
	db    *store.DB
	views map[string]*query.View
}

func (h shellHost) Ask(ctx context.Context, text string, statement *query.Statement) error {
	if statement.View != nil {
		return sqlshell.SetView(h.views, text, statement.View)
	}
	return h.r.ask(ctx, h.db, statement, store.Query{Text: text, Reader: queryReader{h.r}, Zone: h.r.loc, Views: h.views}, 0)
}

func (h shellHost) Printer(res output.Result) *output.Printer { return h.r.printer(res) }
func (h shellHost) SetFormat(f output.Format)                 { h.r.Output = f }
func (h shellHost) Report(err error)                          { h.r.report(err) }

// historyFile is where the history is kept, "" for nowhere.
func (r *runner) historyFile() string {
	dir := r.getenv("XDG_STATE_HOME")
	if dir == "" {
		home := r.getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "placectl", "history")
}
