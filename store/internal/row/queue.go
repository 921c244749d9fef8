package row

// Queue is a queue. It has the same fields as store.Queue, in the same order.
type Queue struct {
	Name     string
	GroupKey []string
	Policy   string
	Allow    []string
}

const queueVersion = 1

func queueFields(f *Fields, q *Queue) {
	f.Version(queueVersion)
	f.KeyText("name", &q.Name)
	f.Texts("groupKey", &q.GroupKey)
	if f.More(true) { // version 1 had none at first
		f.Text("policy", &q.Policy)
	}
	if f.More(len(q.Allow) > 0) { // format 8 brought it
		f.Texts("allow", &q.Allow)
	}
}

// EncodeQueue returns the row of a queue.
func EncodeQueue(q Queue) []byte { return encode(queueFields, &q) }

// DecodeQueue reads it.
func DecodeQueue(key, payload []byte) (Queue, error) {
	f, q := Fields{dir: reading, b: payload, key: key}, *new(Queue)
	queueFields(&f, &q)
	return q, f.done(Queues)
}
