package values

import (
	"math"
	"strconv"
)

// Kind is the kind of a value: SQLite's storage classes, without blobs. They are in the order in which
// values of different kinds sort. Both kinds of numbers count as one.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Integer
	Real
	Text
)

// Value is one value. The zero Value is NULL.
type Value struct {
	kind Kind
	num  uint64 // an int64, or the bits of a float64
	str  string
}

// Int returns an integer.
func Int(n int64) Value { return Value{kind: Integer, num: uint64(n)} }

// Float returns a real number; NaN becomes NULL, as in SQLite.
func Float(f float64) Value {
	if f != f {
		return Value{}
	}
	return Value{kind: Real, num: math.Float64bits(f)}
}

// String returns a text.
func String(s string) Value { return Value{kind: Text, str: s} }

// TextOrNull returns a text, or NULL for "".
func TextOrNull(s string) Value {
	if s == "" {
		return Value{}
	}
	return String(s)
}

// Bool returns 1 or 0.
func Bool(b bool) Value {
	if b {
		return Int(1)
	}
	return Int(0)
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Int64 returns the value of an Integer.
func (v Value) Int64() int64 { return int64(v.num) }

// Float64 returns the value of a Real.
func (v Value) Float64() float64 { return math.Float64frombits(v.num) }

// Text returns the value of a Text.
func (v Value) Text() string { return v.str }

// Any returns the value as Go has it: nil, int64, float64 or string.
func (v Value) Any() any {
	switch v.kind {
	case Integer:
		return v.Int64()
	case Real:
		return v.Float64()
	case Text:
		return v.str
	}
	return nil
}

// String returns the value as text, as CAST makes it; empty for NULL.
func (v Value) String() string {
	switch v.kind {
	case Integer:
		return strconv.FormatInt(v.Int64(), 10)
	case Real:
		return formatReal(v.Float64())
	}
	return v.str
}

// Literal returns the value as it is written in a statement.
func (v Value) Literal() string {
	switch v.kind {
	case Null:
		return "NULL"
	case Text:
		return Quote(v.str)
	case Real:
		if math.IsInf(v.Float64(), 0) {
			return map[bool]string{true: "-9.0e+999", false: "9.0e+999"}[v.Float64() < 0]
		}
		s := strconv.FormatFloat(v.Float64(), 'g', -1, 64)
		for _, c := range s {
			if c == '.' || c == 'e' {
				return s
			}
		}
		return s + ".0"
	}
	return v.String()
}

// Truth is the meaning of a value as a condition. NULL is unknown.
type Truth uint8

// The truths.
const (
	No Truth = iota
	Yes
	Unknown
)

// TruthOf converts a bool.
func TruthOf(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

// Not returns the negation; that of unknown is unknown.
func (t Truth) Not() Truth {
	switch t {
	case Yes:
		return No
	case No:
		return Yes
	}
	return Unknown
}

// Value returns 1, 0 or NULL.
func (t Truth) Value() Value {
	if t == Unknown {
		return Value{}
	}
	return Bool(t == Yes)
}

// Truth returns the value as a condition: it is true if it is not 0 as a number.
func (v Value) Truth() Truth {
	switch v.kind {
	case Null:
		return Unknown
	case Integer:
		return TruthOf(v.num != 0)
	}
	return TruthOf(v.AsFloat() != 0)
}
