package row

import "encoding/hex"

// Identity distinguishes a file from others: from files made separately by its id, and from
// its own backups by its epoch. It is one row.
type Identity struct {
	ID      [16]byte // drawn when the file was made, or migrated to the format that has it
	Epoch   uint32   // drawn then, too, and whenever an older state of the file replaces it
	AnyTime bool     // any clock may write to the file, because it is for tests
	Owner   *uint32  // the uid with all rights; nil in rows of formats before 10
}

const identityVersion = 1

// String returns the id as text: 32 hexadecimal digits.
func (i *Identity) String() string { return hex.EncodeToString(i.ID[:]) }

func identityFields(f *Fields, i *Identity) {
	f.Version(identityVersion)
	f.Digits("id", i.ID[:])
	if f.bytes() {
		Fixed(f, "epoch", &i.Epoch)
	}
	f.Bool("anyTime", &i.AnyTime)
	if f.bytes() && f.More(i.Owner != nil) {
		f.UID("owner", &i.Owner)
	}
}

// identityDocument lists the fields that are carried over to another file, which has its own
// epoch and owner.
func identityDocument(f *Fields, i *Identity) {
	if identityFields(f, i); f.dir == reading {
		i.Epoch, i.Owner = 0, nil
	}
}

// Encode returns the row.
func (i *Identity) Encode() []byte { return encode(identityFields, i) }

// Decode reads it.
func (i *Identity) Decode(payload []byte) error {
	f := Fields{dir: reading, b: payload, key: KeyIdentity}
	*i = Identity{}
	identityFields(&f, i)
	return f.done(Meta)
}
