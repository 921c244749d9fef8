package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/outname"
)

// A launcher gets each job with a command as a shell script, so that it need not know what jobs carry:
// directory, umask, variables, output files, and perhaps a script of their own.

// addRuns adds the shell scripts of the jobs to be launched to their notices.
func addRuns(r *session.Run, told []launch.Notice) error {
	return r.View(func(tx *engine.Tx) error {
		for i := range told {
			n := &told[i]
			if n.Event != launch.Start {
				continue
			}
			j, err := tx.Jobs().Get(n.Job)
			if errors.Is(err, engine.ErrNotFound) {
				continue
			}
			var p *engine.Payload
			if err == nil {
				p, err = tx.Jobs().Payload(n.Job)
			}
			if err == nil && (p != nil || len(n.Command) > 0) {
				n.Run, err = runFile(j, p, n)
			}
			if err != nil {
				return fmt.Errorf("job %d: %w", n.Job, err)
			}
		}
		return nil
	})
}

// runFile returns a script for sh that runs a job. Output that the job has not named goes where the script's
// own goes.
func runFile(j *engine.Job, p *engine.Payload, n *launch.Notice) (string, error) {
	var b strings.Builder
	line := func(words ...string) {
		for i, w := range words {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		b.WriteString(strings.Join(words, " "))
	}
	to := func(redirection, pattern string) {
		if pattern == "" {
			return
		}
		name := outname.Job{ID: j.ID, Array: j.Array, Index: j.Index, Name: j.Name, User: j.User, Attempt: j.Attempt,
			Node: func() string { return n.Chunks[0] }}
		b.WriteString("exec " + redirection)
		line(name.Path(p.Dir, pattern))
		b.WriteString("\n")
	}
	words := n.Command
	if p == nil {
		p = new(engine.Payload)
	} else {
		b.WriteString("cd ")
		line(p.Dir)
		fmt.Fprintf(&b, " || exit\numask %04o\n", p.Umask)
		into := ">"
		if p.Append {
			into = ">>"
		}
		to("<", p.Input)
		to(into, p.Out)
		if to("2"+into, p.Err); p.Err == "" && p.Out != "" {
			b.WriteString("exec 2>&1\n")
		}
	}
	const script = "script=$(mktemp) || exit\ntrap 'rm -f \"$script\"' EXIT\nprintf %s "
	switch {
	case p.Script != "":
		b.WriteString(script)
		line(p.Script)
		b.WriteString(" >\"$script\" || exit\n")
		words = keeper.ScriptWords(p, "\x00", n.Command)
	case len(words) == 0:
		return "", errors.New("its script is not yours to read")
	}
	b.WriteString("env ")
	line(slices.Concat(p.Env, n.Env, words)...)
	return strings.Replace(b.String(), "'\x00'", `"$script"`, 1) + "\n", nil
}
