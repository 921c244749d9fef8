package row

import (
	"encoding/binary"
	"fmt"
)

// JobKind holds the owner fields of a job. Jobs are indexed by them, so that those of a user
// or an account are found without reading the others.
type JobKind struct{ User, Account, Queue, Class string }

// KindOf returns the kind of a job.
func KindOf(j *Job) JobKind { return JobKind{j.User, j.Account, j.Queue, j.Class} }

// Prefix returns the prefix of the keys of all jobs of the kind, and of no other key. The keys
// of a user are adjacent. On disk; must not change.
func (k JobKind) Prefix() []byte { return k.append(nil) }

func (k JobKind) append(b []byte) []byte {
	e := encoder{b}
	for _, s := range [...]string{k.User, k.Account, k.Queue, k.Class} {
		e.string(s)
	}
	return e.b
}

// UserPrefix returns the prefix of the keys of all jobs of a user.
func UserPrefix(user string) []byte {
	e := encoder{}
	e.string(user)
	return e.b
}

// DecodeJobKind reads such a key.
func DecodeJobKind(key []byte) (k JobKind, id uint64, err error) {
	d := Reader{B: key}
	k = JobKind{string(d.Bytes()), string(d.Bytes()), string(d.Bytes()), string(d.Bytes())}
	if d.Bad || len(d.B) != 8 {
		return k, 0, fmt.Errorf("%w: table %s has %x", ErrDamaged, JobKinds, key)
	}
	return k, binary.BigEndian.Uint64(d.B), nil
}
