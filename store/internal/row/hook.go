package row

// Hook is how many events the site's own program has received, and the process that hands on the
// next ones. There is one row, once there is such a program.
type Hook struct {
	Cursor  uint64 // the last event that it has taken
	Holder  Nonce  // of the process that hands on the next events, or zero
	Until   int64  // after that another process may
	Failing int64  // since when it has taken nothing, 0 if it has taken the last it was handed
}

const hookVersion = 1

func hookFields(f *Fields, h *Hook) {
	f.Version(hookVersion)
	Uint(f, "cursor", &h.Cursor)
	f.Digits("holder", h.Holder[:])
	f.At("until", &h.Until, Past)
	f.At("failing", &h.Failing, Past)
}

// EncodeHook returns the row.
func EncodeHook(h *Hook) []byte { return encode(hookFields, h) }

// DecodeHook reads it.
func DecodeHook(payload []byte) (*Hook, error) {
	return decode(Meta, hookFields, KeyHook, payload)
}
