package index

import "math"

// MaxAmount bounds what a node has of a resource, as it is stored: kb of a size,
// millionths of a float. It is what every number that we show such amounts in holds
// exactly, and leaves room for what jobs and reservations take of one node together.
const MaxAmount = 1 << 53

// Sums over nodes may pass what an int64 holds all the same. They then stop at the
// greatest there is: more than anybody asks for, as the true sum would be.

// Plus is the sum of two amounts that are not negative, or the greatest there is.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times is an amount so many times, neither of them negative, or the greatest there
// is.
func Times(amount, n int64) int64 {
	if amount != 0 && n > math.MaxInt64/amount {
		return math.MaxInt64
	}
	return amount * n
}
