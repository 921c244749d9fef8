package store

import (
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
)

// Words say what a transaction does, so that another process can do it. Writers of a database
// that is kept in a log wait in a line when several write at once. The first in it does, with its
// own transaction, what the others have said in words; each gets its answer. A function cannot
// be handed over, so what is not said in words is done in its own turn.
type Words struct {
	// Request is what the transaction does, MaxWords bytes at most.
	Request []byte
	// Run does what another process asks for, and returns the answer, which is not empty. It
	// calls as once: with the options of that process, and a function as for Update. If Run fails,
	// nothing is kept of what it has done, and the other process does it itself.
	Run func(request []byte, as func(*Options, func(*Tx) error) (changed bool, err error)) (answer []byte, err error)
}

// MaxWords limits a request. A longer one is not handed over.
const MaxWords = replica.MostWords

// UpdateInWords is Update of what is said in words, too. An answer is that of another process,
// which has done it: then what fn has done is forgotten. Without one fn has done it. A database
// in a file has no line: there UpdateInWords is Update.
func (db *DB) UpdateInWords(words *Words, fn func(*Tx) error) (answer []byte, err error) {
	if db.log == nil || words == nil {
		return nil, db.Update(fn)
	}
	err = db.writeBy(fn, true, func(change func(*file.Recorder) (bool, error)) (err error) {
		answer, err = db.log.UpdateInWords(&replica.Words{Request: words.Request, Run: func(r *file.Recorder, request []byte) ([]byte, error) {
			return words.Run(request, func(opt *Options, fn func(*Tx) error) (bool, error) { return db.within(r, opt, fn) })
		}}, func(r *file.Recorder) (bool, error) { return writable(r, change) })
		return err
	})
	return answer, err
}

// within runs a transaction within another one, with options of its own.
func (db *DB) within(r *file.Recorder, opt *Options, fn func(*Tx) error) (changed bool, err error) {
	own := *opt
	own.Now, own.Chosen, own.Behind = db.opt.Now, false, false
	before := r.AllWrites()
	tx, err := (&DB{log: db.log, opt: own}).begin(r)
	if err != nil {
		return false, err
	}
	if err := fn(tx); err != nil {
		return false, err
	}
	err = tx.flush()
	return r.AllWrites() > before, err
}
