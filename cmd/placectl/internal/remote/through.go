package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// A supervisor takes all processes below it for its command's, and reaps them: it can run
// no ssh itself. So where the database is reached over ssh placectl supervise is two
// processes. The one that was started asks for the other, its child, which supervises. When
// it dies the supervisor goes on, cannot reach the database, and leaves what came of the
// command for the next pass.

// ThroughFlag is the flag of supervise that says that this is the child: it asks through the descriptors 3, from which it
// reads, and 4.
const ThroughFlag = "through"

// throughQuestion is a line to who asks.
type throughQuestion struct {
	What     string
	Question Question
}

// throughAnswer is a line back.
type throughAnswer struct {
	Answer             *Answer
	Failed             string // "" for an answer
	Conflict, NotFound bool
	Denied             bool
}

// Lend starts a supervisor with these words, and asks the database for it until it has ended.
func (d *Database) Lend(ctx context.Context, words, environ []string) error {
	questions, theirQuestions, err := os.Pipe()
	if err != nil {
		return err
	}
	defer questions.Close()
	theirAnswers, answers, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answers.Close()
	_, err = launch.Fork(words, environ, []*os.File{theirAnswers, theirQuestions}, nil)
	theirAnswers.Close()
	theirQuestions.Close()
	if err != nil {
		return err
	}
	in := json.NewDecoder(questions)
	for {
		var q throughQuestion
		if err := bytejson.Decode(in, &q); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		var a throughAnswer
		if a.Answer, err = d.asked(ctx, q.What, q.Question); err != nil {
			a = throughAnswer{Failed: err.Error(), Conflict: errors.Is(err, store.ErrConflict), Denied: errors.Is(err, store.ErrNotPermitted), NotFound: errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrNoDatabase)}
		}
		if err := bytejson.Write(answers, &a); err != nil {
			return err
		}
	}
}

// Through asks whoever has started this process.
type Through struct {
	sync.Mutex
	in  *json.Decoder
	out io.Writer
}

// NewThrough is for a process that was started by Lend.
func NewThrough() (*Through, error) {
	if err := launch.Inherited(unix.S_IFIFO, unix.S_IFIFO); err != nil {
		return nil, err
	}
	return &Through{in: json.NewDecoder(os.NewFile(3, "answers")), out: os.NewFile(4, "questions")}, nil
}

// relayed is a refusal as its text, of the same kind.
type relayed struct {
	text string
	kind error
}

func (e *relayed) Error() string { return e.text }
func (e *relayed) Unwrap() error { return e.kind }

func (t *Through) ask(_ context.Context, what string, q Question) (*Answer, error) {
	t.Lock()
	defer t.Unlock()
	if err := bytejson.Write(t.out, throughQuestion{what, q}); err != nil {
		return nil, err
	}
	var a throughAnswer
	err := bytejson.Decode(t.in, &a)
	switch {
	case err != nil:
		return nil, err
	case a.Conflict:
		return nil, &relayed{a.Failed, store.ErrConflict}
	case a.Denied:
		return nil, &relayed{a.Failed, store.ErrNotPermitted}
	case a.NotFound:
		return nil, &relayed{a.Failed, store.ErrNotFound}
	case a.Failed != "":
		return nil, errors.New(a.Failed)
	}
	return a.Answer, nil
}
