package row

import (
	"strings"

	"github.com/placectl/placectl/locality"
)

const (
	hostVersion      = 1
	batchHostVersion = 1
)

func hostFields(f *Fields, h *locality.Host) {
	f.Version(hostVersion)
	KeyPart(f, "number", 0, 4, 4, &h.Number)
	f.Text("name", &h.Name)
	f.Text("user", &h.User)
	f.Float("earned", &h.Earned)
	f.Float("spent", &h.Spent)
	f.At("seen", &h.Seen, Past)
}

// HostRow is the row of a host.
var HostRow = Kind[locality.Host]{Hosts, hostFields}

func memberFields(f *Fields, m *locality.Member) {
	f.Version(batchHostVersion)
	KeyPart(f, "host", 4, 4, 8, &m.Host)
	high := m.Side == locality.HighEnd
	f.Bits(Fact{"placed", &m.Placed}, Fact{"measured", &m.Measured}, Fact{"", &high})
	if !f.bytes() {
		numberAside(f, "side", &m.Side)
	} else if high {
		m.Side = locality.HighEnd
	}
	Uint(f, "at", &m.At)
	Uint(f, "jobs", &m.Jobs)
	Int(f, "rate", &m.Rate)
	f.At("joined", &m.Joined, Past)
	f.At("moved", &m.Moved, Past)
	f.At("busy", &m.Busy, Past)
	f.Since(m.Seen)
	f.At("idle", &m.Idle, Shifts)
	f.At("seen", &m.Seen, Past)
	spanFields(f, "held", &m.Held)
	Uints(f, "live", &m.Live)
	if f.More(m.Asked.Key != "") { // rows of the first version end here
		f.Text("asked.key", &m.Asked.Key)
		Uints(f, "asked.slots", &m.Asked.Slots)
		spanFields(f, "asked.fetch", &m.Asked.Fetch)
		spanFields(f, "asked.delete", &m.Asked.Delete)
	}
}

// spanFields is a list of spans in order.
func spanFields(f *Fields, name string, spans *[]locality.Span) {
	last := 0
	for i := range Items(f, name, spans) {
		s := &(*spans)[i]
		Delta(f, "a", &s.A, last)
		Delta(f, "b", &s.B, s.A)
		last = s.B
		f.Next()
	}
}

// MemberRow is the row of a host's part in a batch.
var MemberRow = Kind[locality.Member]{BatchHosts, memberFields}

// Beat is the last heartbeat of the process that executes a user's attempts on a host.
type Beat struct {
	Host, User string
	Boot       string // the host's boot
	Seen       int64
	Down       []uint32 // nodes set down because heartbeats are missing
	Touched    []uint32 // nodes whose state a person has set since: they do not come back automatically
}

const (
	beatVersion = 1
	beatPrefix  = "beat "
)

// BeatPrefix begins the keys of beats in the table Meta. On disk; must not change.
func BeatPrefix() []byte { return []byte(beatPrefix) }

// Key returns the key of the row.
func (b *Beat) Key() []byte { return []byte(beatPrefix + b.User + "@" + b.Host) }

func isBeatKey(key []byte) bool { return strings.HasPrefix(string(key), beatPrefix) }

func beatFields(f *Fields, b *Beat) {
	f.Version(beatVersion)
	f.Text("host", &b.Host)
	f.Text("user", &b.User)
	f.Text("boot", &b.Boot)
	f.At("seen", &b.Seen, Past)
	Uints(f, "down", &b.Down)
	if f.More(len(b.Touched) > 0) {
		Uints(f, "touched", &b.Touched)
	}
	f.Must(string(b.Key()) == string(f.key))
}

// BeatRow is the row of a heartbeat.
var BeatRow = Kind[Beat]{Meta, beatFields}

// Beats appends the beat in a row of the table Meta, if it is one.
func Beats(key, payload []byte, out []Beat) ([]Beat, error) {
	if !isBeatKey(key) {
		return out, nil
	}
	b, err := BeatRow.Decode(key, payload)
	if err != nil {
		return nil, err
	}
	return append(out, *b), nil
}
