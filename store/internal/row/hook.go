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

func hookFields(f *Fields, h *Hook) {
	f.Version(hookVersion)
	Uint(f, "cursor", &h.Cursor)
	f.Digits("holder", h.Holder[:])
	f.At("until", &h.Until, Past)
	f.At("failing", &h.Failing, Past)
}

// EncodeHook is the row.
func EncodeHook(h *Hook) []byte { return encode(hookFields, h) }

// DecodeHook reads it.
func DecodeHook(payload []byte) (*Hook, error) {
	return decode(Meta, hookFields, KeyHook, payload)
}
