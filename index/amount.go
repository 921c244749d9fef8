package index

import "math"

// MaxAmount bounds a node's amount of a resource, as stored: kb of a size, millionths of a float.
// Every number type that we print amounts in holds it exactly. It leaves room for what jobs and
// reservations take of one node together.
const MaxAmount = 1 << 53

// Sums over nodes may exceed an int64. They then stop at the greatest value, which is more than any
// request, as the true sum would be.

// Plus returns the sum of two amounts that are not negative, or the greatest there is.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times returns an amount so many times, neither of them negative, or the greatest there
// is.
func Times(amount, n int64) int64 {
	if amount != 0 && n > math.MaxInt64/amount {
		return math.MaxInt64
	}
	return amount * n
}
