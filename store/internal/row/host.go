package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/locality"
)

const (
	hostVersion      = 1
	batchHostVersion = 1
)

// EncodeHost is the row of a host.
func EncodeHost(h *locality.Host) []byte {
	e := encoder{}
	e.byte(hostVersion)
	e.string(h.Name)
	e.string(h.User)
	e.float(h.Earned)
	e.float(h.Spent)
	e.int(h.Seen)
	return e.b
}

// DecodeHost reads it.
func DecodeHost(key, payload []byte) (*locality.Host, error) {
	d := decoder{b: payload}
	d.byte()
	h := &locality.Host{Name: d.string(), User: d.string(), Earned: d.float(), Spent: d.float(), Seen: d.int()}
	if len(key) == 4 {
		h.Number = binary.BigEndian.Uint32(key)
	} else {
		d.bad = true
	}
	return h, d.done(Hosts, key)
}

// EncodeMember is the row of a host's part in a batch.
func EncodeMember(m *locality.Member) []byte {
	e := encoder{}
	e.byte(batchHostVersion)
	flags := byte(m.Side) << 2
	if m.Placed {
		flags |= 1
	}
	if m.Measured {
		flags |= 2
	}
	e.byte(flags)
	e.uint(uint64(m.At))
	e.uint(uint64(m.Jobs))
	for _, t := range memberTimes(m) {
		e.int(*t)
	}
	encodeSpans(&e, m.Held)
	encodeSlots(&e, m.Live)
	if a := &m.Asked; a.Key != "" { // rows of the first version end here
		e.string(a.Key)
		encodeSlots(&e, a.Slots)
		encodeSpans(&e, a.Fetch)
		encodeSpans(&e, a.Delete)
	}
	return e.b
}

func encodeSlots(e *encoder, slots []int) {
	e.uint(uint64(len(slots)))
	for _, slot := range slots {
		e.uint(uint64(slot))
	}
}

func decodeSlots(d *decoder) (slots []int) {
	for range d.count() {
		slots = append(slots, int(d.uint()))
	}
	return slots
}

// encodeSpans writes spans that are in order.
func encodeSpans(e *encoder, spans []locality.Span) {
	e.uint(uint64(len(spans)))
	last := 0
	for _, s := range spans {
		e.uint(uint64(s.A - last))
		e.uint(uint64(s.B - s.A))
		last = s.B
	}
}

func decodeSpans(d *decoder) (spans []locality.Span) {
	last := 0
	for range d.count() {
		s := locality.Span{A: last + int(d.uint())}
		s.B = s.A + int(d.uint())
		last = s.B
		spans = append(spans, s)
	}
	return spans
}

func memberTimes(m *locality.Member) []*int64 {
	return []*int64{&m.Rate, &m.Joined, &m.Moved, &m.Busy, &m.Idle, &m.Seen}
}

// DecodeMember reads it.
func DecodeMember(key, payload []byte) (*locality.Member, error) {
	d := decoder{b: payload}
	d.byte()
	flags := d.byte()
	m := &locality.Member{Placed: flags&1 != 0, Measured: flags&2 != 0, Side: locality.Side(flags >> 2 & 1), At: int(d.uint()), Jobs: int(d.uint())}
	for _, t := range memberTimes(m) {
		*t = d.int()
	}
	m.Held, m.Live = decodeSpans(&d), decodeSlots(&d)
	if len(d.b) > 0 {
		m.Asked = locality.Asked{Key: d.string(), Slots: decodeSlots(&d), Fetch: decodeSpans(&d), Delete: decodeSpans(&d)}
	}
	if len(key) == 8 {
		m.Host = binary.BigEndian.Uint32(key[4:])
	} else {
		d.bad = true
	}
	return m, d.done(BatchHosts, key)
}
