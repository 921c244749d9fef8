package state

// Kept is what packages above keep on a transaction for as long as it lasts: see Slot.
type Kept struct{ values map[any]any }

// Slot is room for a value of one package on each transaction. The zero value is ready; a package
// has one variable for each value.
type Slot[T any] struct{ _ byte } // not empty: each has its own address

// In returns the value on a transaction, zero at first, for reading and setting.
func (s *Slot[T]) In(k *Kept) *T {
	if v, known := k.values[s]; known {
		return v.(*T)
	}
	v := new(T)
	if k.values == nil {
		k.values = make(map[any]any)
	}
	k.values[s] = v
	return v
}
