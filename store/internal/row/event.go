package row

import "encoding/binary"

// Event is something that has become of a job, a node or a reservation.
type Event struct {
	ID     uint64
	Time   int64
	Job    uint64
	Node   string
	Event  string
	Old    string
	New    string
	Reason string
}

const eventVersion = 1

func (ev *Event) texts() [5]*string {
	return [...]*string{&ev.Node, &ev.Event, &ev.Old, &ev.New, &ev.Reason}
}

// EncodeEvent is the row of an event.
func EncodeEvent(ev *Event) []byte {
	e := encoder{b: make([]byte, 0, 64)}
	e.byte(eventVersion)
	e.int(ev.Time)
	e.uint(ev.Job)
	for _, s := range ev.texts() {
		e.string(*s)
	}
	return e.b
}

// DecodeEvent reads it.
func DecodeEvent(key, payload []byte) (*Event, error) {
	d := decoder{b: payload}
	d.byte()
	ev := &Event{Time: d.int(), Job: d.uint()}
	for _, s := range ev.texts() {
		*s = d.string()
	}
	if len(key) == 8 {
		ev.ID = binary.BigEndian.Uint64(key)
	} else {
		d.bad = true
	}
	return ev, d.done(Events, key)
}
