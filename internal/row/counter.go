package row

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
)

// Counter is a shared amount: a pool of the cluster, or how many jobs of an array may run at
// once.
type Counter struct {
	Amount  int64
	Outside int64 // of a pool: used outside placectl
	Until   int64 // until when; 0: until changed
}

// The keys of Counters begin with the kind of counter. On disk; must not change.
const (
	poolPrefix  = "pool:"
	arrayPrefix = "array:"
)

// PoolKey returns the key of a pool, and ArrayKey that of the throttle of an array. The keys
// are also the names of the counters.
func PoolKey(name string) string { return poolPrefix + name }

// ArrayKey returns the key of the throttle of an array.
func ArrayKey(array uint64) string { return arrayPrefix + strconv.FormatUint(array, 10) }

// PoolPrefix begins the keys of all pools.
func PoolPrefix() []byte { return []byte(poolPrefix) }

// ArrayPrefix begins the keys of the throttles of all arrays.
func ArrayPrefix() []byte { return []byte(arrayPrefix) }

// PoolOf returns the pool of a key; ok is false if it is another counter.
func PoolOf(key string) (name string, ok bool) { return strings.CutPrefix(key, poolPrefix) }

// ArrayOf returns the array of a key; ok is false if it is another counter.
func ArrayOf(key string) (array uint64, ok bool) {
	text, ok := strings.CutPrefix(key, arrayPrefix)
	array, err := strconv.ParseUint(text, 10, 64)
	return array, ok && err == nil
}

const counterVersion = 1

func counterFields(f *Fields, c *Counter) {
	f.Version(counterVersion)
	Int(f, "amount", &c.Amount)
	Int(f, "outside", &c.Outside)
	f.At("until", &c.Until, Wish)
	if f.dir == reading {
		_, pool := PoolOf(string(f.key))
		_, array := ArrayOf(string(f.key))
		within := func(n int64) bool { return n >= 0 && n <= limits.MaxAmount }
		f.Must((pool || array) && within(c.Amount) && within(c.Outside) && c.Until >= 0)
	}
}

// CounterRow is the row of a counter.
var CounterRow = Kind[Counter]{Counters, counterFields}

// HoldingKey returns the key of what an owner holds of a counter.
func HoldingKey(counter string, owner uint64) []byte {
	return binary.BigEndian.AppendUint64(HoldingPrefix(counter), owner)
}

// HoldingPrefix returns the prefix of the keys of all holdings of a counter.
func HoldingPrefix(counter string) []byte { return append([]byte(counter), 0) }

func holdingFields(f *Fields, h *limits.Holder) {
	f.Version(1)
	f.At("start", &h.Start, Made)
	f.At("end", &h.End, Made)
	Int(f, "amount", &h.Amount)
	Uint(f, "within", &h.Within)
	f.Bool("claim", &h.Claim)
	if f.dir == reading {
		owner, ok := holderOf(f.key)
		h.Owner = owner
		f.Must(ok)
	}
}

// HoldingRow is the row of an owner's holding.
var HoldingRow = Kind[limits.Holder]{Holdings, holdingFields}

// Held yields what a job with a start holds of pools, by the keys of their counters.
func (j *Job) Held(yield func(counter string, h limits.Holder) bool) {
	h := limits.Holder{Owner: JobOwner(j.ID), Start: j.Start, End: j.End}
	if j.PoolsWithin != 0 {
		h.Within = ReservationOwner(j.PoolsWithin)
	}
	for _, a := range j.Pools {
		if h.Amount = a.Amount; !yield(PoolKey(a.Pool), h) {
			return
		}
	}
}

// InArray returns what a job with a start holds of its array's throttle.
func (j *Job) InArray() limits.Holder {
	return limits.Holder{Owner: JobOwner(j.ID), Start: j.Start, End: j.End, Amount: 1}
}

// Held yields what a reservation holds of pools.
func (r *Reservation) Held(yield func(counter string, h limits.Holder) bool) {
	for _, a := range r.Pools {
		if !yield(PoolKey(a.Pool), limits.Holder{Owner: ReservationOwner(r.ID), Start: r.Start, End: r.End,
			Amount: a.Amount, Claim: true}) {
			return
		}
	}
}

func poolFields(f *Fields, name string, list *[]placer.PoolAmount) {
	for i := range Items(f, name, list) {
		f.Text("pool", &(*list)[i].Pool)
		n := &(*list)[i].Amount
		Int(f, "amount", n)
		f.Bound(*n >= 0 && *n <= limits.MaxAmount)
		f.Next()
	}
}
