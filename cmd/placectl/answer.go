package main

import (
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// printer starts an answer on stdout.
func (r *runner) printer(res output.Result) *output.Printer {
	return output.New(r.stdout, r.outputOptions(), res)
}

// outputOptions are what an answer on stdout is to know of where it goes.
func (r *runner) outputOptions() output.Options {
	return output.Options{Format: r.Output, NoHeader: r.NoHeader, Raw: r.Raw, Zone: r.loc,
		Terminal: r.stdoutTTY, Color: r.colored(), Width: r.width}
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
	if r.stderrTTY && !r.Quiet {
		w, width = r.stderr, r.width()
	}
	return output.NewProgress(w, width, r.env.now, label, total)
}

// colored says whether the answer may carry colour.
func (r *runner) colored() bool {
	return r.stdoutTTY && !r.NoColor && r.getenv("TERM") != "dumb"
}

// localTimes is a text of ours as the reader of the answer gets its times: programs
// in UTC, people in their zone.
func (r *runner) localTimes(s string) string {
	if r.Output.IsDocument() {
		return s
	}
	return spell.LocalTimes(s, r.loc)
}

// blocks says whether the terminal can show the blocks of Unicode, else ASCII alone.
func (r *runner) blocks() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(r.getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
