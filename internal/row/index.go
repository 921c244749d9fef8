package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/locality"
)

// Index is a table that is derived from the rows of another one. It is declared beside them.
// The one function that writes rows (package state) moves its keys, and package check rebuilds
// it. No other code writes to it.
type Index[T any] struct {
	Table Table
	// Key appends the key that a row has in the table, or nothing if it has none.
	Key func(b []byte, v *T) []byte
	// Nth, used instead of Key, appends the i-th of the keys that a row has there.
	Nth func(b []byte, v *T, i int) []byte
	// Value returns the value at the key. It is nil for a mark, if the key says everything.
	Value func(v *T) []byte
}

// Count is a table that counts the rows of another one that have a key.
type Count[T any] struct {
	Table Table
	// Key appends the key, or nothing for a row that is not counted.
	Key func(b []byte, v *T, payload []byte) []byte
}

// Stored describes how rows of a table are stored.
type Stored[T any] struct {
	Table  Table
	Key    func(b []byte, v *T) []byte
	Encode func(v *T) []byte
	// Borrow decodes into v the parts of a row that its indexes use. Its texts share the
	// memory of the payload, and its lists that of v.
	Borrow  func(v *T, key, payload []byte) error
	Indexes []Index[T]
	Counts  []Count[T]
}

// JobRows are the jobs.
var JobRows = Stored[Job]{
	Table:  Jobs,
	Key:    func(b []byte, j *Job) []byte { return append64(b, j.ID) },
	Encode: EncodeJob,
	Borrow: (*Job).Borrow,
	Indexes: []Index[Job]{
		{Table: JobStates, Key: func(b []byte, j *Job) []byte { return append64(append(b, byte(j.State)), j.ID) }},
		{Table: JobKinds, Key: func(b []byte, j *Job) []byte {
			return append64(appendNames(b, Payers, j.Whose()), j.ID)
		}},
		{Table: Ended, Key: func(b []byte, j *Job) []byte {
			if j.State.Live() {
				return b
			}
			return append64(append64(b, uint64(j.End)), j.ID)
		}},
		{Table: Waiting, Key: func(b []byte, j *Job) []byte {
			if !j.Waits(j.State) {
				return b
			}
			return append(b, WaitingKey(j)...)
		}},
		{Table: Claimed, Key: func(b []byte, j *Job) []byte {
			if j.Attendant == nil || !j.Waits(j.State) {
				return b
			}
			return appendClaimed(b, j.Attendant.Host, j.ID, 0)
		}},
		{Table: Launches, Key: func(b []byte, j *Job) []byte {
			if !j.ToLaunch() {
				return b
			}
			return append64(b, j.ID)
		}},
	},
	Counts: []Count[Job]{
		{JobCounts, func(b []byte, j *Job, _ []byte) []byte { return append(append(b, byte(j.State)), j.Queue...) }},
		{Lots, AppendLot}},
}

// AttemptRows are the attempts. Those being executed are listed by host.
var AttemptRows = Stored[Attempt]{
	Table:  Attempts,
	Key:    func(b []byte, a *Attempt) []byte { return append(b, AttemptKey(a.Job, a.Number)...) },
	Encode: EncodeAttempt,
	Borrow: attemptRow.Borrow,
	Indexes: []Index[Attempt]{{Table: Claimed, Key: func(b []byte, a *Attempt) []byte {
		if !a.State.Live() || a.Host == "" {
			return b
		}
		return appendClaimed(b, a.Host, a.Job, a.Number)
	}}},
}

// ReservationRows are the reservations, found by their numbers and by the entries of their
// access lists.
var ReservationRows = Stored[Reservation]{
	Table:  Reservations,
	Key:    func(b []byte, r *Reservation) []byte { return append(b, r.Name...) },
	Encode: ReservationRow.Encode,
	Borrow: ReservationRow.Borrow,
	Indexes: []Index[Reservation]{
		{Table: ReservationIDs, Key: func(b []byte, r *Reservation) []byte { return append64(b, r.ID) },
			Value: func(r *Reservation) []byte { return EncodeText(r.Name) }},
		{Table: Access, Nth: func(b []byte, r *Reservation, i int) []byte {
			if i >= len(r.Access) {
				return b
			}
			return append(b, AccessKey(r.Access[i].Subject, r.ID)...)
		}},
	},
}

