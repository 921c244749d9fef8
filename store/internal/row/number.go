package row

import "time"

// NumberKey returns the key of the number of a subject: user:ann.
func NumberKey(kind, name string) []byte { return []byte(kind + ":" + name) }

func numberFields(f *Fields, n *int64) {
	f.Version(1)
	Int(f, "", n)
}

// EncodeNumber returns the row of a number.
func EncodeNumber(n int64) []byte { return encode(numberFields, &n) }

// DecodeNumber reads it.
func DecodeNumber(key, payload []byte) (*int64, error) {
	return decode(Numbers, numberFields, key, payload)
}

// Stamp formats an instant, in Unix seconds, for messages.
func Stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
