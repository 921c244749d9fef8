package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// A verb that writes to a database in etcd while others do waits in a line. Meanwhile the process
// that is first may run it: it gets the verb in words, runs it as a line of tx is run, but as the
// other user, and hands back a recording of the answer, which is printed here. If anything is
// wrong, or takes this process, it is run here as ever.

// asker is the process for which a verb is run, and the transaction that it is run in.
type asker struct {
	*asked.Request
	as     func(*store.Options, func(*store.Tx) error) (changed bool, err error)
	answer *asked.Answer // nil: it was not run
	alone  bool          // it takes the process that asks
}

// dialect tells programs apart that may read words in different ways.
var dialect = sync.OnceValue(func() string {
	version, commit := buildVersion()
	return fmt.Sprint(version, " ", commit)
})

// words are the verb that runs, nil where it cannot be said in words.
func (r *runner) words(c *cli.Context) *store.Words {
	if r.inWords == nil || !store.IsLog(r.DB) || !r.inv.Leaf().InWords() || r.isFront || r.front != nil || r.behind ||
		!r.Now.IsZero() || c.Bool(verbs.DryRun) || r.inv.Has(request.Carried) || r.handed.Bytes > store.MaxWords {
		return nil
	}
	q := &asked.Request{Version: dialect(), Words: append([]string{r.inv.Path[0].Name}, forward.VerbWords(r.inv)...), Output: r.Output,
		User: r.self(), Apart: r.namespaced(), Zone: r.zoneName(), Files: r.handed.Files}
	var err error
	if q.From, err = r.me(); err != nil || q.Zone == "" {
		return nil
	}
	for _, name := range asked.Variables {
		if v := r.getenv(name); v != "" {
			q.Env = append(q.Env, name+"="+v)
		}
	}
	if r.inv.Verb() == "submit" {
		if q.Carried, err = payload.Carry(payload.Always(r.environ()), nil); err != nil {
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

// zoneName is the name of the time zone here, "" where it has none.
func (r *runner) zoneName() string {
	if r.loc.String() == "UTC" {
		return "UTC"
	}
	return r.zone()
}

// runAsked runs a verb of another process.
func (r *runner) runAsked(text []byte, as func(*store.Options, func(*store.Tx) error) (bool, error)) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // it happens to the process that asks, too, and is its own
			err = fmt.Errorf("%w: %v", asked.ErrAlone, p)
		}
	}()
	q, err := asked.Decode(text, dialect())
	if err != nil {
		return nil, err
	}
	by := &asker{Request: q, as: as}
	e := r.env
	e.args, e.stdin, e.stdout = q.Words, strings.NewReader(""), io.Discard
	e.self, e.namespaced, e.getenv = func() string { return q.User }, func() bool { return q.Apart }, q.Getenv
	e.environ = func() []string { return nil }
	if e.loc, err = q.Location(); err != nil {
		return nil, err
	}
	sub := r.below(e)
	sub.notes = io.Discard // what is said before the transaction was said there
	sub.Globals = verbs.Globals{DB: r.DB, Output: q.Output, LockTimeout: r.LockTimeout}
	sub.asker, sub.carried = by, q.Carried
	inv, err := sub.verbs.Parse(q.Words)
	switch {
	case err != nil:
		return nil, err
	case inv.Help || len(inv.Globals) > 0 || !inv.Leaf().InWords():
		return nil, asked.ErrAlone
	}
	if err := sub.exec(inv); err != nil {
		return nil, err
	}
	if by.alone || by.answer == nil {
		return nil, asked.ErrAlone
	}
	return by.answer.Encode()
}

// within runs the transaction of a verb of another process, and records the answer.
func (a *asker) within(r *runner, c *cli.Context, fn func(*store.Tx) error) error {
	if c.Bool(verbs.DryRun) || a.answer != nil {
		return asked.ErrAlone
	}
	if c.IsSet(verbs.Key) {
		fn = r.once(c, fn)
	}
	answer := &asked.Answer{Said: new(keyed.Recording)}
	rec, out := r.rec, r.stdout
	r.rec, r.stdout = answer.Said, answer.Said
	defer func() { r.rec, r.stdout, r.tx = rec, out, nil }()
	var err error
	answer.Changed, err = a.as(a.options(r), func(tx *store.Tx) (err error) {
		r.tx = tx
		if err = fn(tx); err == nil {
			answer.Attend, err = wantsAttendant(tx, false)
		}
		return err
	})
	answer.Changed = answer.Changed || r.repeated
	if a.answer = answer; a.alone && err == nil {
		err = asked.ErrAlone
	}
	return err
}

// options are those of the process that asks. What they cannot tell here takes that process.
func (a *asker) options(r *runner) *store.Options {
	opt := r.storeOptions()
	opt.Actor = &store.Actor{UID: a.From.UID, User: a.User, Namespaced: a.Apart, Member: func(string) bool { a.alone = true; return false }}
	opt.Host = a.From.Host
	opt.Present = func(store.Identity, uint32) bool { a.alone = true; return false }
	return opt
}

// uidOf finds the uid of a user where the process is that asks.
func (a *asker) uidOf(user string) (uint32, bool) {
	if user == a.User {
		return a.From.UID, true
	}
	a.alone = true
	return 0, false
}

// hear prints the answer that another process has given to this one's words.
func (r *runner) hear(text []byte) error {
	a, err := asked.DecodeAnswer(text)
	if err != nil {
		return fmt.Errorf("%w: another process has done it, and its answer is not one: %w", store.ErrUnknown, err)
	}
	r.changed = r.changed || a.Changed
	if r.mayLeave(true) {
		r.leaveBehind(a.Attend, true)
	}
	return r.repeat(a.Said)
}

// hostname is that of the process that asks.
func (r *runner) hostname() (string, error) {
	if r.asker != nil {
		return r.asker.From.Host, nil
	}
	return os.Hostname()
}

// uid is the real one of the process that asks.
func (r *runner) uid() uint32 {
	if r.asker != nil {
		return r.asker.From.UID
	}
	return uint32(os.Getuid())
}

// onlyHere fails if a verb is run for another process: what comes next takes that one.
func (r *runner) onlyHere() error {
	if r.asker != nil {
		return asked.ErrAlone
	}
	return nil
}

// lookedAt are flags of a script that name files and folders to be looked at.
var lookedAt = []string{"chdir", "out", "err", "input"}
