package row

// Replica says of a file that it is the replica of a log, and where in it the file stands.
// One row, which the transaction changes that changes the others; it is in no entry of the
// log, and in no snapshot.
type Replica struct {
	Log   [16]byte
	N     uint64  // the entry that was applied last
	Chain [8]byte // of that entry
	// Since is the position of the newest snapshot that is known, SinceBytes how long that
	// is, and Behind how many bytes the entries after it have.
	Since, SinceBytes, Behind uint64
}

const replicaVersion = 1

func replicaFields(f *Fields, r *Replica) {
	f.Version(replicaVersion)
	f.Octets("log", r.Log[:])
	f.Octets("chain", r.Chain[:])
	Uint(f, "n", &r.N)
	Uint(f, "since", &r.Since)
	Uint(f, "sinceBytes", &r.SinceBytes)
	Uint(f, "behind", &r.Behind)
}

// Encode returns the row.
func (r *Replica) Encode() []byte { return encode(replicaFields, r) }

// Decode reads it.
func (r *Replica) Decode(payload []byte) error {
	f := Fields{dir: reading, b: payload, key: KeyReplica}
	*r = Replica{}
	replicaFields(&f, r)
	return f.done(Meta)
}
