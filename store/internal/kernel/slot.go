package kernel

// Slot is room for a value of one package on each transaction: something that it has read or made,
// and keeps for as long as that lasts. The zero value is ready; a package has one variable for each
// value.
type Slot[T any] struct{ _ byte } // not empty: each has its own address

// In returns the value on a transaction, zero at first, for reading and setting.
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
