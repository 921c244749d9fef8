package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// SayMoved names the jobs that were planned again because devices were taken out of service.
func (r *Run) SayMoved(tx *engine.Tx) {
	for _, j := range tx.Nodes().Moved() {
		what := j.State.String()
		if j.State == engine.JobReserved {
			what = "starts at " + string(text.AppendLocal(nil, j.Start.Unix(), r.Loc))
		}
		r.Notef("job %d %s now: %s", j.ID, strings.Replace(what, "failed", "has failed", 1), j.Reason)
	}
}

// Notef tells the user something that is not part of the answer. -q silences it.
func (r *Run) Notef(format string, args ...any) {
	if r.Front != nil {
		r.Front.Notes = append(r.Front.Notes, text.Printable(fmt.Sprintf(format, args...)))
		return
	}
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...)})
}

// Loudf is Notef that -q does not silence, for what has failed.
func (r *Run) Loudf(format string, args ...any) {
	loud := *r
	loud.Quiet = false
	loud.Notef(format, args...)
}

// Warnf warns of something that the user may not have meant. Programs get the code.
func (r *Run) Warnf(code, format string, args ...any) {
	if r.Front != nil {
		r.Notef("warning: "+format, args...)
		return
	}
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...), Code: code})
}

// note prints a note or a warning, or records it.
func (r *Run) note(p keyed.Part) {
	switch {
	case r.Rec != nil:
		r.Rec.Add(p)
	case r.Quiet || p.Verbose && !r.Verbose:
	case r.Audience().Document:
		//nolint:errcheck // stderr is the last place to report to
		r.notes.Write(exit.AppendWarning(nil, cmp.Or(p.Code, "note"), p.Note))
	default:
		words := r.LocalTimes(p.Note)
		if p.Code != "" {
			words = "warning: " + words
		}
		fmt.Fprintln(r.notes, "placectl: "+text.Printable(words))
	}
}

// Debugf prints a message only with -v.
func (r *Run) Debugf(format string, args ...any) {
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...), Verbose: true})
}
