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
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Printer starts an answer.
func (r *Run) Printer(res output.Result) *output.Printer {
	if r.Rec != nil {
		return r.Rec.Answer(r.OutputOptions(), res)
	}
	return output.New(r.Out(), r.OutputOptions(), res)
}

// Hushed reports whether people have asked with -q to be told of failures alone.
func (r *Run) Hushed() bool { return r.Quiet && r.Audience().Table && !r.Dry }

// Out returns where an answer goes: stdout, or nowhere if the verb has done what it was run for and the run is hushed.
func (r *Run) Out() io.Writer {
	if r.Rec == nil && r.Hushed() && r.Verb != nil && r.Verb.Changes() {
		return io.Discard
	}
	return r.Stdout
}

// OutputOptions returns what a printer needs to know about the reader of stdout.
func (r *Run) OutputOptions() output.Options {
	a := r.Audience()
	var watch func(output.Result, []any)
	if r.Env.Watch != nil {
		watch = func(res output.Result, row []any) { r.Env.Watch(r.Inv.Verb(), res, row) }
	}
	return output.Options{Watch: watch, Format: r.Output, Columns: r.Columns, NoHeader: r.NoHeader, Quiet: r.Quiet,
		Zone:     r.Loc,
		Terminal: a.Terminal, Widths: r.Widths, DryRun: r.Dry, Color: a.Color, Width: r.Width}
}

// PrintAll prints any number of things, a row for each.
func PrintAll[T any](r *Run, fields output.Fields[T], all ...T) error {
	p := r.Printer(output.Result{Columns: fields.Columns()})
	for _, x := range all {
		fields.Print(p, x)
	}
	return p.Close()
}

// Jobs starts an answer about one or more jobs, with the named columns as
// output.Fields.Pick takes them.
func (r *Run) Jobs(tx *engine.Tx, record bool, columns string) *listing.Jobs {
	return listing.PrintJobs(r.Printer, tx, record, columns)
}

// MadeJobs starts an answer about jobs that the command has made.
func (r *Run) MadeJobs(tx *engine.Tx, record bool, columns string) *listing.Jobs {
	return listing.PrintMade(r.Printer, tx, record, columns)
}

// Failing ends a verb with an answer and, if err is set, with that error. Programs get no separate
// answer then: it becomes the value of a key of the error. A hushed run has no answer without an error.
func (r *Run) Failing(key string, err error, answer func() error) error {
	if err == nil && r.Hushed() {
		return nil
	}
	if err == nil || !r.Audience().Document {
		defer func(was bool) { r.NoHeader = was }(r.NoHeader)
		r.NoHeader = r.NoHeader || r.Hushed()
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

// Progress starts a progress bar on stderr, unless stderr is no terminal or -q is set.
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
	Table    bool // for people who read all of it: a table and the notes around it
	Terminal bool
	Width    int // columns of the terminal, 0 for none or unlimited
	Color    bool
	Blocks   bool // the terminal can show Unicode blocks, otherwise only ASCII
	Progress bool // a user waits at a terminal
}

// Audience returns the readers of the answer.
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

// showsUnicode goes by the first set variable that names a character set.
func (r *Run) showsUnicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(r.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// LocalTimes converts the times in one of our texts for the reader: programs get UTC, people
// their own zone.
func (r *Run) LocalTimes(s string) string {
	if r.Audience().Document {
		return s
	}
	return text.LocalTimes(s, r.Loc)
}

// InForms calls fn if the form of the answer is one for which has returns true. A recording
// keeps both, because it may be printed in any form later.
func (r *Run) InForms(has func(output.Format) bool, fn func() error) error {
	switch {
	case r.Rec != nil:
		return r.Rec.InForms(has, fn)
	case has(r.Output):
		return fn()
	}
	return nil
}

// Either prints an answer in one of two ways, depending on its form.
func (r *Run) Either(has func(output.Format) bool, yes, no func() error) error {
	return errors.Join(r.InForms(has, yes), r.InForms(func(f output.Format) bool { return !has(f) }, no))
}

// IsTable reports whether f is the form for people.
func IsTable(f output.Format) bool { return f == output.Table }

// WriteFile writes an answer into the file that a flag names, or to standard output for "-".
// It refuses to overwrite a database.
func (r *Run) WriteFile(flag, path string, data []byte) error {
	if path == "-" {
		return r.Answer(data)
	}
	if err := r.NotDatabase("--"+flag, path); err != nil {
		return usage.Errorf("%w", err)
	}
	if err := outfile.Replace(path, data); err != nil {
		return err
	}
	r.Notef("wrote %s, %s", path, text.FormatSize(int64(len(data))))
	return nil
}

// Answer writes an answer that needs no printer.
func (r *Run) Answer(data []byte) error {
	if _, err := r.Stdout.Write(data); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

// NotDatabase refuses to overwrite a database: ours, its lock, or any other.
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
		if _, err := engine.Open(path, nil); err == nil {
			return fmt.Errorf("%s %s would overwrite a database", flag, text.Quoted(path))
		}
	}
	return nil
}

// PrintPlacement prints the answer about a job that was placed; explain adds why, with the buckets that it met.
func (r *Run) PrintPlacement(tx *engine.Tx, job *engine.Job, explain bool, met string) error {
	columns := "job state start end path policy exec_vnode* nodes chunks* set why* reason* reason_code*"
	if explain {
		columns = strings.Replace(columns, "why*", "why", 1)
	}
	p := r.MadeJobs(tx, true, columns)
	p.Met = met
	p.Print(job)
	return p.Close()
}
