package row

import (
	"strconv"
)

// Refused lists the jobs that a node has refused since it last executed one, the earliest
// first. Nodes that have refused none have no row.
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

// KeyRefused returns the key of a node's row in the table Meta. On disk; must not change.
func KeyRefused(node uint32) []byte {
	return strconv.AppendUint([]byte(refusedPrefix), uint64(node), 10)
}

func refusedFields(f *Fields, r *Refused) {
	f.Version(refusedVersion)
	for i := range Items(f, "jobs", &r.Jobs) {
		Uint(f, "job", &r.Jobs[i].Job)
		f.At("at", &r.Jobs[i].At, Past)
		f.Next()
	}
}

// EncodeRefused returns the row.
func EncodeRefused(r *Refused) []byte { return encode(refusedFields, r) }

// DecodeRefused reads it.
func DecodeRefused(key, payload []byte) (*Refused, error) {
	return decode(Meta, refusedFields, key, payload)
}
