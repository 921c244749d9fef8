package row

// Queue is a queue. Its fields are those of store.Queue, in that order.
type Queue struct {
	Name     string
	GroupKey []string
	Policy   string
}

const queueVersion = 1

// EncodeQueue is the row of a queue.
func EncodeQueue(q Queue) []byte {
	e := encoder{}
	e.byte(queueVersion)
	e.strings(q.GroupKey)
	e.string(q.Policy)
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
	return q, d.done(Queues, key)
}
