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

// Encode is the row.
func (r *Replica) Encode() []byte {
	e := encoder{}
	e.byte(replicaVersion)
	e.b = append(append(e.b, r.Log[:]...), r.Chain[:]...)
	e.uint(r.N)
	e.uint(r.Since)
	e.uint(r.SinceBytes)
	e.uint(r.Behind)
	return e.b
}

// Decode reads it.
func (r *Replica) Decode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	copy(r.Log[:], d.take(len(r.Log)))
	copy(r.Chain[:], d.take(len(r.Chain)))
	r.N, r.Since, r.SinceBytes, r.Behind = d.uint(), d.uint(), d.uint(), d.uint()
	return d.done(Meta, KeyReplica)
}
