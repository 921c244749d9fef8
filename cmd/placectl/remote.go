package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// A database whose name is ssh://[USER@]HOST/PATH lies on another host, and a verb is
// executed there, with its input, its answer and its status passed through. Only those are
// executed here that are about this host.

// here are the verbs that are executed here wherever the database lies.
var here = []string{"work", "supervise", "on", "doctor"}

// neverRemote are the verbs that need the file itself, or a terminal, and why.
var neverRemote = map[string]string{
	"run":     "its command runs here, and is to notice at once when its job ends",
	"shell":   "it is for a terminal: placectl query asks the same",
	"top":     "it is for a terminal: placectl status tells the same once",
	"backup":  "the copy would lie there: run it there",
	"restore": "the copy would lie here: run it there",
	"salvage": "it makes a database of its own: run it there",
	"demo":    "it makes a database of its own, here",
}

// filesHere are the flags whose values are files, or programs, of the machine that they are
// given on. Arguments that are, are declared as such.
var filesHere = map[string][]string{
	"tx": {"file"}, "query": {"file"}, "class plan": {"from"}, "batch create": {"files", "jobs"}, "batch show": {"svg"}, "gantt": {"svg", "html"}, "report": {"svg", "html", "series"}, "metrics": {"out"},
	"archive": {"to"}, "cycle": {"exec"},
}

// overSSH reports whether the database is reached over ssh.
func (r *runner) overSSH() bool { return strings.HasPrefix(r.DB, store.URLScheme) }

// isRemote reports whether a verb is to be executed where the database lies.
func (r *runner) isRemote(v *verb, inv invocation) bool {
	dry := slices.ContainsFunc(inv.Flags, func(g verbs.Given) bool { return g.Name() == verbs.DryRun && g.Value == "true" })
	return r.overSSH() && v.Access != verbs.NoDatabase && (dry || !slices.Contains(here, inv.Verb()))
}

// remote executes a verb where the database lies.
func (r *runner) remote(v *verb, inv invocation, c *cli.Context) error {
	host, path, err := store.SplitURL(r.DB)
	if err != nil {
		return usagef("--db: %w", err)
	}
	reads, err := r.remotable(v, inv)
	if err != nil {
		return err
	}
	var in io.Reader // who reads nothing leaves it to others: a loop in a shell reads its lines there
	if reads {
		in = r.stdin
	}
	if inv.Verb() == "submit" {
		if inv, in, err = r.carry(inv, c, in); err != nil {
			return err
		}
	}
	ssh, err := launch.FindSSH()
	if err != nil {
		return err
	}
	changes := (v.Access == verbs.Writes || v.Access == verbs.Makes) && !c.Bool(verbs.DryRun)
	begun := &begunFilter{to: r.stderr}
	words := append([]string{"placectl", "--db", path}, r.globalWords(inv)...)
	if changes {
		nonce := drawNonce()
		begun.mark = []byte("placectl-begun " + hex.EncodeToString(nonce[:]) + "\n")
		words = append(words, "--begun="+hex.EncodeToString(nonce[:]))
	}
	words = append(append(words, inv.Path[0].Name), verbWords(inv)...)
	status, err := ssh.Run(r.ctx, host, words, in, r.stdout, begun)
	begun.flush()
	return r.cameOf(status, err, changes, begun)
}

// cameOf is what is to be said of a verb that was executed elsewhere.
func (r *runner) cameOf(status int, err error, changes bool, begun *begunFilter) error {
	var lost *launch.Unreached
	switch {
	case r.answers.Err != nil && status == exit.OK:
		r.changed = changes
		return nil // delivered says it
	case err == nil && status == exit.OK:
		r.changed = changes
		return nil
	case err == nil:
		return exit.Status(status)
	case !errors.As(err, &lost) && !errors.Is(err, context.Canceled):
		return err
	case changes && (begun.seen || begun.lost):
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	case lost != nil:
		return fmt.Errorf("%w: %w", exit.ErrUnreached, err)
	}
	return err
}

// remotable refuses a command line that needs more of this machine than its streams, and
// reports whether the verb reads standard input.
func (r *runner) remotable(v *verb, inv invocation) (reads bool, err error) {
	name := inv.Verb()
	if why, never := neverRemote[name]; never {
		return false, usage.Of(name, "not over ssh: %s", why)
	}
	for _, g := range inv.Flags {
		if !slices.Contains(filesHere[name], g.Name()) {
			continue
		}
		if g.Value != "-" {
			return false, usage.Of(name, "--%s %s is a file of this machine, and the verb is executed where the database lies: - is passed on", g.Name(), g.Value)
		}
		reads = true
	}
	for i, word := range inv.Args {
		if name == "submit" || inv.Dash >= 0 && i >= inv.Dash {
			break
		}
		if i >= len(v.Args) || v.Args[i].Kind != verbs.KindFile {
			continue
		}
		if word != "-" {
			return false, usage.Of(name, "%s is a file of this machine, and the verb is executed where the database lies: - is passed on", word)
		}
		reads = true
	}
	given := func(flag string) bool {
		return slices.ContainsFunc(inv.Flags, func(g verbs.Given) bool { return g.Name() == flag })
	}
	return reads || name == "tx" && !given("file") || name == "load" && len(inv.Args) == 0, nil
}

