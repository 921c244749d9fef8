package output

import "math"

// Real is a real number of SQL. People get the number. Programs get SQL's text of it, which always has
// a point.
type Real struct {
	Number float64
	Text   string
}

// appendJSON writes infinities, which JSON lacks, as SQLite's shell does: as a number that is too
// large.
func (r Real) appendJSON(b []byte) []byte {
	switch {
	case math.IsInf(r.Number, 1):
		return append(b, "1e999"...)
	case math.IsInf(r.Number, -1):
		return append(b, "-1e999"...)
	}
	return append(b, r.Text...)
}
