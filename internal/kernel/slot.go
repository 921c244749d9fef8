package kernel

// Slot holds one value of a package for each transaction: something that it read or made, and
// keeps for the whole transaction. The zero value is ready. A package has one variable for
// each value.
type Slot[T any] struct{ _ byte } // not empty: each has its own address

// In returns a pointer to the transaction's value, which starts as the zero value.
func (s *Slot[T]) In(tx *Tx) *T {
	if v, known := tx.Loaded.kept[s]; known {
		return v.(*T)
	}
	v := new(T)
	if tx.Loaded.kept == nil {
		tx.Loaded.kept = make(map[any]any)
	}
	tx.Loaded.kept[s] = v
	return v
}
