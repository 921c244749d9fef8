package file

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/placectl/placectl/internal/row"
)

// Identity returns the file's identity.
func (r *Recorder) Identity() (*row.Identity, error) {
	id := new(row.Identity)
	payload, err := r.Get(row.Meta, row.KeyIdentity)
	if payload == nil || err != nil {
		return id, err
	}
	return id, row.IdentityRow.Read(id, row.KeyIdentity, payload)
}

// same fails if another database has the name of the one that was opened.
func (f *File) same(r *Recorder) error {
	if f.id == [16]byte{} || f.copied != nil {
		return nil
	}
	id, err := r.Identity()
	if err != nil || id.ID == f.id {
		return nil // damage is for those who look for it
	}
	return fmt.Errorf("%s is another database now, not the one that was opened%w", f.path, Wordless(ErrNoDatabase))
}

// identify draws the id and the epoch of a file that has none. Its owner is the user of this
// process.
func (r *Recorder) identify() error {
	uid := uint32(os.Getuid())
	id := &row.Identity{Owner: &uid}
	rand.Read(id.ID[:]) //nolint:errcheck // it never fails
	id.Epoch = drawEpoch(0)
	return r.PutIdentity(id)
}

// DrawEpoch gives the file another epoch, because an older state of it is about to be used
// again. What began under the former epoch can then be told apart.
func (r *Recorder) DrawEpoch() error {
	id, err := r.Identity()
	if err != nil {
		return err
	}
	if id.Epoch = drawEpoch(id.Epoch); id.Owner == nil {
		uid := uint32(os.Getuid())
		id.Owner = &uid
	}
	return r.PutIdentity(id)
}

// PutOwner changes the owner of the file; nil means its owner on disk.
func (r *Recorder) PutOwner(uid *uint32) error {
	id, err := r.Identity()
	if err != nil {
		return err
	}
	id.Owner = uid
	return r.PutIdentity(id)
}

// PutIdentity changes the file's identity.
func (r *Recorder) PutIdentity(id *row.Identity) error {
	return r.put(row.Meta, row.KeyIdentity, row.Seal(row.KeyIdentity, row.IdentityRow.Encode(id)))
}

// drawEpoch draws a number that is neither 0 nor other.
func drawEpoch(other uint32) uint32 {
	for {
		var b [4]byte
		rand.Read(b[:]) //nolint:errcheck // as above
		if n := binary.BigEndian.Uint32(b[:]); n != 0 && n != other {
			return n
		}
	}
}

// State identifies a state of a database file without a lock: by the file, and the
// transactions of its meta pages. If two are equal, nothing was committed between them.
type State struct {
	Device, Inode uint64
	Born          int64 // when the file was made, in nanoseconds, if the file system tells
	Transactions  [2]uint64
}

// StateOf reads the state of the file at a path.
func StateOf(path string) (State, error) {
	f, err := os.Open(path)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	s := State{Born: born(f)}
	s.Device, s.Inode = identify(f, info)
	for i, m := range readMetas(f, info.Size()) {
		s.Transactions[i] = m.transaction
	}
	return s, nil
}
