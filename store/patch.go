package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// A reader may stand at a later instant than the file: reservations have begun
// and ended, planned jobs have started. What a writer would fold into the rows a
// reader keeps as a patch over them, so that both see the same.

// patch is what a reader sees differently from the file, by table and key; nil
// for a row that it no longer sees.
type patch [tableCount]map[string][]byte

func (p *patch) put(t table, key, row []byte) {
	if p[t] == nil {
		p[t] = make(map[string][]byte)
	}
	p[t][string(key)] = row
}

// rows goes through a table's rows from a key on as far as they have a prefix,
// in key order, the patched ones in place of the file's.
func (tx *Tx) rows(b *bbolt.Bucket, t table, from, prefix []byte, fn func(k, v []byte) (bool, error)) error {
	var patched []string
	if tx.patch != nil && tx.patch[t] != nil {
		for _, k := range slices.Sorted(maps.Keys(tx.patch[t])) {
			if k >= string(from) && hasPrefix([]byte(k), prefix) {
				patched = append(patched, k)
			}
		}
	}
	c := b.Cursor()
	k, v := c.Seek(from)
	for (k != nil && hasPrefix(k, prefix)) || len(patched) > 0 {
		inFile := k != nil && hasPrefix(k, prefix)
		key, row := k, v
		fromFile := true
		if len(patched) > 0 && (!inFile || patched[0] <= string(k)) {
			key, row, fromFile = []byte(patched[0]), tx.patch[t][patched[0]], false
			if inFile && bytes.Equal(key, k) {
				k, v = c.Next()
			}
			patched = patched[1:]
		} else {
			k, v = c.Next()
		}
		if row == nil && fromFile { // to bbolt it is a table in the table
			return fmt.Errorf("%w: table %s has something at %x that is no row", ErrDamaged, tables[t].name, key)
		}
		if row == nil {
			continue
		}
		if more, err := fn(key, row); err != nil || !more {
			return err
		}
	}
	return nil
}
