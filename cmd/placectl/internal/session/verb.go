package session

import (
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
)

// Verb and Invocation are those of internal/verbs for this Run.
type (
	Verb       = verbs.Verb[*Run]
	Invocation = verbs.Invocation[*Run]
)

// do runs the verb's action.
func (r *Run) do(v *Verb, c *cli.Context) error {
	inTx := func(tx *engine.Tx) error { return v.InTx(r, tx, c) }
	switch {
	case v.InTx == nil:
		return v.Run(r, c)
	case v.Access == verbs.Writes:
		return r.Update(c, inTx)
	}
	return r.View(inTx)
}

// OverSSH reports whether the database is reached over ssh.
func (r *Run) OverSSH() bool { return strings.HasPrefix(r.DB, engine.URLScheme) }

// forward executes a verb on the host that holds the database.
func (r *Run) forward(v *Verb, inv Invocation, c *cli.Context) error {
	host, path, err := engine.SplitURL(r.DB)
	if err != nil {
		return usage.Errorf("--db: %w", err)
	}
	reads, err := forward.Check(v, inv)
	if err != nil {
		return err
	}
	var in io.Reader // otherwise the verb would swallow input meant for others, such as the lines of a shell's loop
	if reads {
		in = r.Stdin
	}
	if v.Carry != nil {
		if inv, in, err = v.Carry(r, inv, c, in); err != nil {
			return err
		}
	}
	ssh, err := launch.FindSSH()
	if err != nil {
		return err
	}
	changes := inv.Writes() && !c.Bool(verbs.DryRun)
	var nonce *engine.Nonce
	if changes {
		drawn := DrawNonce()
		nonce = &drawn
	}
	complaint := forward.NewComplaint(r.Stderr, nonce)
	status, err := ssh.Run(r.Ctx, host, forward.Words(path, inv, r.Surroundings(), nonce), in, r.Stdout, complaint)
	complaint.Flush()
	if status == exit.OK && (err == nil || r.Answers.Err != nil) {
		r.Changed = changes
		return nil // Delivered reports a lost answer
	}
	return complaint.Outcome(status, err, changes)
}

// printHelp prints the help of inv's verb, or of all verbs if it has none.
func (r *Run) printHelp(inv Invocation) error {
	width := r.Audience().Width
	page := r.Verbs.Help(inv.All, width)
	if v := inv.Leaf(); v != nil {
		page = v.HelpOf(inv.Verb(), inv.All, width)
	} else if inv.Topic != "" {
		page = r.Verbs.Topic(inv.Topic, width)
	}
	_, err := io.WriteString(r.Stdout, page)
	return err
}

// briefly lists the verbs of a noun that was named alone. Programs get only the error.
func (r *Run) briefly(inv Invocation) {
	if v := inv.Leaf(); v != nil && !v.Runs() && len(inv.Args) == 0 && len(v.Verbs) > 0 && !r.Audience().Document &&
		!r.Quiet {
		io.WriteString(r.Stderr, v.BriefOf(inv.Verb(), r.Audience().Width)+"\n") //nolint:errcheck // the error follows
	}
}
