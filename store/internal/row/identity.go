package row

import "encoding/hex"

// Identity tells a file from others: from those that were made apart by its id, and from
// its own backups by its epoch. One row.
type Identity struct {
	ID      [16]byte // drawn when the file was made, or migrated to the format that has it
	Epoch   uint32   // drawn then, too, and whenever an older state of the file is put in its place
	AnyTime bool     // any clock may write to the file: it is one for tests
	Owner   *uint32  // the uid that may do everything; nil in rows of formats before 10
}

const identityVersion = 1

// String is the id as text: 32 hexadecimal digits.
func (i *Identity) String() string { return hex.EncodeToString(i.ID[:]) }

// Encode is the row.
func (i *Identity) Encode() []byte {
	e := encoder{}
	e.byte(identityVersion)
	e.b = append(e.b, i.ID[:]...)
	e.fixed32(i.Epoch)
	e.bool(i.AnyTime)
	if i.Owner != nil {
		e.uint(uint64(*i.Owner))
	}
	return e.b
}

// Decode reads it.
func (i *Identity) Decode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	copy(i.ID[:], d.take(len(i.ID)))
	i.Epoch, i.AnyTime = d.fixed32(), d.byte() == 1
	if len(d.b) > 0 {
		uid := uint32(d.uint())
		i.Owner = &uid
	}
	return d.done(Meta, KeyIdentity)
}
