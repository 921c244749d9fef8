package values

// Affinity is the kind of value that a column or a cast prefers; it decides what
// its values are compared as.
type Affinity uint8

// The affinities, in SQLite's words.
const (
	NoAffinity Affinity = iota
	TextAffinity
	NumericAffinity
	IntegerAffinity
	RealAffinity
)

// Numeric reports whether numbers are preferred.
func (a Affinity) Numeric() bool { return a >= NumericAffinity }

var affinityNames = [...]string{"", "TEXT", "NUMERIC", "INTEGER", "REAL"}

func (a Affinity) String() string { return affinityNames[a] }

// Apply converts a value as storing it under an affinity, or comparing with a column
// of it, does.
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

// Stored is a value as SQLite keeps it in a column of the affinity: of a number that is
// whole an integer, but for reals.
func (a Affinity) Stored(v Value) Value {
	if v = a.Apply(v); v.kind == Real && (a == NumericAffinity || a == IntegerAffinity) {
		if n, ok := WholeFloat(v.Float64()); ok {
			return Int(n)
		}
	}
	return v
}

// Cast is CAST(v AS a).
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
