package session

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/environ"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Verbs that write to a database in etcd at the same time queue up. The process at the head may
// run those behind it. It gets a verb in words and runs it like a line of tx, but as the other
// user. It hands back a recording of the answer, which is printed here. If anything is wrong, or only
// this process can run the verb, it runs here as usual.

// asker is the process that asks this one to run a verb, and the transaction that it runs in.
type asker struct {
	*asked.Request
	as     func(*store.Options, func(*store.Tx) error) (changed bool, err error)
	answer *asked.Answer // nil: the verb has not run
	alone  bool          // only the asking process can run it
}

// Dialect tells apart programs that may read words differently.
var Dialect = sync.OnceValue(func() string {
	version, commit := BuildVersion()
	return fmt.Sprint(version, " ", commit)
})

// words describes the running verb for another process, nil if words cannot.
func (r *Run) words(c *cli.Context) *store.Words {
	if r.InWords == nil || !store.IsLog(r.DB) || !r.Inv.Leaf().InWords() || r.IsFront || r.Front != nil || r.Behind ||
		!r.Now.IsZero() || c.Bool(verbs.DryRun) || r.Inv.Has(request.Carried) || r.handed.Bytes > store.MaxWords {
		return nil
	}
	q := &asked.Request{Version: Dialect(), Words: append([]string{r.Inv.Path[0].Name}, forward.VerbWords(r.Inv)...),
		Output: r.Output,
		User:   r.Self(), Apart: r.Namespaced(), Zone: r.zoneName(), Files: r.handed.Files}
	var err error
	if q.From, err = r.Me(); err != nil || q.Zone == "" {
		return nil
	}
	for _, name := range asked.Variables {
		if v := r.Getenv(name); v != "" {
			q.Env = append(q.Env, name+"="+v)
		}
	}
	if r.Inv.Verb() == "submit" {
		if q.Carried, err = payload.Carry(environ.Users(r.Environ()), nil); err != nil {
			return nil
		}
		q.Carried.Partial = true
	}
	text, err := q.Encode()
	if err != nil || len(text) > store.MaxWords {
		return nil
	}
	return &store.Words{Request: text, Run: r.runAsked}
}

// zoneName returns the name of the time zone here, "" if it has none.
func (r *Run) zoneName() string {
	if r.Loc.String() == "UTC" {
		return "UTC"
	}
	return r.Zone()
}

// runAsked runs a verb for another process.
func (r *Run) runAsked(text []byte, as func(*store.Options, func(*store.Tx) error) (bool, error)) (answer []byte,
	err error) {
	defer func() {
		if p := recover(); p != nil { // the asking process will panic, too, and report it
			err = fmt.Errorf("%w: %v", asked.ErrAlone, p)
		}
	}()
	q, err := asked.Decode(text, Dialect())
	if err != nil {
		return nil, err
	}
	by := &asker{Request: q, as: as}
	e := r.Env
	e.Args, e.Stdin, e.Stdout = q.Words, strings.NewReader(""), io.Discard
	e.Self, e.Namespaced, e.Getenv = func() string { return q.User }, func() bool { return q.Apart }, q.Getenv
	e.Environ = func() []string { return nil }
	if e.Loc, err = q.Location(); err != nil {
		return nil, err
	}
	sub := r.Below(e)
	sub.notes = io.Discard // the asking process has printed notes from before the transaction
	sub.Globals = verbs.Globals{DB: r.DB, Output: q.Output, LockTimeout: r.LockTimeout}
	sub.asker, sub.Carried = by, q.Carried
	inv, err := sub.Verbs.Parse(q.Words)
	switch {
	case err != nil:
		return nil, err
	case inv.Help || len(inv.Globals) > 0 || !inv.Leaf().InWords():
		return nil, asked.ErrAlone
	}
	if err := sub.Exec(inv); err != nil {
		return nil, err
	}
	if by.alone || by.answer == nil {
		return nil, asked.ErrAlone
	}
	return by.answer.Encode()
}

// within runs the transaction of another process's verb, and records the answer.
func (a *asker) within(r *Run, c *cli.Context, fn func(*store.Tx) error) error {
	if c.Bool(verbs.DryRun) || a.answer != nil {
		return asked.ErrAlone
	}
	if c.IsSet(verbs.Key) {
		fn = r.Once(c, fn)
	}
	answer := &asked.Answer{Said: new(keyed.Recording)}
	rec, out := r.Rec, r.Stdout
	r.Rec, r.Stdout = answer.Said, answer.Said
	defer func() { r.Rec, r.Stdout, r.Tx = rec, out, nil }()
	var err error
	answer.Changed, err = a.as(a.options(r), func(tx *store.Tx) (err error) {
		r.Tx = tx
		if err = fn(tx); err == nil {
			answer.Attend, err = wantsAttendant(tx, false)
		}
		return err
	})
	answer.Changed = answer.Changed || r.Repeated
	if a.answer = answer; a.alone && err == nil {
		err = asked.ErrAlone
	}
	return err
}

// options returns the options of the asking process. If they need something that only that
// process knows, the verb is left to it.
func (a *asker) options(r *Run) *store.Options {
	opt := r.StoreOptions()
	opt.Actor = &store.Actor{UID: a.From.UID, User: a.User, Namespaced: a.Apart, Member: func(string) bool {
		a.alone = true
		return false
	}}
	opt.Host = a.From.Host
	opt.Present = func(store.Identity, uint32) bool { a.alone = true; return false }
	return opt
}

// uidOf finds the uid of a user on the host of the asking process.
func (a *asker) uidOf(user string) (uint32, bool) {
	if user == a.User {
		return a.From.UID, true
	}
	a.alone = true
	return 0, false
}

// hear prints the answer of another process to this one's words.
func (r *Run) hear(text []byte) error {
	a, err := asked.DecodeAnswer(text)
	if err != nil {
		return fmt.Errorf("%w: another process has done it, and its answer cannot be read: %w", store.ErrUnknown, err)
	}
	r.Changed = r.Changed || a.Changed
	if r.mayLeave(true) {
		r.leaveBehind(a.Attend, true)
	}
	return r.Repeat(a.Said)
}

// Hostname returns the host name of the asking process.
func (r *Run) Hostname() (string, error) {
	if r.asker != nil {
		return r.asker.From.Host, nil
	}
	return os.Hostname()
}

// uid returns the real uid of the asking process.
func (r *Run) uid() uint32 {
	if r.asker != nil {
		return r.asker.From.UID
	}
	return uint32(os.Getuid())
}

// OnlyHere fails if the verb runs for another process: only that one can do what comes next.
func (r *Run) OnlyHere() error {
	if r.asker != nil {
		return asked.ErrAlone
	}
	return nil
}

// LookedAt are the flags of a script that name files and folders to check.
var LookedAt = []string{"chdir", "out", "err", "input"}
