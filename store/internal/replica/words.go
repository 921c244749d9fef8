package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/file"
)

// Writers that wait in the line may describe their transactions in words. After its own
// transaction, the first writer runs those of the others, each as a separate one, and puts one
// entry for all. The log step that puts the entry also gives each writer its answer. So words
// are run once or not at all, whichever writer is killed. A writer whose place is still in the
// line runs its transaction itself, and one whose place is gone finds its answer.

// Words describe a transaction so that another writer can run it.
type Words struct {
	// Request describes the transaction, in MostWords bytes at most.
	Request []byte
	// Run carries out another writer's request, as a transaction within this one, and returns
	// the answer. If it fails, its changes are dropped, and the other writer runs its
	// transaction itself.
	Run func(r *file.Recorder, request []byte) (answer []byte, err error)
}

// request returns the words for a place in the line, or nil.
func (w *Words) request() []byte {
	if w == nil || len(w.Request) > MostWords {
		return nil
	}
	return w.Request
}

// UpdateInWords is Update for a transaction that is also described in words. If it returns an
// answer, another writer ran the words, and the changes of fn are dropped. Otherwise fn ran.
func (rep *Replica) UpdateInWords(words *Words, fn func(*file.Recorder) (keep bool, err error)) (answer []byte,
	err error) {
	return rep.update(fn, (*file.Reserved).Try, words)
}

// errAnswered means that another writer has run the words.
var errAnswered = errors.New("the words were run")

// errTooMuch means that with the requests of others, an entry is too long for one step.
var errTooMuch = errors.New("too much for one entry")

// mostTogether is the longest entry of several transactions, including the answers, in bytes.
const mostTogether = 512 << 10

func tooMuch(entry []byte, answers []Answer) bool {
	bytes := len(entry)
	for _, a := range answers {
		bytes += len(a.Text)
	}
	return len(answers) > 0 && bytes > mostTogether
}

// others runs the words of the places behind.
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

// settle returns the outcome of a writer, which depends on whether another one has run its
// words. A writer that fails withdraws them first.
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

// withdrawWithin limits how long withdrawing words may take.
const withdrawWithin = 2 * time.Second

// unknownAsked returns the error that it is unknown whether another writer has run the words.
func unknownAsked(err error) error {
	return fmt.Errorf("%w: another writer may have done it: %w; check whether it was done before you try again, or "+
		"use the same --key", file.ErrUnknown, err)
}