// globalWords are the global flags, from wherever they come, for a verb elsewhere.
func (r *runner) globalWords(inv invocation) (words []string) {
	for i := range verbs.GlobalFlags {
		f := &verbs.GlobalFlags[i]
		value, source := f.LookUp(inv.Globals, r.surroundings())
		if f.Name != "db" && source != "" {
			words = append(words, f.Shown()+"="+value)
		}
	}
	return words
}

// verbWords are the words of a command line behind its first verb.
func verbWords(inv invocation) (words []string) {
	for _, v := range inv.Path[1:] {
		words = append(words, v.Name)
	}
	for _, g := range inv.Flags {
		words = append(words, g.Word())
	}
	if inv.Dash < 0 {
		return append(words, inv.Args...)
	}
	return slices.Concat(words, inv.Args[:inv.Dash], []string{"--"}, inv.Args[inv.Dash:])
}

// begunFilter passes on what comes from standard error there, but for the line that says
// that the verb has begun: from then on a broken connection leaves the outcome unknown.
type begunFilter struct {
	to         io.Writer
	mark       []byte // the line; nil: none is expected
	line       []byte // what has come of a line before it
	seen, lost bool
}

// lostWords are in what ssh says of a connection that it has had, and has no more.
var lostWords = []string{"closed by remote host", "Broken pipe", "Connection reset", "client_loop", "not responding"}

func (b *begunFilter) Write(p []byte) (int, error) {
	for _, c := range p {
		b.line = append(b.line, c)
		if c == '\n' {
			b.flush()
		}
	}
	return len(p), nil
}

// flush passes on the line so far.
func (b *begunFilter) flush() {
	if b.mark != nil && bytes.Equal(b.line, b.mark) {
		b.seen, b.line = true, nil
		return
	}
	for _, w := range lostWords {
		b.lost = b.lost || bytes.Contains(b.line, []byte(w))
	}
	b.to.Write(b.line) //nolint:errcheck // there is nowhere left to complain to
	b.line = nil
}

// carriedFlag says that the surroundings of who submits come from standard input: submit
// over ssh sends them along.
const carriedFlag = "carried"

// carry makes the command line of a submission that is made elsewhere, and what it is to
// read there: the surroundings here, and the script. What is wrong with them is found here.
func (r *runner) carry(inv invocation, c *cli.Context, in io.Reader) (invocation, io.Reader, error) {
	selects, sc, err := r.scriptOf(c, r.plainArgs(c))
	if err != nil || sc == nil && r.dash < 0 {
		return inv, in, err
	}
	checked := payload.Process{Environ: r.environ, Note: func(string, ...any) {}, Detail: func(string, ...any) {}}
	if _, err := checked.Read(c, nil); err != nil {
		return inv, nil, err
	}
	along := payload.Carry(r.environ())
	if along.Dir, err = os.Getwd(); err != nil {
		return inv, nil, err
	}
	if along.Host, err = os.Hostname(); err != nil {
		return inv, nil, err
	}
	if sc != nil {
		along.ScriptName, along.Script = sc.Name, []byte(sc.Text)
	}
	text, err := json.Marshal(along)
	if err != nil {
		return inv, nil, err
	}
	out := inv
	out.Flags = slices.DeleteFunc(slices.Clone(inv.Flags), func(g verbs.Given) bool { return g.Name() == "script" })
	out.Flags = append(out.Flags, verbs.Given{Flag: verbs.FindFlag(r.verb.Flags, carriedFlag), Value: "true"})
	out.Args, out.Dash = selects, -1
	if r.dash >= 0 {
		out.Args, out.Dash = slices.Concat(selects, inv.Args[r.dash:]), len(selects)
	}
	return out, bytes.NewReader(text), nil
}

// readCarried reads what carry has sent, nil where this is where somebody submits. The
// script is part of what a key is bound to, and the environment is not.
func (r *runner) readCarried(c *cli.Context) (err error) {
	if !c.Bool(carriedFlag) || r.carried != nil {
		return nil
	}
	text, err := io.ReadAll(r.stdin)
	if err != nil {
		return err
	}
	along := new(payload.Carried)
	if err := json.Unmarshal(text, along); err != nil {
		return usagef("--%s is for placectl --db ssh://..., which says what is to be read: %w", carriedFlag, err)
	}
	r.inputs.Add(string(along.Script))
	r.carried = along
	return nil
}
