package main

import (
	"errors"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// errFirst says that a key has no answer yet.
var errFirst = errors.New("the key is new")

// keyedWork does a work that takes more than a transaction, and answers. With a key whose
// answer the database has it repeats that; else the answer is kept by a transaction of its
// own, after the work: cut off between the two, the work is done again. The request is the
// command line, not what is in the files that it names: those may be larger than memory.
func (r *runner) keyedWork(c *cli.Context, work, answer func() error) error {
	keyed := c.IsSet(keyName)
	if keyed {
		if err := r.keyedAnswer(c); !errors.Is(err, errFirst) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrNotOurs) {
			return err
		}
	}
	if err := work(); err != nil {
		return err
	}
	if !keyed || c.Bool(dryRun) {
		return answer()
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	return r.write(db, true, r.once(c, func(*store.Tx) error { return answer() }))
}

// keyedAnswer repeats the answer that the database keeps for a key, errFirst where it
// keeps none.
func (r *runner) keyedAnswer(c *cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	return r.write(db, false, r.once(c, func(*store.Tx) error { return errFirst }))
}
