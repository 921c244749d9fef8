package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
)

// Delivered returns the error of a run, taking into account whether its answer could be written:
// a committed change must not look like a failure.
func (r *Run) Delivered(err error) error {
	switch lost := r.Answers.Err; {
	case lost == nil, errors.Is(err, exit.ErrLost), err != nil && r.IsFront: // front-ends have statuses of their own
		return err
	case r.Changed:
		return lostAnswer(lost)
	case err == nil:
		return lost
	}
	return err
}

func lostAnswer(err error) error {
	return fmt.Errorf("%w: %w; repeat it with the same --key", exit.ErrLost, err)
}

// PipeClosed reports whether the reader of an answer is gone and nothing was changed. As with
// other programs, that is no failure.
func (r *Run) PipeClosed() bool {
	return !r.Changed && errors.Is(r.Answers.Err, syscall.EPIPE)
}

// crashed reports a panic and returns the exit status. The Go runtime would end the process with
// the status of wrong usage. The outcome of a change is unknown then.
func (r *Run) crashed(p any) int {
	stack := debug.Stack()
	if from, ok := p.(interface{ Stack() []byte }); ok {
		stack = from.Stack()
	}
	status := r.Report(fmt.Errorf("%w: %v", exit.ErrCrash, p))
	if !r.Audience().Document {
		r.Stderr.Write(stack)
	}
	return status
}

// Report tells the user about err in the form that -o asks for, and returns the exit status.
func (r *Run) Report(err error) int {
	var status exit.Status
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &status):
		return int(status)
	}
	code, why := exit.Classify(err)
	if r.Verb != nil && r.Verb.Passes && !r.Begun && code < exit.Own {
		code += exit.Own
	}
	if code == exit.Interrupted {
		err = errors.New("interrupted")
	}
	var text []byte
	if r.Audience().Document {
		text = exit.AppendJSON(nil, err, code, why)
	} else if why == exit.ReasonCopy && r.hasWarned(err) {
		text = r.errorText(errors.New("nothing was done"))
	} else {
		text = r.errorText(err)
	}
	r.Stderr.Write(text) // stderr is the last place to report to
	return code
}

// errorText formats an error for people: one line for each of joined errors, and after a usage
// error where to read more.
func (r *Run) errorText(err error) []byte {
	var b []byte
	for _, e := range exit.Unjoin(err) {
		b = append(b, "placectl: "+text.Printable(r.LocalTimes(e.Error()))+"\n"...)
	}
	var refused interface{ Earliest() (int64, bool) }
	if errors.As(err, &refused) {
		if at, ok := refused.Earliest(); ok && at > r.Instant().Unix() {
			b = append(text.AppendLocal(append(b, "placectl: it could start at "...), at, r.Loc), " (in "...)
			b = append(text.AppendGuess(append(text.AppendAbout(b, at-r.Instant().Unix()), ')'), exit.Guess(err)), '\n')
		}
	}
	var caret interface{ Caret() string }
	if r.StderrTTY && errors.As(err, &caret) {
		b = exit.AppendCaret(b, caret.Caret())
	}
	var wrong *usage.Error
	if errors.As(err, &wrong) {
		b = append(b, r.usageHint(wrong)...)
	}
	return b
}

// usageHint says where to read more after a usage error.
func (r *Run) usageHint(e *usage.Error) string {
	switch {
	case error(e) == verbs.ErrNoVerb:
		return "usage: placectl [global flags] VERB [flags] [arguments]\n\nBEGIN WITH\n" + r.Verbs.Page(verbs.Examples,
			r.Audience().Width) + "\nplacectl help lists the verbs of every day, help --all all of them\n"
	case e.Verb() != "":
		return "see: placectl help " + e.Verb() + "\n"
	}
	return "see: placectl help\n"
}
