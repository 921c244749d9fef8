package timeline

// SpanID names a live span of one plan. Ids of removed spans are not reused;
// zero is never an id.
type SpanID uint64

// chunkLen is the number of spans allocated at a time. Growing by chunks, instead of doubling
// one slice, keeps every single Add fast.
const chunkLen = 512

// spanTable keeps the live spans in numbered slots and reuses the slots of removed ones. The
// low bits of an id are the slot's number, and the high bits its generation. Generations are
// odd while the slot is taken, so an id that outlives its span matches nothing.
type spanTable[T any] struct {
	chunks []*[chunkLen]spanSlot[T]
	free   uint32 // slot number + 1 of the first free slot, 0 for none
	next   uint32 // slots from here on were never used
	live   int
}

type spanSlot[T any] struct {
	val  T
	gen  uint32
	free uint32 // the next free slot, as spanTable.free
}

func (s *spanTable[T]) slot(n uint32) *spanSlot[T] {
	return &s.chunks[n/chunkLen][n%chunkLen]
}

func (s *spanTable[T]) put(v T) SpanID {
	n := s.next
	if s.free != 0 {
		n = s.free - 1
		s.free = s.slot(n).free
	} else {
		if n%chunkLen == 0 {
			s.chunks = append(s.chunks, new([chunkLen]spanSlot[T]))
		}
		s.next++
	}
	slot := s.slot(n)
	slot.val = v
	slot.gen++
	s.live++
	return SpanID(slot.gen)<<32 | SpanID(n)
}

// get returns the span's own storage, or nil if the id names no live span.
func (s *spanTable[T]) get(id SpanID) *T {
	n, gen := uint32(id), uint32(id>>32)
	if n >= s.next || gen&1 == 0 {
		return nil
	}
	slot := s.slot(n)
	if slot.gen != gen {
		return nil
	}
	return &slot.val
}

// drop frees the slot of a live span.
func (s *spanTable[T]) drop(id SpanID) {
	n := uint32(id)
	slot := s.slot(n)
	var zero T
	slot.val = zero
	slot.gen++
	slot.free = s.free
	s.free = n + 1
	s.live--
}

// each calls f for every live span.
func (s *spanTable[T]) each(f func(*T)) {
	for n := uint32(0); n < s.next; n++ {
		if slot := s.slot(n); slot.gen&1 == 1 {
			f(&slot.val)
		}
	}
}
