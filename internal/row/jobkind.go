package row

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/placer/subject"
)

// Payers are the kinds of those whose a job is: use counts for them, and jobs are indexed by them, so that those of
// a user or an account are found without reading the others. The kind of a job is its names of these kinds.
var Payers = subject.Shared

// appendNames appends names of some kinds, each after its length, because they may contain anything.
func appendNames(b []byte, kinds subject.Kinds, who subject.Names) []byte {
	e := encoder{b}
	for _, k := range kinds {
		e.string(who[k])
	}
	return e.b
}

// names takes names of some kinds.
func (d *Reader) names(kinds subject.Kinds) (who subject.Names) {
	for _, k := range kinds {
		who[k] = string(d.Bytes())
	}
	return who
}

// JobKindPrefix returns the prefix of the keys of all jobs of a kind, and of no other key. The keys of a user are
// adjacent. On disk; must not change.
func JobKindPrefix(kind subject.Names) []byte { return appendNames(nil, Payers, kind) }

// UserPrefix returns the prefix of the keys of all jobs of a user.
func UserPrefix(user string) []byte {
	return appendNames(nil, Payers[:1], subject.Names{subject.User: user})
}

// DecodeJobKind reads such a key.
func DecodeJobKind(key []byte) (kind subject.Names, id uint64, err error) {
	d := Reader{B: key}
	kind = d.names(Payers)
	if d.Bad || len(d.B) != 8 {
		return kind, 0, fmt.Errorf("%w: table %s has %x", ErrDamaged, JobKinds, key)
	}
	return kind, binary.BigEndian.Uint64(d.B), nil
}