// AnswerRows are the answers, by when they may be deleted.
var AnswerRows = Stored[Answer]{
	Table:  Answers,
	Key:    func(b []byte, a *Answer) []byte { return append(b, a.Key...) },
	Encode: AnswerRow.Encode,
	Borrow: AnswerHead.Borrow,
	Indexes: []Index[Answer]{{Table: AnswerDues, Key: func(b []byte, a *Answer) []byte {
		return append(append64(b, uint64(a.Until)), a.Key...)
	}}},
}

// HostRows are the hosts that work in batches, found by their names.
var HostRows = Stored[locality.Host]{
	Table:  Hosts,
	Key:    func(b []byte, h *locality.Host) []byte { return binary.BigEndian.AppendUint32(b, h.Number) },
	Encode: HostRow.Encode,
	Borrow: HostRow.Borrow,
	Indexes: []Index[locality.Host]{{Table: HostNames, Key: func(b []byte, h *locality.Host) []byte {
		return append(b, h.Name...)
	},
		Value: func(h *locality.Host) []byte { return EncodeNumber32(h.Number) }}},
}

// BatchRange is a range of a batch.
type BatchRange struct {
	Batch uint32
	locality.Cursor
}

// RangeRows are the ranges of batches, by time left.
var RangeRows = Stored[BatchRange]{
	Table:  BatchRanges,
	Key:    func(b []byte, r *BatchRange) []byte { return append(b, RangeKey(r.Batch, r.First)...) },
	Encode: func(r *BatchRange) []byte { return EncodeRange(&r.Cursor) },
	Borrow: (&Kind[BatchRange]{BatchRanges, func(f *Fields, r *BatchRange) {
		KeyPart(f, "batch", 0, 4, 12, &r.Batch)
		rangeFields(f, &r.Cursor)
	}}).Borrow,
	Indexes: []Index[BatchRange]{{Table: BatchLongest, Key: func(b []byte, r *BatchRange) []byte {
		if r.Waiting() <= 0 {
			return b
		}
		return append(b, LongestKey(r.Batch, &r.Cursor)...)
	}}},
}

// At appends the i-th key that a row has in the index, or nothing if it has no more.
func (ix *Index[T]) At(b []byte, v *T, i int) []byte {
	switch {
	case ix.Nth != nil:
		return ix.Nth(b, v, i)
	case i > 0:
		return b
	}
	return ix.Key(b, v)
}

func append64(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

// Keys calls fn for the rows that v has in the indexes of its kind.
func (s *Stored[T]) Keys(v *T, fn func(t Table, key, value []byte)) {
	for x := range s.Indexes {
		ix := &s.Indexes[x]
		for i := 0; ; i++ {
			key := ix.At(nil, v, i)
			if len(key) == 0 {
				break
			}
			fn(ix.Table, key, ix.Row(v))
		}
	}
}

// Row returns the value at a key that a row has in the index.
func (ix *Index[T]) Row(v *T) []byte {
	if ix.Value == nil {
		return EncodeMark()
	}
	return ix.Value(v)
}

// Borrow decodes the parts of a job that its indexes and rules use. Its texts are valid as
// long as the row, and its lists until the job is reused.
func (j *Job) Borrow(key, payload []byte) error {
	f := Fields{dir: reading, borrow: true, b: payload, key: key}
	chunks, after := j.Chunks, j.After
	*j = Job{}
	j.Chunks, j.After = chunks, after
	jobFields(&f, j)
	return f.done(Jobs)
}

// WaitingKey returns the key of a waiting job in the queue.
func WaitingKey(j *Job) []byte { return append64(append64(nil, ^(uint64(j.Priority)^1<<63)), j.ID) }
