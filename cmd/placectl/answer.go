package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/outfile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// printer starts an answer on stdout.
func (r *runner) printer(res output.Result) *output.Printer {
	if r.rec != nil {
		return r.rec.Answer(r.outputOptions(), res)
	}
	return output.New(r.stdout, r.outputOptions(), res)
}

// outputOptions are what an answer on stdout is to know of where it goes.
func (r *runner) outputOptions() output.Options {
	a := r.audience()
	var watch func(output.Result, []any)
	if r.env.watch != nil {
		watch = func(res output.Result, row []any) { r.env.watch(r.inv.Verb(), res, row) }
	}
	return output.Options{Watch: watch, Format: r.Output, NoHeader: r.NoHeader, Quiet: r.Quiet, Raw: r.Raw, Zone: r.loc,
		Terminal: a.terminal, Unicode: a.blocks, Widths: r.widths, DryRun: r.dry, Color: a.color, Width: r.width}
}

// printAll answers with things of one noun.
func printAll[T any](r *runner, fields output.Fields[T], all ...T) error {
	p := r.printer(output.Result{Columns: fields.Columns()})
	for _, x := range all {
		fields.Print(p, x)
	}
	return p.Close()
}

// jobs starts an answer of the named columns (as output.Fields.Pick has them), about
// one job or any number.
func (r *runner) jobs(tx *store.Tx, record bool, columns string) *nouns.Jobs {
	return nouns.PrintJobs(r.printer, tx, record, columns)
}

// madeJobs starts an answer about jobs that the command has made.
func (r *runner) madeJobs(tx *store.Tx, record bool, columns string) *nouns.Jobs {
	return nouns.PrintMade(r.printer, tx, record, columns)
}

// failing ends a verb with an answer, and with an error if there is one. Programs get no answer
// then: it is the value of a key of the error.
func (r *runner) failing(key string, err error, answer func() error) error {
	if err == nil || !r.audience().Document {
		return errors.Join(answer(), err)
	}
	var value bytes.Buffer
	stdout, form := r.stdout, r.Output
	r.stdout, r.Output = &value, output.JSON
	failed := answer()
	r.stdout, r.Output = stdout, form
	if failed != nil {
		return failed
	}
	var flat bytes.Buffer
	if failed := json.Compact(&flat, value.Bytes()); failed != nil {
		return failed
	}
	return &exit.Detailed{Err: err, Key: key, Value: flat.Bytes()}
}

// progress begins a bar on stderr: only on a terminal, and not with -q.
func (r *runner) progress(label string, total int64) *output.Progress {
	var w io.Writer
	width := 0
	if r.audience().progress {
		w, width = r.stderr, r.width()
	}
	return output.NewProgress(w, width, r.env.now, label, total)
}

// audience is who reads the answer of a run, and on what.
type audience struct {
	output.Traits
	table    bool // people who read all of it: a table, and what is said around it
	terminal bool
	width    int // columns of the terminal, 0 where there is none or no limit
	color    bool
	blocks   bool // it can show the blocks of Unicode, else ASCII alone
	progress bool // somebody waits at a terminal, and wants to see how far it is
}

func (r *runner) audience() audience {
	a := audience{
		Traits:   r.Output.Traits(),
		table:    r.Output == output.Table,
		terminal: r.stdoutTTY,
		color:    r.stdoutTTY && !r.NoColor && r.getenv("TERM") != "dumb",
		blocks:   r.showsUnicode(),
		progress: r.stderrTTY && !r.Quiet,
	}
	if a.terminal {
		a.width = r.width()
	}
	return a
}

// showsUnicode goes by the first of the variables that name a character set.
func (r *runner) showsUnicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(r.getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// localTimes is a text of ours as the reader of the answer gets its times: programs
// in UTC, people in their zone.
func (r *runner) localTimes(s string) string {
	if r.audience().Document {
		return s
	}
	return text.LocalTimes(s, r.loc)
}

// inForms runs what prints a part of an answer that only some forms have: fn, where the
// form is one of them. What is recorded may be asked for in any.
func (r *runner) inForms(has func(output.Format) bool, fn func() error) error {
	switch {
	case r.rec != nil:
		return r.rec.InForms(has, fn)
	case has(r.Output):
		return fn()
	}
	return nil
}

// either prints an answer in one of two ways, as the form is.
func (r *runner) either(has func(output.Format) bool, yes, no func() error) error {
	return errors.Join(r.inForms(has, yes), r.inForms(func(f output.Format) bool { return !has(f) }, no))
}

// isTable is the form for people who read all of it.
func isTable(f output.Format) bool { return f == output.Table }

// writeFile writes an answer into the file that a flag names, standard output for "-".
// The flag may not name a database.
func (r *runner) writeFile(flag, path string, data []byte) error {
	if path == "-" {
		return r.answer(data)
	}
	if err := r.notDatabase("--"+flag, path); err != nil {
		return usagef("%w", err)
	}
	return outfile.Replace(path, data)
}

// answer writes an answer that needs no printer.
func (r *runner) answer(data []byte) error {
	if _, err := r.stdout.Write(data); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

// notDatabase refuses to write over a database: ours, its lock, or any other.
func (r *runner) notDatabase(flag, path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, ours := range []string{r.DB, r.DB + ".lock"} {
		if info, err := os.Stat(ours); err == nil && os.SameFile(info, there) {
			return fmt.Errorf("%s %s would write over the database", flag, text.Quoted(path))
		}
	}
	if there.Mode().IsRegular() {
		if _, err := store.Open(path, nil); err == nil {
			return fmt.Errorf("%s %s would write over a database", flag, text.Quoted(path))
		}
	}
	return nil
}
