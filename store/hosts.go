package store

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
)

// host finds a host by number.
func (tx *Tx) host(number uint32) (*locality.Host, error) {
	key := key32(number)
	row, err := tx.get(tableHosts, key)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, fmt.Errorf("%w: host number %d is missing", ErrDamaged, number)
	}
	return decodeHost(key, row)
}

// Host finds a host that works in batches.
func (tx *Tx) Host(name string) (*locality.Host, error) {
	if tx.file.table(tableHostNames) == nil && tx.format < tables[tableHostNames].since {
		return nil, missing("host", name)
	}
	row, err := tx.get(tableHostNames, []byte(name))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, missing("host", name)
	}
	if len(row) != 5 {
		return nil, fmt.Errorf("%w: the name of host %q leads nowhere", ErrDamaged, name)
	}
	return tx.host(binary.BigEndian.Uint32(row[1:]))
}

// meetHost finds a host, or makes it: whoever asks for work is one. A user that is
// named replaces the one known before.
func (tx *Tx) meetHost(name, user string) (*locality.Host, error) {
	if !index.ValidNodeName(name) {
		return nil, fmt.Errorf("%w host name %q: at most 255 printable characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", ErrInvalid, name)
	}
	row, err := tx.get(tableHostNames, []byte(name))
	if err != nil {
		return nil, err
	}
	if row != nil {
		h, err := tx.Host(name)
		if err == nil && user != "" && h.User != user {
			h.User = user
			err = tx.put(tableHosts, key32(h.Number), encodeHost(h))
		}
		return h, err
	}
	h := &locality.Host{Name: name, User: user}
	if last, _ := tx.file.table(tableHosts).Cursor().Last(); len(last) == 4 {
		h.Number = binary.BigEndian.Uint32(last) + 1
	}
	if err := tx.put(tableHostNames, []byte(name), hostNameRow(h.Number)); err != nil {
		return nil, err
	}
	return h, tx.put(tableHosts, key32(h.Number), encodeHost(h))
}

func hostNameRow(number uint32) []byte { return append([]byte{1}, key32(number)...) }
