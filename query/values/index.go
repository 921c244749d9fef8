package values

import (
	"encoding/binary"
)

// Index finds numbers by keys of one or several values. Values that compare as equal are one
// key. NULLs are equal.
type Index struct {
	ints  map[int64]int
	texts map[string]int // single texts; several values as bytes
	rest  map[Value]int  // NULL, and reals that are not integers
	late  [64]lateText   // found recently: often there are few groups
	buf   []byte
}

// Put finds a key, or adds it with a number.
func (h *Index) Put(key []Value, number int) (found int, fresh bool) {
	if len(key) == 1 {
		switch v := Normal(key[0]); v.kind {
		case Integer:
			if at, ok := h.ints[v.Int64()]; ok {
				return at, false
			}
			if h.ints == nil {
				h.ints = make(map[int64]int)
			}
			h.ints[v.Int64()] = number
		case Text:
			late := h.lately(v.str)
			if late.at > 0 && late.text == v.str {
				return late.at - 1, false
			}
			if at, ok := h.texts[v.str]; ok {
				*late = lateText{v.str, at + 1}
				return at, false
			}
			h.putText(v.str, number)
		default:
			if at, ok := h.rest[v]; ok {
				return at, false
			}
			if h.rest == nil {
				h.rest = make(map[Value]int)
			}
			h.rest[v] = number
		}
		return number, true
	}
	h.buf = appendKey(h.buf[:0], key)
	if at, ok := h.texts[string(h.buf)]; ok {
		return at, false
	}
	h.putText(string(h.buf), number)
	return number, true
}

func (h *Index) putText(s string, number int) {
	if h.texts == nil {
		h.texts = make(map[string]int)
	}
	h.texts[s] = number
}

// Get finds a key.
func (h *Index) Get(key []Value) (at int, ok bool) {
	if len(key) == 1 {
		switch v := Normal(key[0]); v.kind {
		case Integer:
			at, ok = h.ints[v.Int64()]
		case Text:
			at, ok = h.texts[v.str]
		default:
			at, ok = h.rest[v]
		}
		return at, ok
	}
	h.buf = appendKey(h.buf[:0], key)
	at, ok = h.texts[string(h.buf)]
	return at, ok
}

// appendKey writes values as bytes. Equal values have the same bytes.
func appendKey(b []byte, key []Value) []byte {
	for _, v := range key {
		v = Normal(v)
		b = append(b, byte(v.kind))
		switch v.kind {
		case Text:
			b = binary.AppendUvarint(b, uint64(len(v.str)))
			b = append(b, v.str...)
		case Integer, Real:
			b = binary.LittleEndian.AppendUint64(b, v.num)
		}
	}
	return b
}

// lateText is a recently found text and its number, counted from 1.
type lateText struct {
	text string
	at   int
}

// lately returns where a text would be if it was found recently.
func (h *Index) lately(s string) *lateText {
	if s == "" {
		return &h.late[0]
	}
	return &h.late[(7*len(s)+31*int(s[0])+int(s[len(s)-1]))%len(h.late)]
}
