package row

import (
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
)

// ReserveSpec is what a reservation is to be. Its fields are those of
// store.ReserveSpec, in that order.
type ReserveSpec struct {
	Name       string
	Nodes      []uint32
	Request    placer.Request
	Start, End int64
	Access     placer.AccessList
	Limit      int64
	Repeat     recur.Repeat
	Depth      int
}

// Standing is a reservation that repeats, as store.Standing describes it.
type Standing struct {
	ReserveSpec
	Made    int
	Last    int64 // the latest window that was looked at
	Over    bool
	Note    string
	Missing []int64 // windows up to Last without an occurrence, which are tried again until they are over
}

const standingVersion = 1

func (s *Standing) texts() [12]*string {
	q := &s.Request
	return [...]*string{&q.Select, &q.Place, &q.User, &q.Group, &q.Account, &q.Queue, &q.Class, &q.Policy, &q.Access,
		&s.Repeat.Rule, &s.Repeat.Zone, &s.Note}
}

// EncodeStanding is the row of a standing reservation.
func EncodeStanding(s *Standing) []byte {
	e := encoder{}
	e.byte(standingVersion)
	spec := &s.ReserveSpec
	e.uint(uint64(len(spec.Nodes)))
	for _, n := range spec.Nodes {
		e.uint(uint64(n))
	}
	for _, text := range s.texts() {
		e.string(*text)
	}
	e.strings(spec.Request.Prefer)
	for _, n := range []int64{int64(spec.Request.Walltime), spec.Start, spec.End, spec.Limit, int64(spec.Depth), int64(s.Made), s.Last} {
		e.int(n)
	}
	e.bool(s.Over)
	encodeAccess(&e, spec.Access)
	if len(spec.Request.Pools)+len(s.Missing) > 0 {
		encodePools(&e, spec.Request.Pools)
	}
	if len(s.Missing) > 0 { // since format 10
		e.uint(uint64(len(s.Missing)))
		for _, at := range s.Missing {
			e.int(at)
		}
	}
	return e.b
}

// DecodeStanding reads it.
func DecodeStanding(key, payload []byte) (*Standing, error) {
	d := decoder{b: payload}
	d.byte()
	s := new(Standing)
	spec := &s.ReserveSpec
	spec.Name = string(key)
	if n := d.count(); n > 0 {
		spec.Nodes = make([]uint32, n)
	}
	for i := range spec.Nodes {
		spec.Nodes[i] = uint32(d.uint())
	}
	for _, text := range s.texts() {
		*text = d.string()
	}
	spec.Request.Prefer = d.strings()
	spec.Request.Walltime = time.Duration(d.int())
	spec.Start, spec.End, spec.Limit = d.int(), d.int(), d.int()
	spec.Depth, s.Made, s.Last = int(d.int()), int(d.int()), d.int()
	s.Over = d.byte() == 1
	spec.Access = decodeAccess(&d)
	if len(d.b) > 0 {
		spec.Request.Pools = decodePools(&d)
	}
	if len(d.b) > 0 {
		for range d.count() {
			s.Missing = append(s.Missing, d.int())
		}
	}
	return s, d.done(Standings, key)
}
