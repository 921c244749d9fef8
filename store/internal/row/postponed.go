package row

// Postponed is which jobs were to start at an instant that somebody has asked for, and were
// put off because an overdue job was on their nodes, in the order of their numbers. There
// is no row where there are none.
type Postponed struct {
	Tried uint64 // as of which invalidation they were looked at last
	Jobs  []PostponedJob
}

// PostponedJob is one of them.
type PostponedJob struct {
	Job    uint64
	Wanted int64 // when it was to start
}

const postponedVersion = 1

// EncodePostponed is the row.
func EncodePostponed(p *Postponed) []byte {
	e := encoder{}
	e.byte(postponedVersion)
	e.uint(p.Tried)
	e.uint(uint64(len(p.Jobs)))
	for _, j := range p.Jobs {
		e.uint(j.Job)
		e.int(j.Wanted)
	}
	return e.b
}

// DecodePostponed reads it.
func DecodePostponed(payload []byte) (*Postponed, error) {
	d := decoder{b: payload}
	d.byte()
	p := &Postponed{Tried: d.uint()}
	for range d.count() {
		p.Jobs = append(p.Jobs, PostponedJob{d.uint(), d.int()})
	}
	return p, d.done(Meta, KeyPostponed)
}
