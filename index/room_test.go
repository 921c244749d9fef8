package index

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMostAt: the greatest amount of a level is the last one before the next level.
func TestMostAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<50).Draw(t, "amount")
		l := level(n)
		if most := mostAt(l); most < n || level(most) != l || level(most+1) == l {
			t.Fatalf("%d is of level %d, whose maximum is %d", n, l, most)
		}
	})
}
