package index

import "math"

// MaxAmount limits a node's amount of a resource, as stored: kb of a size, millionths of a
// float. Every number type that amounts are printed in holds it exactly. It leaves room for
// the sum of what jobs and reservations take of one node.
const MaxAmount = 1 << 53

// Sums over nodes may exceed an int64. Then they stop at the greatest value, which is more
// than any request.

// Plus returns the sum of two amounts that are not negative, or the greatest int64 if it is
// less.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times returns n times an amount, or the greatest int64 if that is less. Neither may be
// negative.
func Times(amount, n int64) int64 {
	if amount != 0 && n > math.MaxInt64/amount {
		return math.MaxInt64
	}
	return amount * n
}
