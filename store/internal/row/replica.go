package row

// Replica marks a file as the replica of a log, and holds its position in the log. It is one
// row, changed in the same transaction as the others. It is in no log entry and no snapshot.
type Replica struct {
	Log   [16]byte
	N     uint64  // the last applied entry
	Chain [8]byte // of that entry
	// Since is the position of the newest known snapshot, SinceBytes its size, and Behind the
	// size of the entries after it.
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
