package row

// NumberKey is the key of the number that is set on one of a kind: user:ann.
func NumberKey(kind, name string) []byte { return []byte(kind + ":" + name) }

// EncodeNumber is the row of a number.
func EncodeNumber(n int64) []byte {
	e := encoder{}
	e.byte(1)
	e.int(n)
	return e.b
}

// DecodeNumber reads it.
func DecodeNumber(key, payload []byte) (*int64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.int()
	return &n, d.done(Numbers, key)
}
