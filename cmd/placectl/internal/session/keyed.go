package session

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Once runs fn unless it has run with the same key before. The answer is recorded, and the
// recording is printed, so that the first answer and all repeats are the same.
func (r *Run) Once(c *cli.Context, fn func(*engine.Tx) error) func(*engine.Tx) error {
	return func(tx *engine.Tx) error {
		o := &engine.Once{Key: c.String(verbs.Key), Request: r.requested()}
		outer, out := r.Rec, r.Stdout
		err := tx.Once(o, func() (err error) {
			rec := new(keyed.Recording)
			r.Rec, r.Stdout = rec, rec
			defer func() { r.Rec, r.Stdout = outer, out }()
			if err = fn(tx); err == nil {
				o.Refused = rec.Refused
				o.Answer, err = rec.Encode()
			}
			return err
		})
		if err != nil {
			return err
		}
		rec, err := keyed.Decode(o.Answer)
		if err != nil {
			return err
		}
		r.Kept, r.Repeated = rec, o.Repeated
		if o.Repeated {
			r.repeated = told.Numbers{First: o.First, Count: o.Jobs}
		}
		return r.Repeat(rec)
	}
}

// requested encodes the request that a key is bound to: the verb, its flags in any order, its
// arguments, and the contents of the files that it has read. The form of the answer does not count, nor what
// follows the commit.
func (r *Run) requested() []byte {
	q := keyed.Request{Verb: r.Inv.Verb(), Args: r.Inv.Args, Dash: r.Inv.Dash, Inputs: &r.Inputs}
	for _, g := range r.Inv.Flags {
		if name := g.Name(); name != verbs.Key && name != verbs.DryRun && !slices.Contains(r.Verb.Follows, name) {
			q.Flags = append(q.Flags, g.Word())
		}
	}
	return q.Encode()
}

// hashed wraps an input so that its content becomes part of the request when it is closed.
func (r *Run) hashed(in io.ReadCloser) io.ReadCloser {
	if r.Verb == nil || r.Verb.Access == verbs.Reads || r.Verb.Access == verbs.NoDatabase {
		return in
	}
	return r.Inputs.Reader(in)
}

// Repeat prints a recorded answer in the form asked for now, or adds it to the recording that
// it is part of.
func (r *Run) Repeat(rec *keyed.Recording) error {
	if r.Rec != nil {
		r.Rec.Parts = append(r.Rec.Parts, rec.Parts...)
		return nil
	}
	return rec.Print(audienceOf{r.Out(), r}, r.Output)
}

// audienceOf prints the parts of a recorded answer for the readers of a run.
type audienceOf struct {
	io.Writer
	r *Run
}

func (a audienceOf) Rows(rows *output.Recording) error { return rows.Print(a.r.Printer(rows.Result)) }

func (a audienceOf) Note(note keyed.Part) { a.r.note(note) }

// Failed returns the error of a part that failed after the commit. Its rows, if any, are jobs.
func (a audienceOf) Failed(p keyed.Part) error {
	err := errors.New(p.Failed)
	if p.Rows == nil || !a.r.Audience().Document { // recorded by an older version, or not for this form
		return err
	}
	return a.r.Failing("jobs", err, func() error {
		return a.r.Repeat(&keyed.Recording{Parts: []keyed.Part{{Rows: p.Rows}}})
	})
}

// Lines prints the answers of the lines of a tx.
func (a audienceOf) Lines(lines []keyed.Part) error {
	var answers []LineAnswer
	for _, line := range lines {
		var out bytes.Buffer
		sub := *a.r
		if inv, _ := sub.Verbs.Parse(strings.Fields(line.Verb)); len(inv.Path) > 0 { // without its arguments
			sub.Inv, sub.Verb = inv, inv.Leaf()
		}
		sub.Stdout, sub.Output = &out, LineFormat(sub.Output)
		if err := sub.Repeat(line.Line); err != nil {
			return err
		}
		answers = append(answers, LineAnswer{Number: line.Number, Verb: line.Verb, Answer: out.Bytes()})
	}
	return a.r.PrintLines(answers)
}

// errFirst says that a key has no answer yet.
var errFirst = errors.New("the key is new")

// Keeper is what KeyedWithin hands to the work. Answer prints the answer, and also keeps it within
// a transaction of the new state if Kept is set. Otherwise it needs no transaction.
type Keeper struct {
	Kept   bool
	Answer func(tx *engine.Tx, print func() error) error
}

// KeyedWithin runs work, which makes a new state of a whole database, and answers. With a key,
// work keeps the answer in the new state before that replaces the old one. So either both are
// there or neither. The answer is printed when work is done. If the database already has an answer
// for the key, KeyedWithin repeats that.
func (r *Run) KeyedWithin(c *cli.Context, path string, work func(Keeper) error) error {
	if done, err := r.answeredBefore(c, path); done || err != nil {
		return err
	}
	stdout, stderr := r.Stdout, r.notes
	var answer, notes bytes.Buffer
	keep := Keeper{Kept: c.IsSet(verbs.Key) && !c.Bool(verbs.DryRun)}
	keep.Answer = func(tx *engine.Tx, print func() error) error {
		answer.Reset()
		notes.Reset()
		r.Stdout, r.notes = &answer, &notes
		defer func() { r.Stdout, r.notes = stdout, stderr }()
		if !keep.Kept {
			return print()
		}
		return r.Once(c, func(*engine.Tx) error { return print() })(tx)
	}
	if err := work(keep); err != nil {
		return err
	}
	r.Changed = !c.Bool(verbs.DryRun)
	notes.WriteTo(stderr) //nolint:errcheck // as notef
	_, err := answer.WriteTo(stdout)
	if err != nil && r.Changed {
		err = lostAnswer(err)
	}
	return err
}

// answeredBefore repeats the answer that the database at path has for the given key, and reports
// whether it has one.
func (r *Run) answeredBefore(c *cli.Context, path string) (bool, error) {
	if !c.IsSet(verbs.Key) {
		return false, nil
	}
	if err := (&engine.Once{Key: c.String(verbs.Key)}).Valid(); err != nil {
		return false, err
	}
	err := r.keyedAnswer(c, path)
	if errors.Is(err, errFirst) || errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrDamaged) ||
		errors.Is(err, engine.ErrNotOurs) {
		return false, nil
	}
	return true, err
}

// KeyedWork runs work that takes more than one transaction, and answers. If the database at path
// has an answer for the key, KeyedWork repeats that. Otherwise a transaction of its own keeps the
// answer after the work. If the process ends in between, the work is done again. The request is
// the command line without the contents of the files it names, which may be larger than memory.
func (r *Run) KeyedWork(c *cli.Context, path string, work, answer func() error) error {
	if done, err := r.answeredBefore(c, path); done || err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	if c.Bool(verbs.DryRun) {
		return answer()
	}
	r.Changed = true
	if !c.IsSet(verbs.Key) {
		return answer()
	}
	db, err := r.OpenNamed(path)
	if err != nil {
		return err
	}
	return r.Write(db, true, r.Once(c, func(*engine.Tx) error { return answer() }))
}

// keyedAnswer repeats the answer that a database keeps for a key. It returns errFirst if there is
// none.
func (r *Run) keyedAnswer(c *cli.Context, path string) error {
	db, err := r.OpenNamed(path)
	if err != nil {
		return err
	}
	return r.Write(db, false, r.Once(c, func(*engine.Tx) error { return errFirst }))
}
