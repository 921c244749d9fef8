package store

import (
	"fmt"
	"sync"

	"github.com/placectl/placectl/store/internal/row"
)

// Suppose runs fn on a transaction of its own that sees what this reader sees and may change
// everything. Its changes are in memory alone and are gone when fn returns. Others read and write
// meanwhile. The policy local takes nodes in the order of their declaration.
func (tx *Tx) Suppose(fn func(*Tx) error) error {
	if tx.file.Format() < firstLog {
		return row.Clash("the database", fmt.Sprintf("it has format %d: a play needs %d, and the first command that changes it brings it there", tx.file.Format(), Format))
	}
	rows, err := tx.file.Suppose()
	if err != nil {
		return err
	}
	opt := *tx.opt
	opt.Actor, opt.Local, opt.Warn, opt.Behind = nil, nil, nil, true
	opt.Now = tx.Now
	supposed := &Tx{opt: &opt, path: tx.path, logged: tx.logged, warned: new(sync.Once), file: rows}
	if err := supposed.read(); err != nil {
		return err
	}
	if err := supposed.pass(); err != nil {
		return err
	}
	return ofStore(fn(supposed))
}
