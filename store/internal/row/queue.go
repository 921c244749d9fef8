package row

// Queue is a queue. Its fields are those of store.Queue, in that order.
type Queue struct {
	Name     string
	GroupKey []string
	Policy   string
	Allow    []string
}

const queueVersion = 1

// EncodeQueue is the row of a queue.
func EncodeQueue(q Queue) []byte {
	e := encoder{}
	e.byte(queueVersion)
	e.strings(q.GroupKey)
	e.string(q.Policy)
	if len(q.Allow) > 0 {
		e.strings(q.Allow)
	}
	return e.b
}

// DecodeQueue reads it.
func DecodeQueue(key, payload []byte) (Queue, error) {
	d := decoder{b: payload}
	d.byte()
	q := Queue{Name: string(key), GroupKey: d.strings()}
	if len(d.b) > 0 { // version 1 had none at first
		q.Policy = d.string()
	}
	if len(d.b) > 0 { // format 8 brought it
		q.Allow = d.strings()
	}
	return q, d.done(Queues, key)
}
