package main

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// audience is who reads the answer of a run, and on what.
type audience struct {
	document bool // a program that takes one document: json or jsonl
	people   bool // people, who read times, durations and sizes in words: table, line or md
	brief    bool // people who are spared what says nothing: table or md
	table    bool // people who read all of it: a table, and what is said around it
	terminal bool
	width    int // columns of the terminal, 0 where there is none or no limit
	color    bool
	blocks   bool // it can show the blocks of Unicode, else ASCII alone
	progress bool // somebody waits at a terminal, and wants to see how far it is
}

func (r *runner) audience() audience {
	f := r.Output
	a := audience{
		document: f.IsDocument(),
		people:   f == output.Table || f == output.Line || f == output.MD,
		brief:    f == output.Table || f == output.MD,
		table:    f == output.Table,
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
	if r.audience().document {
		return s
	}
	return spell.LocalTimes(s, r.loc)
}
