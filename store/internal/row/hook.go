package row

// Hook is how far the site's own program has been handed the events, and who is about to.
// One row, from when there is such a program.
type Hook struct {
	Cursor  uint64 // the last event that it has taken
	Holder  Nonce  // of who hands it those behind, zero for nobody
	Until   int64  // then somebody else may
	Failing int64  // since when it has taken nothing, 0 where it has taken the last it was handed
}

const hookVersion = 1

// EncodeHook is the row.
func EncodeHook(h *Hook) []byte {
	e := encoder{}
	e.byte(hookVersion)
	e.uint(h.Cursor)
	e.b = append(e.b, h.Holder[:]...)
	e.int(h.Until)
	e.int(h.Failing)
	return e.b
}

// DecodeHook reads it.
func DecodeHook(payload []byte) (*Hook, error) {
	d := decoder{b: payload}
	d.byte()
	h := &Hook{Cursor: d.uint()}
	copy(h.Holder[:], d.take(len(h.Holder)))
	h.Until, h.Failing = d.int(), d.int()
	return h, d.done(Meta, KeyHook)
}
