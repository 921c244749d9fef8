package query

// normal makes values that compare as equal the same: whole numbers are integers.
func normal(v Value) Value {
	if v.kind == Real {
		if f := v.Float64(); f >= -(1<<63) && f < 1<<63 && f == float64(int64(f)) {
			return Int(int64(f))
		}
	}
	return v
}
