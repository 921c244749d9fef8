package row

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/placectl/placectl/placer/subject"
)

// Total is the use by jobs in a month: how many ended, how long they had waited, and what
// their attempts held.
type Total struct {
	Jobs      int64 // jobs that began and have ended
	Failed    int64 // of those jobs
	Preempted int64 // how often they made way for others
	Waits     int64 // seconds from their submission to their first start
	Held      []TotalHeld
}

// TotalHeld is the use of a resource, in units x seconds. A unit is 1, or 1024 kb of a size.
// Names are those of consumables and pools, and "nodes".
type TotalHeld struct {
	Name    string
	Seconds int64
}

// Empty reports whether the total has nothing.
func (t *Total) Empty() bool {
	return t.Jobs == 0 && t.Failed == 0 && t.Preempted == 0 && t.Waits == 0 && len(t.Held) == 0
}

// Of returns the use of a resource, in units x seconds.
func (t *Total) Of(name string) int64 {
	if i, ok := t.find(name); ok {
		return t.Held[i].Seconds
	}
	return 0
}

func (t *Total) find(name string) (int, bool) {
	return slices.BinarySearchFunc(t.Held, name, func(h TotalHeld, name string) int {
		return cmp.Compare(h.Name, name)
	})
}

// Hold adds use of a resource. A use of 0 is left out, so that equal totals have equal rows.
func (t *Total) Hold(name string, seconds int64) {
	i, ok := t.find(name)
	switch {
	case !ok && seconds != 0:
		t.Held = slices.Insert(t.Held, i, TotalHeld{name, seconds})
	case ok && t.Held[i].Seconds+seconds == 0:
		t.Held = slices.Delete(t.Held, i, i+1)
	case ok && seconds > 0 && t.Held[i].Seconds > math.MaxInt64-seconds:
		t.Held[i].Seconds = math.MaxInt64
	case ok:
		t.Held[i].Seconds += seconds
	}
}

// Add adds another total a number of times; -1 subtracts it.
func (t *Total) Add(o *Total, times int64) {
	t.Jobs += times * o.Jobs
	t.Failed += times * o.Failed
	t.Preempted += times * o.Preempted
	t.Waits += times * o.Waits
	for _, h := range o.Held {
		t.Hold(h.Name, times*h.Seconds)
	}
}

// Month counts months from year 0, in UTC.
type Month uint32

// MonthOf returns the month that an instant is in.
func MonthOf(at int64) Month {
	t := time.Unix(at, 0).UTC()
	return Month(t.Year()*12 + int(t.Month()) - 1)
}

// Start returns the instant at which it begins, in Unix seconds.
func (m Month) Start() int64 {
	return time.Date(int(m/12), time.Month(m%12)+1, 1, 0, 0, 0, 0, time.UTC).Unix()
}

// String returns the month as 2026-11.
func (m Month) String() string { return time.Unix(m.Start(), 0).UTC().Format("2006-01") }

// TotalKey returns the key of the use by payers in a month.
func TotalKey(m Month, who subject.Names) []byte {
	return appendNames(binary.BigEndian.AppendUint32(nil, uint32(m)), Payers, who)
}

// SplitTotalKey splits such a key.
func SplitTotalKey(key []byte) (m Month, who subject.Names, err error) {
	d := Reader{B: key}
	if b := d.Take(4); b != nil {
		m = Month(binary.BigEndian.Uint32(b))
	}
	who = d.names(Payers)
	d.Bad = d.Bad || len(d.B) > 0
	return m, who, d.done(Totals, key)
}

const totalVersion = 1

func totalFields(f *Fields, t *Total) {
	f.Version(totalVersion)
	Int(f, "jobs", &t.Jobs)
	Int(f, "failed", &t.Failed)
	Int(f, "preempted", &t.Preempted)
	Int(f, "waits", &t.Waits)
	for i := range Items(f, "held", &t.Held) {
		f.Text("name", &t.Held[i].Name)
		Int(f, "seconds", &t.Held[i].Seconds)
		f.Next()
	}
	if f.dir == reading {
		_, _, err := SplitTotalKey(f.key)
		f.Must(err == nil)
	}
}

// TotalRow is the row of a total.
var TotalRow = Kind[Total]{Totals, totalFields}
