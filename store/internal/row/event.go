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

	// Attempt is which of the job's attempts it is about. The first one is not written
	// down: 0 stands for it where the job ran before or after, else for none.
	Attempt int

	By *uint32 // the uid of who did it, nil where that is not known
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
	switch {
	case ev.By != nil:
		e.uint(uint64(max(0, ev.Attempt)))
		e.uint(uint64(*ev.By))
	case ev.Attempt > 1:
		e.uint(uint64(ev.Attempt))
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
	if len(d.b) > 0 { // most are about a job's first attempt
		ev.Attempt = int(d.uint())
	}
	if len(d.b) > 0 {
		by := uint32(d.uint())
		ev.By = &by
	}
	if len(key) == 8 {
		ev.ID = binary.BigEndian.Uint64(key)
	} else {
		d.bad = true
	}
	return ev, d.done(Events, key)
}
