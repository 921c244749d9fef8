package row

import (
	"strings"
)

// Tally counts the submitted and ended jobs of a queue since the database was made. It never
// decreases, even when rows of jobs are deleted.
type Tally struct {
	Submitted uint64 // including placed jobs
	Finished  uint64
	Failed    uint64
	Cancelled uint64
	Waits     [len(WaitBounds) + 1]uint64 // ended jobs that had started, by how long they waited
	Waited    int64                       // the sum of those times, in seconds
}

// WaitBounds are the upper bounds of the counts in Tally.Waits, in seconds. The last count has
// none. On disk; must not change.
var WaitBounds = [...]int64{1, 10, 60, 600, 3600, 21600, 86400}

// Wait counts a job that has waited a number of seconds for its start.
func (t *Tally) Wait(seconds int64) {
	seconds = max(seconds, 0)
	at := 0
	for at < len(WaitBounds) && seconds > WaitBounds[at] {
		at++
	}
	t.Waits[at]++
	t.Waited += seconds
}

// LastCycle is when the last cycle ran, and how long it took.
type LastCycle struct {
	Began int64 // Unix seconds
	Took  int64 // nanoseconds, without its commit
}

// tallyPrefix begins the keys of queues in Tallies. On disk; must not change.
const tallyPrefix = "queue:"

// KeyLastCycle is the key of the last cycle in the table Tallies.
var KeyLastCycle = []byte("cycle")

// TallyKey returns the key of a queue's tally; "" is for jobs without a queue.
func TallyKey(queue string) []byte { return []byte(tallyPrefix + queue) }

// TallyPrefix begins the keys of all tallies.
func TallyPrefix() []byte { return []byte(tallyPrefix) }

// TallyQueue returns the queue of a key; ok is false for the key of something else.
func TallyQueue(key []byte) (queue string, ok bool) {
	return strings.CutPrefix(string(key), tallyPrefix)
}

const tallyVersion = 1

func tallyFields(f *Fields, t *Tally) {
	f.Version(tallyVersion)
	Uint(f, "submitted", &t.Submitted)
	Uint(f, "finished", &t.Finished)
	Uint(f, "failed", &t.Failed)
	Uint(f, "cancelled", &t.Cancelled)
	if f.bytes() {
		f.Must(f.count(len(t.Waits)) == len(t.Waits))
	}
	Counts(f, "waits", t.Waits[:])
	Int(f, "waited", &t.Waited)
	if f.dir == reading {
		_, ok := TallyQueue(f.key)
		f.Must(ok)
	}
}

// TallyRow is the row of a queue's tally.
var TallyRow = Kind[Tally]{Tallies, tallyFields}

func lastCycleFields(f *Fields, c *LastCycle) {
	f.Version(tallyVersion)
	f.At("began", &c.Began, Past)
	Int(f, "took", &c.Took)
}

// LastCycleRow is the row of the last cycle.
var LastCycleRow = Kind[LastCycle]{Tallies, lastCycleFields}

// JobCountKey returns the key of the number of a queue's jobs in a state.
func JobCountKey(state JobState, queue string) []byte { return append([]byte{byte(state)}, queue...) }

func countFields(f *Fields, n *uint64) {
	f.Version(tallyVersion)
	Uint(f, "", n)
}

// EncodeCount returns the row of a count.
func EncodeCount(n uint64) []byte { return encode(countFields, &n) }

// DecodeCount reads it, from a table that counts.
func DecodeCount(t Table, key, payload []byte) (uint64, error) {
	f, n := Fields{dir: reading, b: payload, key: key}, *new(uint64)
	countFields(&f, &n)
	return n, f.done(t)
}
