package query

import "github.com/placectl/placectl/query/values"

// Value is one value: an integer, a float, a text or NULL. Its methods (Kind, Int64, Float64, Text,
// Any) are in package query/values. The zero Value is NULL.
type Value = values.Value

// Kind is the kind of a value: SQLite's storage classes, without blobs.
type Kind = values.Kind

// The kinds of values.
const (
	Null    = values.Null
	Integer = values.Integer
	Real    = values.Real
	Text    = values.Text
)

// Affinity is the kind of value that a column or a cast prefers. It decides how its values are compared.
type Affinity = values.Affinity

// The affinities, by SQLite's names.
const (
	NoAffinity      = values.NoAffinity
	TextAffinity    = values.TextAffinity
	NumericAffinity = values.NumericAffinity
	IntegerAffinity = values.IntegerAffinity
	RealAffinity    = values.RealAffinity
)

// Int returns an integer.
func Int(n int64) Value { return values.Int(n) }

// Float returns a real number; NaN becomes NULL, as in SQLite.
func Float(f float64) Value { return values.Float(f) }

// String returns a text.
func String(s string) Value { return values.String(s) }

// TextOrNull returns a text, or NULL for "".
func TextOrNull(s string) Value { return values.TextOrNull(s) }

// Bool returns 1 or 0.
func Bool(b bool) Value { return values.Bool(b) }

// Like reports whether a text is LIKE a pattern.
func Like(pattern, text string) bool { return values.Like(pattern, text) }
