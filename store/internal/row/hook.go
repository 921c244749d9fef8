package row

// Hook holds how many events the site's own program has received, and the process that
// delivers the next ones. There is one row, once there is such a program.
type Hook struct {
	Cursor  uint64 // the last event that it has received
	Holder  Nonce  // the process that delivers the next events, or zero
	Until   int64  // after this, another process may
	Failing int64  // since when it fails; 0 if its last run succeeded
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
