// Package heap keeps values so that the first of them in some order is at hand, without
// sorting them all. It has the project's only binary heap. Unlike container/heap, its values
// have a type, a function orders them, and it can report the position of each value. It is
// pure.
package heap

// A Heap is a list whose first value comes before all others. Make one with New or Of.
type Heap[T any] struct {
	list   []T
	before func(a, b *T) bool
	// Moved, if it is set, is called each time a value gets a position in the list. Set it
	// before you add the first value.
	Moved func(x *T, at int)
}

// New returns an empty heap, ordered by before.
func New[T any](before func(a, b *T) bool) *Heap[T] { return &Heap[T]{before: before} }

// Of returns a heap made of a list, which then belongs to it.
func Of[T any](list []T, before func(a, b *T) bool) *Heap[T] {
	h := &Heap[T]{list: list, before: before}
	for i := len(list)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	return h
}

// Len returns the number of values.
func (h *Heap[T]) Len() int { return len(h.list) }

// All returns the values, the first one first and the others in no order. The slice is the
// heap's own.
func (h *Heap[T]) All() []T { return h.list }

// First returns the first value. You may change it before Fix. The heap must not be empty.
func (h *Heap[T]) First() *T { return &h.list[0] }

// Push adds a value.
func (h *Heap[T]) Push(x T) {
	h.list = append(h.list, x)
	h.rise(len(h.list) - 1)
}

// Pop removes the first value and returns it. The heap must not be empty.
func (h *Heap[T]) Pop() T {
	first := h.list[0]
	h.Remove(0)
	return first
}

// Remove removes the value at a position.
func (h *Heap[T]) Remove(at int) {
	last := len(h.list) - 1
	h.list[at] = h.list[last]
	clear(h.list[last:]) // release what it points to
	if h.list = h.list[:last]; at < last {
		h.settle(at)
	}
}

// Fix restores the order after a change of the first value.
func (h *Heap[T]) Fix() { h.sink(0) }

// Set replaces the value at a position by x.
func (h *Heap[T]) Set(at int, x T) {
	h.list[at] = x
	h.settle(at)
}

// settle moves the value at a position to where it belongs.
func (h *Heap[T]) settle(at int) {
	if at > 0 && h.before(&h.list[at], &h.list[(at-1)/2]) {
		h.rise(at)
	} else {
		h.sink(at)
	}
}

// rise moves the value at a position up to where it belongs. It compares values in place: a
// copy would be an allocation each time.
func (h *Heap[T]) rise(at int) {
	for at > 0 {
		above := (at - 1) / 2
		if !h.before(&h.list[at], &h.list[above]) {
			break
		}
		h.swap(at, above)
		at = above
	}
	h.settled(at)
}

// sink moves the value at a position down to where it belongs.
func (h *Heap[T]) sink(at int) {
	for {
		below := 2*at + 1
		if below >= len(h.list) {
			break
		}
		if below+1 < len(h.list) && h.before(&h.list[below+1], &h.list[below]) {
			below++
		}
		if !h.before(&h.list[below], &h.list[at]) {
			break
		}
		h.swap(at, below)
		at = below
	}
	h.settled(at)
}

// swap exchanges the value that is being moved with another.
func (h *Heap[T]) swap(at, other int) {
	h.list[at], h.list[other] = h.list[other], h.list[at]
	h.settled(at)
}

func (h *Heap[T]) settled(at int) {
	if h.Moved != nil {
		h.Moved(&h.list[at], at)
	}
}
