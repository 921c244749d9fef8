package session

import (
	"bytes"
	"errors"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Once lets fn run unless it has been run with the key before. Its answer goes into a
// recording, and what was recorded is printed: so the first answer and those that repeat
// it are the same.
func (r *Run) Once(c *cli.Context, fn func(*store.Tx) error) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		o := &store.Once{Key: c.String(verbs.Key), Request: r.requested()}
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
		var used *store.UsedKey
		switch {
		case errors.As(err, &used) && r.Verb.Used != nil:
			return r.answerUsed(tx, c, used)
		case err != nil:
			return err
		}
		rec, err := keyed.Decode(o.Answer)
		if err != nil {
			return err
		}
		r.Kept, r.Repeated = rec, o.Repeated
		return r.repeat(rec)
	}
}

// answerUsed answers for a key that an older version has used, with its jobs as they are.
func (r *Run) answerUsed(tx *store.Tx, c *cli.Context, used *store.UsedKey) error {
	var jobs []*store.Job
	for i := range used.Jobs {
		j, err := tx.Jobs().Get(used.First + uint64(i))
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	return r.Verb.Used(r, tx, c, jobs)
}

// requested is the request that a key is bound to: the verb, its flags in whatever order
// they were given, its arguments, and what it has read of files. How the answer is to
// look is no part of it.
func (r *Run) requested() []byte {
	q := keyed.Request{Verb: r.Inv.Verb(), Args: r.Inv.Args, Dash: r.Inv.Dash, Inputs: &r.Inputs}
	for _, g := range r.Inv.Flags {
		if name := g.Name(); name != verbs.Key && name != verbs.DryRun {
			q.Flags = append(q.Flags, g.Word())
		}
	}
	return q.Encode()
}

// hashed is an input whose content becomes part of the request when it is closed.
func (r *Run) hashed(in io.ReadCloser) io.ReadCloser {
	if r.Verb == nil || r.Verb.Access == verbs.Reads || r.Verb.Access == verbs.NoDatabase {
		return in
	}
	return r.Inputs.Reader(in)
}

// repeat prints an answer that was recorded, in the form that is asked for now, or adds
// it to the recording that it is part of.
func (r *Run) repeat(rec *keyed.Recording) error {
	if r.Rec != nil {
		r.Rec.Parts = append(r.Rec.Parts, rec.Parts...)
		return nil
	}
	return rec.Print(audienceOf{r.Stdout, r}, r.Output)
}

// audienceOf is whom a run prints a recorded answer for.
type audienceOf struct {
	io.Writer
	r *Run
}

func (a audienceOf) Rows(rows *output.Recording) error { return rows.Print(a.r.Printer(rows.Result)) }

func (a audienceOf) Note(note keyed.Part) { a.r.note(note) }

// Lines prints the answers of the lines of tx.
func (a audienceOf) Lines(lines []keyed.Part) error {
	var answers []LineAnswer
	for _, line := range lines {
		var out bytes.Buffer
		sub := *a.r
		sub.Stdout, sub.Output = &out, LineFormat(sub.Output)
		if err := sub.repeat(line.Line); err != nil {
			return err
		}
		answers = append(answers, LineAnswer{Number: line.Number, Verb: line.Verb, Answer: out.Bytes()})
	}
	return a.r.PrintLines(answers)
}

// errFirst says that a key has no answer yet.
var errFirst = errors.New("the key is new")

// Keeper is what KeyedWithin hands to a work. answer prints the answer, in a transaction of the new
// state if it must be kept for a key (kept), else in none.
type Keeper struct {
	Kept   bool
	Answer func(tx *store.Tx, print func() error) error
}

// KeyedWithin does a work that makes a new state of a database as a whole, and answers. With
// a key the work has the answer kept in that state before it takes its place, so both are
// there, or neither. The answer is printed when the work is done. With a key whose answer
// the database has it repeats that.
func (r *Run) KeyedWithin(c *cli.Context, path string, work func(Keeper) error) error {
	if done, err := r.answeredBefore(c, path); done || err != nil {
		return err
	}
	stdout, stderr := r.Stdout, r.notes
	var answer, notes bytes.Buffer
	keep := Keeper{Kept: c.IsSet(verbs.Key) && !c.Bool(verbs.DryRun)}
	keep.Answer = func(tx *store.Tx, print func() error) error {
		answer.Reset()
		notes.Reset()
		r.Stdout, r.notes = &answer, &notes
		defer func() { r.Stdout, r.notes = stdout, stderr }()
		if !keep.Kept {
			return print()
		}
		return r.Once(c, func(*store.Tx) error { return print() })(tx)
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

// answeredBefore repeats the answer that the database at a path has for the key that is
// given, and reports whether there was one.
func (r *Run) answeredBefore(c *cli.Context, path string) (bool, error) {
	if !c.IsSet(verbs.Key) {
		return false, nil
	}
	if err := (&store.Once{Key: c.String(verbs.Key)}).Valid(); err != nil {
		return false, err
	}
	err := r.keyedAnswer(c, path)
	if errors.Is(err, errFirst) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotOurs) {
		return false, nil
	}
	return true, err
}

// KeyedWork does a work that takes more than a transaction, and answers. With a key whose
// answer the database at a path has it repeats that; else the answer is kept there by a
// transaction of its own, after the work: cut off between the two, the work is done again. The
// request is the command line, not what is in the files that it names: those may be larger
// than memory.
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
	return r.Write(db, true, r.Once(c, func(*store.Tx) error { return answer() }))
}

// keyedAnswer repeats the answer that a database keeps for a key, errFirst where it keeps
// none.
func (r *Run) keyedAnswer(c *cli.Context, path string) error {
	db, err := r.OpenNamed(path)
	if err != nil {
		return err
	}
	return r.Write(db, false, r.Once(c, func(*store.Tx) error { return errFirst }))
}
