package row

// Event is something that happened to a job, a node or a reservation.
type Event struct {
	ID     uint64
	Time   int64
	Job    uint64
	Node   string
	Event  string
	Old    string
	New    string
	Reason Reason

	// Attempt is the number of the job's attempt. The first one is not written: 0 means the
	// first attempt if the job ran before or after the event, else none.
	Attempt int

	By *uint32 // the uid that caused it; nil if unknown
}

const eventVersion = 1

func eventFields(f *Fields, ev *Event) {
	f.Version(eventVersion)
	KeyPart(f, "id", 0, 8, 8, &ev.ID)
	f.At("time", &ev.Time, Past)
	Uint(f, "job", &ev.Job)
	f.Text("node", &ev.Node)
	f.Text("event", &ev.Event)
	f.Text("old", &ev.Old)
	f.Text("new", &ev.New)
	f.Text("reason", &ev.Reason.Text)
	told := ev.Reason.told()
	if f.More(told || ev.By != nil || ev.Attempt > 1) { // most are about a job's first attempt
		Uint(f, "attempt", &ev.Attempt)
	}
	if f.More(told || ev.By != nil) {
		f.UID("by", &ev.By)
	}
	if f.More(told) {
		reasonFields(f, &ev.Reason)
	}
}

// EncodeEvent returns the row of an event.
func EncodeEvent(ev *Event) []byte { return encode(eventFields, ev) }

// DecodeEvent decodes what EncodeEvent returns.
func DecodeEvent(key, payload []byte) (*Event, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(Event)
	eventFields(&f, v)
	return v, f.done(Events)
}
