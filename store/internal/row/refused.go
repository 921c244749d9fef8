package row

import (
	"strconv"
	"strings"
)

// Refused is which jobs a node has refused since it has executed one, the earliest first.
// Nodes that have refused none have no row.
type Refused struct {
	Jobs []RefusedJob
}

// RefusedJob is a job that a node has refused.
type RefusedJob struct {
	Job uint64
	At  int64
}

const (
	refusedVersion = 1
	refusedPrefix  = "refused "
)

// KeyRefused is the key of a node's row in the table Meta. On disk; must not change.
func KeyRefused(node uint32) []byte {
	return strconv.AppendUint([]byte(refusedPrefix), uint64(node), 10)
}

// isRefusedKey tells those keys from others.
func isRefusedKey(key []byte) bool { return strings.HasPrefix(string(key), refusedPrefix) }

// EncodeRefused is the row.
func EncodeRefused(r *Refused) []byte {
	e := encoder{}
	e.byte(refusedVersion)
	e.uint(uint64(len(r.Jobs)))
	for _, j := range r.Jobs {
		e.uint(j.Job)
		e.int(j.At)
	}
	return e.b
}

// DecodeRefused reads it.
func DecodeRefused(key, payload []byte) (*Refused, error) {
	d := decoder{b: payload}
	d.byte()
	r := &Refused{}
	for range d.count() {
		r.Jobs = append(r.Jobs, RefusedJob{d.uint(), d.int()})
	}
	return r, d.done(Meta, key)
}
