package batches

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// host finds a host by number.
func (b *Batches) host(number uint32) (*locality.Host, error) {
	key := row.Key32(number)
	payload, err := b.hosts.Read(key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, fmt.Errorf("%w: host number %d is missing", row.ErrDamaged, number)
	}
	return row.HostRow.Decode(key, payload)
}

// Host finds a host that works in batches.
func (b *Batches) Host(name string) (*locality.Host, error) {
	payload, err := b.file.Get(row.HostNames, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("host", name)
	}
	number, err := row.DecodeNumber32(row.HostNames, []byte(name), payload)
	if err != nil {
		return nil, err
	}
	return b.host(number)
}

// meet finds a host, or makes it: a host exists once it asks for work. The given user replaces
// the one recorded before.
func (b *Batches) meet(name, user string) (*locality.Host, error) {
	if !index.ValidNodeName(name) {
		return nil, fmt.Errorf("%w host name %q: at most 255 printable characters, without blanks, commas, quotes "+
			"and ()+:=*?\\$;&|<>#", row.ErrInvalid, name)
	}
	payload, err := b.file.Get(row.HostNames, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload != nil {
		h, err := b.Host(name)
		if err == nil && user != "" && h.User != user {
			h.User = user
			err = b.hosts.Put(h)
		}
		return h, err
	}
	h := &locality.Host{Name: name, User: user}
	if last, err := b.file.Last(row.Hosts); err != nil {
		return nil, err
	} else if len(last) == 4 {
		h.Number = binary.BigEndian.Uint32(last) + 1
	}
	return h, b.hosts.Put(h)
}
