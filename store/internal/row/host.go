package row

import (
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

// EncodeHost returns the row of a host.
func EncodeHost(h *locality.Host) []byte { return encode(hostFields, h) }

// DecodeHost reads it.
func DecodeHost(key, payload []byte) (*locality.Host, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.Host)
	hostFields(&f, v)
	return v, f.done(Hosts)
}

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

// EncodeMember returns the row of a host's part in a batch.
func EncodeMember(m *locality.Member) []byte { return encode(memberFields, m) }

// DecodeMember reads it.
func DecodeMember(key, payload []byte) (*locality.Member, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.Member)
	memberFields(&f, v)
	return v, f.done(BatchHosts)
}
