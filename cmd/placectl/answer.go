package main

import (
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// printer starts an answer on stdout.
func (r *runner) printer(res output.Result) *output.Printer {
	return output.New(r.stdout, r.outputOptions(), res)
}

// outputOptions are what an answer on stdout is to know of where it goes.
func (r *runner) outputOptions() output.Options {
	a := r.audience()
	return output.Options{Format: r.Output, NoHeader: r.NoHeader, Raw: r.Raw, Zone: r.loc,
		Terminal: a.terminal, Color: a.color, Width: r.width}
}

// printAll answers with things of one noun.
func printAll[T any](r *runner, fields output.Fields[T], all ...T) error {
	p := r.printer(output.Result{Columns: fields.Columns()})
	for _, x := range all {
		fields.Print(p, x)
	}
	return p.Close()
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

func (r *runner) blocks() bool { return r.audience().blocks }
