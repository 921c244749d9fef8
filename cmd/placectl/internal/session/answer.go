package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/outfile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Printer starts an answer on stdout.
func (r *Run) Printer(res output.Result) *output.Printer {
	if r.Rec != nil {
		return r.Rec.Answer(r.OutputOptions(), res)
	}
	return output.New(r.Stdout, r.OutputOptions(), res)
}

// OutputOptions are what an answer on stdout is to know of where it goes.
func (r *Run) OutputOptions() output.Options {
	a := r.Audience()
	var watch func(output.Result, []any)
	if r.Env.Watch != nil {
		watch = func(res output.Result, row []any) { r.Env.Watch(r.Inv.Verb(), res, row) }
	}
	return output.Options{Watch: watch, Format: r.Output, Columns: r.Columns, NoHeader: r.NoHeader, Quiet: r.Quiet, Raw: r.Raw, Zone: r.Loc,
		Terminal: a.Terminal, Unicode: a.Blocks, Widths: r.Widths, DryRun: r.Dry, Color: a.Color, Width: r.Width}
}

// PrintAll answers with things of one noun.
func PrintAll[T any](r *Run, fields output.Fields[T], all ...T) error {
	p := r.Printer(output.Result{Columns: fields.Columns()})
	for _, x := range all {
		fields.Print(p, x)
	}
	return p.Close()
}

// Jobs starts an answer of the named columns (as output.Fields.Pick has them), about
// one job or any number.
func (r *Run) Jobs(tx *store.Tx, record bool, columns string) *listing.Jobs {
	return listing.PrintJobs(r.Printer, tx, record, columns)
}

// MadeJobs starts an answer about jobs that the command has made.
func (r *Run) MadeJobs(tx *store.Tx, record bool, columns string) *listing.Jobs {
	return listing.PrintMade(r.Printer, tx, record, columns)
}

// Failing ends a verb with an answer, and with an error if there is one. Programs get no answer
// then: it is the value of a key of the error.
func (r *Run) Failing(key string, err error, answer func() error) error {
	if err == nil || !r.Audience().Document {
		return errors.Join(answer(), err)
	}
	var value bytes.Buffer
	stdout, form := r.Stdout, r.Output
	r.Stdout, r.Output = &value, output.JSON
	failed := answer()
	r.Stdout, r.Output = stdout, form
	if failed != nil {
		return failed
	}
	var flat bytes.Buffer
	if failed := json.Compact(&flat, value.Bytes()); failed != nil {
		return failed
	}
	return &exit.Detailed{Err: err, Key: key, Value: flat.Bytes()}
}

// Progress begins a bar on stderr: only on a terminal, and not with -q.
func (r *Run) Progress(label string, total int64) *output.Progress {
	var w io.Writer
	width := 0
	if r.Audience().Progress {
		w, width = r.Stderr, r.Width()
	}
	return output.NewProgress(w, width, r.Env.Clock, label, total)
}

// audience describes the readers of a run's answer, and their terminal.
type audience struct {
	output.Traits
	Table    bool // people who read all of it: a table, and what is said around it
	Terminal bool
	Width    int // columns of the terminal, 0 if there is none or no limit
	Color    bool
	Blocks   bool // it can show the blocks of Unicode, else ASCII alone
	Progress bool // a user waits at a terminal: show progress
}

func (r *Run) Audience() audience {
	a := audience{
		Traits:   r.Output.Traits(),
		Table:    r.Output == output.Table && r.Columns == "",
		Terminal: r.StdoutTTY,
		Color:    r.StdoutTTY && !r.NoColor && r.Getenv("TERM") != "dumb",
		Blocks:   r.showsUnicode(),
		Progress: r.StderrTTY && !r.Quiet,
	}
	if a.Terminal {
		a.Width = r.Width()
	}
	return a
}

// showsUnicode goes by the first of the variables that name a character set.
func (r *Run) showsUnicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(r.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// LocalTimes is a text of ours as the reader of the answer gets its times: programs
// in UTC, people in their zone.
func (r *Run) LocalTimes(s string) string {
	if r.Audience().Document {
		return s
	}
	return text.LocalTimes(s, r.Loc)
}

// InForms runs what prints a part of an answer that only some forms have: fn, where the
// form is one of them. What is recorded may be asked for in any.
func (r *Run) InForms(has func(output.Format) bool, fn func() error) error {
	switch {
	case r.Rec != nil:
		return r.Rec.InForms(has, fn)
	case has(r.Output):
		return fn()
	}
	return nil
}

// Either prints an answer in one of two ways, as the form is.
func (r *Run) Either(has func(output.Format) bool, yes, no func() error) error {
	return errors.Join(r.InForms(has, yes), r.InForms(func(f output.Format) bool { return !has(f) }, no))
}

// IsTable is the form for people who read all of it.
func IsTable(f output.Format) bool { return f == output.Table }

// WriteFile writes an answer into the file that a flag names, standard output for "-".
// The flag may not name a database.
func (r *Run) WriteFile(flag, path string, data []byte) error {
	if path == "-" {
		return r.Answer(data)
	}
	if err := r.NotDatabase("--"+flag, path); err != nil {
		return usage.Errorf("%w", err)
	}
	return outfile.Replace(path, data)
}

// Answer writes an answer that needs no printer.
func (r *Run) Answer(data []byte) error {
	if _, err := r.Stdout.Write(data); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

// NotDatabase refuses to write over a database: ours, its lock, or any other.
func (r *Run) NotDatabase(flag, path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, ours := range []string{r.DB, r.DB + ".lock"} {
		if info, err := os.Stat(ours); err == nil && os.SameFile(info, there) {
			return fmt.Errorf("%s %s would overwrite the database", flag, text.Quoted(path))
		}
	}
	if there.Mode().IsRegular() {
		if _, err := store.Open(path, nil); err == nil {
			return fmt.Errorf("%s %s would overwrite a database", flag, text.Quoted(path))
		}
	}
	return nil
}

// PrintPlacement prints the answer about a job that was placed.
func (r *Run) PrintPlacement(tx *store.Tx, job *store.Job, explain bool) error {
	columns := "job state start end path policy exec_vnode* nodes chunks* set why* reason* reason_code*"
	if explain {
		columns = strings.Replace(columns, "why*", "why", 1)
	}
	p := r.MadeJobs(tx, true, columns)
	p.Print(job)
	return p.Close()
}
