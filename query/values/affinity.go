package values

// Affinity is the kind of value that a column or a cast prefers. It decides how its values are compared.
type Affinity uint8

// The affinities, by SQLite's names.
const (
	NoAffinity Affinity = iota
	TextAffinity
	NumericAffinity
	IntegerAffinity
	RealAffinity
)

// Numeric reports whether the affinity prefers numbers.
func (a Affinity) Numeric() bool { return a >= NumericAffinity }

var affinityNames = [...]string{"", "TEXT", "NUMERIC", "INTEGER", "REAL"}

func (a Affinity) String() string { return affinityNames[a] }

// Apply converts a value as SQLite does to store it in a column of the affinity, or to compare it with
// one.
func (a Affinity) Apply(v Value) Value {
	switch {
	case a == TextAffinity && (v.kind == Integer || v.kind == Real):
		return String(v.String())
	case a.Numeric() && v.kind == Text:
		n, whole := LeadingNumber(v.str)
		if !whole {
			return v
		}
		v = n
		if n, ok := WholeFloat(v.AsFloat()); ok && v.kind == Real {
			v = Int(n)
		}
	}
	if a == RealAffinity && v.kind == Integer {
		return Float(float64(v.Int64()))
	}
	return v
}

// Stored returns a value as SQLite stores it in a column of the affinity: whole numbers as integers,
// except in real columns.
func (a Affinity) Stored(v Value) Value {
	if v = a.Apply(v); v.kind == Real && (a == NumericAffinity || a == IntegerAffinity) {
		if n, ok := WholeFloat(v.Float64()); ok {
			return Int(n)
		}
	}
	return v
}

func (a Affinity) Cast(v Value) Value {
	if v.kind == Null {
		return v
	}
	switch a {
	case TextAffinity:
		return String(v.String())
	case IntegerAffinity:
		return Int(v.AsInt())
	case RealAffinity:
		return Float(v.AsFloat())
	case NumericAffinity:
		if v.kind != Text {
			return v
		}
		v = v.asNumber()
		if n, ok := WholeFloat(v.AsFloat()); ok {
			return Int(n)
		}
	}
	return v
}
