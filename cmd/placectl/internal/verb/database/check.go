package database

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

const (
	inProcess = "in-process"
	// checkTime bounds a check, because damaged pages can form a cycle.
	checkTime = 10 * time.Minute
)

// Check declares the verb check.
func Check() *session.Verb {
	return &session.Verb{
		Name:     "check",
		Category: "Store",
		Usage:    "check the database for damage and contradictions",
		May:      engine.Anybody,
		Description: "Verifies the pages of the file, the checksum of every row, the sum of every table, and every " +
			"index against its\n" +
			"rows. It also checks reservations, class shares, batches, the clock, and that no more is taken of a " +
			"node than\n" +
			"it has. Files of older formats are read as they are. --repair rebuilds what is derived from rows, " +
			"and never\n" +
			"guesses about rows.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: verbs.Repair, Usage: "rebuild indexes, bitmaps and the calendar from the rows"},
			&cli.BoolFlag{Name: inProcess, Usage: "check in this process, not in a separate one"},
			verbs.KeyFlag(),
			verbs.DryRunFlag(),
		},
		Takes:    map[string]engine.Right{verbs.Repair: engine.Owners},
		Access:   verbs.Reads, // --repair writes, but only what follows from the rows
		Alone:    true,
		Statuses: map[int]string{exit.Failed: "damage found", exit.Conflict: "", exit.Unknown: "", exit.Lost: ""},
		Example:  "placectl check\nplacectl check --repair",
		Run:      check,
	}
}

func check(r *session.Run, c *cli.Context) error {
	if c.Bool(verbs.Repair) {
		return repair(r, c)
	}
	if c.IsSet(verbs.Key) {
		return usage.Errorf("--key needs --repair: check alone changes nothing")
	}
	look := func() ([]string, error) { return checkInChild(r) }
	if c.Bool(inProcess) {
		look = func() ([]string, error) { return findingsOf(r, (*engine.DB).Check) }
	}
	findings, err := look()
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("%w: %s in %s", engine.ErrDamaged, text.Plural(len(findings), "finding"), r.DB)
	}
	answer := func() error { return printFindings(r, findings) }
	if c.Bool(inProcess) && err != nil { // its parent reads the findings
		return cmp.Or(answer(), err)
	}
	if err := r.Failing("findings", err, answer); err != nil {
		return err
	}
	_ = r.View(func(*engine.Tx) error { return nil }) // a copy says that it is one
	r.Notef("%s is sound", r.DB)
	if !engine.IsLog(r.DB) {
		return nil
	}
	size, err := r.LogSize()
	if err != nil {
		return err
	}
	r.Notef("its log has %s in etcd", text.FormatSize(size.Prefix))
	log, err := r.OpenLog()
	if err != nil {
		return err
	}
	format, err := log.Format()
	if err == nil && format < engine.Format {
		r.Notef("it is kept in format %d for machines with an older version; placectl upgrade converts it to %d",
			format, engine.Format)
	}
	return err
}

// repair rebuilds derived data. It still reports what it cannot repair without guessing.
func repair(r *session.Run, c *cli.Context) error {
	var findings []string
	repair, done := (*engine.DB).Repair, "repaired"
	if c.Bool(verbs.DryRun) {
		repair, done = (*engine.DB).DryRepair, "would be repaired"
	}
	return r.KeyedWork(c, r.DB, func() (err error) {
		if findings, err = findingsOf(r, repair); err != nil {
			return r.Failing("findings", err, func() error { return printFindings(r, findings) })
		}
		return nil
	}, func() error {
		r.Notef("%s: %s %s", r.DB, text.Plural(len(findings), "finding"), done)
		return r.Failing("findings", nil, func() error { return printFindings(r, findings) })
	})
}

// printFindings prints the findings. People are told in words if there are none.
func printFindings(r *session.Run, findings []string) error {
	return r.InForms(func(f output.Format) bool { return f != output.Table || len(findings) > 0 }, func() error {
		p := r.Printer(output.Result{Columns: []output.Column{{Name: "finding"}}})
		for _, f := range findings {
			p.Row(f)
		}
		return p.Close()
	})
}

// findingsOf runs a check in this process.
func findingsOf(r *session.Run, look func(*engine.DB, func(string)) error) (list []string, err error) {
	db, err := r.Open()
	if err != nil {
		return nil, err
	}
	err = look(db, func(f string) { list = append(list, f) })
	return list, err
}

// checkInChild runs the check in a process of its own: a badly damaged file can crash its reader
// or keep it busy for ever.
func checkInChild(r *session.Run) ([]string, error) {
	if _, err := r.Open(); err != nil {
		return nil, err // a file that is not there, or not ours, needs no child
	}
	ctx, cancel := context.WithTimeout(r.Ctx, checkTime)
	defer cancel()
	out, complaint, status, err := launch.Self(ctx, "--db", r.DB, "--now", "@"+strconv.FormatInt(r.Instant().Unix(),
		10),
		"--lock-timeout", r.LockTimeout.String(), "-q", "-o", "jsonl", "check", "--"+inProcess)
	if err != nil {
		return findingsOf(r, (*engine.DB).Check)
	}
	findings := readFindings(out)
	switch {
	case r.Ctx.Err() != nil || status == exit.Interrupted: // a signal, which says nothing of the file
		return nil, context.Canceled
	case status == exit.OK:
		return findings, nil
	case ctx.Err() != nil:
		return findings,
			fmt.Errorf("checking %s took longer than %v: either this machine is slow, or its pages form a cycle", r.DB,
				checkTime)
	case status == exit.Damaged && len(findings) > 0:
		return findings, nil
	case status == exit.Locked:
		return findings, fmt.Errorf("%w: %s", engine.ErrLocked, errorMessage(complaint))
	case status == exit.Damaged:
		return append(findings, errorMessage(complaint)), nil
	}
	why := errorMessage(complaint)
	if status != exit.Crash && !endedByContent(complaint) {
		return nil, fmt.Errorf("%s could not be checked: %s", r.DB, cmp.Or(why, "the process that reads it was killed"))
	}
	return append(findings, "reading the file ends the process: "+why), nil
}

// endedByContent reports whether what a Go program said at its end means that it followed damaged pages. Otherwise
// memory or files ran out, or the process was killed: that says nothing of the file.
func endedByContent(complaint []byte) bool {
	signs := []string{"fatal error: fault", "unexpected fault address", "[signal SIG", "stack exceeds"}
	return slices.ContainsFunc(signs, func(sign string) bool { return bytes.Contains(complaint, []byte(sign)) })
}

// readFindings reads what a checking child printed.
func readFindings(out []byte) []string {
	var list []string
	for line := range bytes.Lines(out) {
		var row struct{ Finding string }
		if bytejson.Unmarshal(line, &row) == nil && row.Finding != "" {
			list = append(list, row.Finding)
		}
	}
	return list
}

// errorMessage reads the error that a child reported as JSON.
func errorMessage(b []byte) string {
	var e struct{ Error struct{ Message string } }
	if bytejson.Unmarshal(bytes.TrimSpace(b), &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return firstLine(b)
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
