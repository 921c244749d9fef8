package store

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// maxFindings bounds what Check reports; past it, it stops looking.
const maxFindings = 1000

// Check looks for damage and contradictions and calls report for each: bbolt's
// own structure, the checksum of every row, every derived table against what the
// rows say, no node taken twice at any instant, legal states, numbers never
// reused. The error says that it could not look; ErrDamaged that the file
// cannot be read on.
//
// A file so damaged that reading it ends the process is possible: let a child
// process do it where that matters.
func (db *DB) Check(report func(finding string)) error {
	c := &checker{report: report}
	return db.file.Check(c.find, func(r *file.Recorder) error {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return err
		}
		return c.check(tx)
	})
}

type checker struct {
	report func(string)
	found  int
}

func (c *checker) find(format string, args ...any) {
	if c.found++; c.found <= maxFindings {
		c.report(fmt.Sprintf(format, args...))
	}
}

func (c *checker) check(tx *Tx) error {
	if sound, err := c.rows(tx); err != nil || !sound {
		return err
	}
	d, err := c.derive(tx)
	if err != nil {
		return err
	}
	for t := range row.TableCount {
		if t.Derived() {
			if err := d.compare(t); err != nil {
				return err
			}
		}
	}
	return errors.Join(c.keys(tx), c.shares(tx))
}

// rows verifies the checksum of every row of every table, and that there are no
// others.
func (c *checker) rows(tx *Tx) (sound bool, err error) {
	before := c.found
	err = tx.file.CheckRows(c.find)
	return c.found == before, err
}

// keys verifies that every idempotency key leads to a job that carries it.
func (c *checker) keys(tx *Tx) error {
	return tx.file.Each(row.Keys, nil, func(key, payload []byte) (bool, error) {
		id, ok := row.DecodeNumber64(payload)
		if !ok {
			c.find("key %q leads nowhere", key)
			return true, nil
		}
		j, err := tx.Job(id)
		if errors.Is(err, ErrNotFound) || err == nil && j.Key != string(key) {
			c.find("key %q leads to job %d, which does not carry it", key, id)
			return true, nil
		}
		return true, err
	})
}

// beginAsOf starts a transaction at the instant that the file stands for.
func (db *DB) beginAsOf(r *file.Recorder) (*Tx, error) {
	tx, err := db.load(r)
	if err != nil {
		return nil, err
	}
	tx.now = tx.state.AsOf
	return tx, nil
}

// Repair rebuilds what is derived from the rows, in one transaction, and tells
// what it found. It refuses with ErrDamaged to guess about rows: when one of
// them does not match its checksum, or they contradict each other.
func (db *DB) Repair(report func(finding string)) error {
	return db.file.Update(func(r *file.Recorder) (bool, error) {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return false, err
		}
		err = tx.repair(&checker{report: report})
		return true, err
	})
}

func (tx *Tx) repair(c *checker) error {
	if sound, err := c.rows(tx); err != nil || !sound {
		return errors.Join(err, fmt.Errorf("%w: rows are damaged, and only what is derived from them can be rebuilt; restore a backup", ErrDamaged))
	}
	d, err := c.derive(tx)
	if err != nil {
		return err
	}
	if d.contradictions > 0 {
		return fmt.Errorf("%w: rows contradict each other; restore a backup", ErrDamaged)
	}
	for t := range row.TableCount {
		if t.Derived() {
			if err := d.replace(t); err != nil {
				return err
			}
		}
	}
	for _, n := range d.moved {
		if err := tx.file.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
			return err
		}
	}
	tx.state.NextBucket = max(tx.state.NextBucket, d.buckets)
	return tx.file.Put(row.Meta, row.KeyState, tx.state.Encode())
}

// replace puts what a derived table should hold in the place of what it does.
func (d *derived) replace(t row.Table) error {
	if err := d.compare(t); err != nil {
		return err
	}
	if err := d.tx.file.Clear(t); err != nil {
		return err
	}
	for key, payload := range d.rows[t] {
		if err := d.tx.file.Put(t, []byte(key), payload); err != nil {
			return err
		}
	}
	return nil
}
