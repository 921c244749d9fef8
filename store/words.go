package store

import (
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
)

// Words describe a transaction so that another process can run it. Writers of a database in a log
// wait in a line when several write at once. The first of them runs, with its own transaction, what
// the others have described; each gets its answer. A function cannot be handed over, so
// transactions without words wait for their own turn.
type Words struct {
	// Request describes the transaction, in MaxWords bytes at most.
	Request []byte
	// Run does what another process asks for, and returns the answer, which is not empty. It calls
	// as once: with the options of that process, and a function as for Update. If Run fails,
	// nothing of it is kept, and the other process does it itself.
	Run func(request []byte, as func(*Options, func(*Tx) error) (changed bool, err error)) (answer []byte, err error)
}

// MaxWords limits a request. A longer one is not handed over.
const MaxWords = replica.MostWords

// UpdateInWords is Update for a transaction that is also described in words. If it returns an
// answer, another process has run it, and what fn did is discarded. Without one, fn has run. A
// database in a file has no line: there UpdateInWords is Update.
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
