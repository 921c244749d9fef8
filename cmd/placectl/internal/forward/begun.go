package forward

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
)

// A Complaint passes on the other host's standard error, except for the line that says that the verb has
// begun. After that line, a broken connection leaves the outcome unknown.
type Complaint struct {
	to          io.Writer
	mark        []byte // the line; nil: none is expected
	line        []byte // the part of a line that has arrived
	begun, lost bool
}

// NewComplaint passes on to a writer. nonce is that given to Words, nil for none.
func NewComplaint(to io.Writer, nonce *engine.Nonce) *Complaint {
	b := &Complaint{to: to}
	if nonce != nil {
		b.mark = []byte(Begins + hex.EncodeToString(nonce[:]) + "\n")
	}
	return b
}

// lostWords occur in ssh's messages about a connection that has broken.
var lostWords = []string{"closed by remote host", "Broken pipe", "Connection reset", "client_loop", "not responding"}

func (b *Complaint) Write(p []byte) (int, error) {
	for _, c := range p {
		b.line = append(b.line, c)
		if c == '\n' {
			b.Flush()
		}
	}
	return len(p), nil
}

// Flush passes on an unfinished line.
func (b *Complaint) Flush() {
	if b.mark != nil && bytes.Equal(b.line, b.mark) {
		b.begun, b.line = true, nil
		return
	}
	for _, w := range lostWords {
		b.lost = b.lost || bytes.Contains(b.line, []byte(w))
	}
	b.to.Write(b.line) //nolint:errcheck // stderr is the last place to report to
	b.line = nil
}

// Outcome returns the error to report for a verb executed elsewhere that ended with a status, or for
// which ssh failed. changes says whether the verb would change something there.
func (b *Complaint) Outcome(status int, err error, changes bool) error {
	var lost *launch.Unreached
	switch {
	case err == nil && status == exit.OK:
		return nil
	case err == nil:
		return exit.Status(status)
	case !errors.As(err, &lost) && !errors.Is(err, context.Canceled):
		return err
	case changes && (b.begun || b.lost):
		return fmt.Errorf("%w: %w", engine.ErrUnknown, err)
	case lost != nil:
		return fmt.Errorf("%w: %w", exit.ErrUnreached, err)
	}
	return err
}
