package row

import (
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
)

// ReserveSpec describes a reservation to make. It has the same fields as store.ReserveSpec, in
// the same order.
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

// Standing is a repeating reservation: see store.Standing.
type Standing struct {
	ReserveSpec
	Made    int
	Last    int64 // the latest window that was tried
	Over    bool
	Note    string
	Missing []int64 // windows up to Last without an occurrence, which are tried again until they are over
}

const standingVersion = 1

func standingFields(f *Fields, s *Standing) {
	q := &s.Request
	f.Version(standingVersion)
	f.KeyText("name", &s.Name)
	Uints(f, "nodes", &s.Nodes)
	f.Text("request.select", &q.Select)
	f.Text("request.place", &q.Place)
	f.Text("request.user", &q.User)
	f.Text("request.group", &q.Group)
	f.Text("request.account", &q.Account)
	f.Text("request.queue", &q.Queue)
	f.Text("request.class", &q.Class)
	f.Text("request.policy", &q.Policy)
	f.Text("request.access", &q.Access)
	f.Text("repeat.rule", &s.Repeat.Rule)
	f.Text("repeat.zone", &s.Repeat.Zone)
	f.Text("note", &s.Note)
	f.Texts("request.prefer", &q.Prefer)
	f.Lasts("request.walltime", &q.Walltime)
	f.At("start", &s.Start, Wish)
	f.At("end", &s.End, Wish)
	Int(f, "limit", &s.Limit)
	Int(f, "depth", &s.Depth)
	Int(f, "made", &s.Made)
	f.At("last", &s.Last, Made)
	f.Bool("over", &s.Over)
	accessFields(f, "access", &s.Access)
	more := len(s.Missing) > 0 || q.Exclude != ""
	if f.More(len(q.Pools) > 0 || more) {
		poolFields(f, "request.pools", &q.Pools)
	}
	if f.More(more) { // since format 10
		for i := range Items(f, "missing", &s.Missing) {
			f.At("", &s.Missing[i], Made)
			f.Next()
		}
	}
	if f.More(q.Exclude != "") {
		f.Text("request.exclude", &q.Exclude)
	}
}

// EncodeStanding returns the row of a standing reservation.
func EncodeStanding(s *Standing) []byte { return encode(standingFields, s) }

// DecodeStanding reads it.
func DecodeStanding(key, payload []byte) (*Standing, error) {
	return decode(Standings, standingFields, key, payload)
}
