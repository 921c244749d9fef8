package queue

import (
	"sync"

	"github.com/placectl/placectl/internal/kernel"
)

// Suppose runs fn on a separate transaction that sees what this reader sees and may change
// anything. Its changes exist only in memory and are gone when fn returns. Other processes
// read and write meanwhile. In it, the policy local takes nodes in the order of their
// declaration.
func Suppose(tx *kernel.Tx, fn func(*kernel.Tx) error) error {
	rows, err := tx.File.Suppose()
	if err != nil {
		return err
	}
	opt := *tx.Opt
	opt.Actor, opt.Local, opt.Warn, opt.Behind = nil, nil, nil, true
	opt.Now = tx.Time
	supposed, err := kernel.NewTx(&opt, tx.Path, tx.Logged, new(sync.Once), rows)
	if err != nil {
		return err
	}
	if err := Pass(supposed); err != nil {
		return err
	}
	return kernel.OfStore(supposed.Ended(fn(supposed)))
}
