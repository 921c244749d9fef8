package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/file"
)

// Writers who wait in the line may say in words what they want done. The first one runs, behind
// its own transaction and each as one of its own, those of the others, and puts one entry for
// all: each has its answer from the same step of the log that puts the entry. So words are run
// once, or not at all, whichever writer is killed: a writer whose place is still in the line goes on by
// itself, and one whose place is gone finds its answer.

// Words are what a transaction does, said so that another writer can do it.
type Words struct {
	// Request is what the transaction does, MostWords at most.
	Request []byte
	// Run does what another writer asks for, as a transaction within this one, and returns the
	// answer. If it fails, nothing of it is kept, and the other writer does it by itself.
	Run func(r *file.Recorder, request []byte) (answer []byte, err error)
}

// request is what a place in the line says; nil: nothing.
func (w *Words) request() []byte {
	if w == nil || len(w.Request) > MostWords {
		return nil
	}
	return w.Request
}

// UpdateInWords is Update of what can be said in words, too. An answer is that of another writer,
// which has run them: what fn has done then is forgotten. Without one fn has done it.
func (rep *Replica) UpdateInWords(words *Words, fn func(*file.Recorder) (keep bool, err error)) (answer []byte, err error) {
	return rep.update(fn, (*file.Reserved).Try, words)
}

// errAnswered says that another writer has run the words.
var errAnswered = errors.New("the words were run")

// errTooMuch says that what others asked for makes an entry too long for one step.
var errTooMuch = errors.New("too much for one entry")

// mostTogether is how long an entry of several may be, with the answers, in bytes.
const mostTogether = 512 << 10

func tooMuch(entry []byte, answers []Answer) bool {
	bytes := len(entry)
	for _, a := range answers {
		bytes += len(a.Text)
	}
	return len(answers) > 0 && bytes > mostTogether
}

// others runs the words of those behind the place.
func (w *writer) others(r *file.Recorder) (answers []Answer) {
	if w.words == nil {
		return nil
	}
	began := time.Now()
	defer w.worked(began)
	for _, a := range w.behind {
		if time.Since(began) > longRun {
			break // all others wait for them
		}
		var text []byte
		failed := r.Nested(func() (err error) {
			text, err = w.words.Run(r, a.Words)
			if err == nil && len(text) == 0 {
				err = errors.New("an answer is empty")
			}
			return err
		})
		if failed == nil {
			answers = append(answers, Answer{a.Place, text})
		} else {
			w.rep.detail("another writer goes alone: " + failed.Error())
		}
	}
	return answers
}

// settle is what came of a writer, in the light of whether another one has run its words: one that
// fails takes them back first.
func (w *writer) settle(err error) error {
	switch {
	case errors.Is(err, errAnswered):
		w.place = nil
		return nil
	case err == nil || w.words.request() == nil || w.place == nil || errors.Is(err, file.ErrUnknown):
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), withdrawWithin)
	defer cancel()
	answer, lost := w.place.Withdraw(ctx)
	switch {
	case lost != nil:
		return unknownAsked(lost)
	case answer != nil:
		w.answer = answer
		return nil
	}
	return err
}

// withdrawWithin limits how long words may take to be taken back.
const withdrawWithin = 2 * time.Second

// unknownAsked says that it is not known whether another writer has run the words.
func unknownAsked(err error) error {
	return fmt.Errorf("%w: another writer may have done it: %w; check whether it was done before you try again, or use the same --key", file.ErrUnknown, err)
}
