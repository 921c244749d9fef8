package usage

import (
	"math"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// TestHeldWithoutEnd: the sum of what jobs hold never becomes negative, however much it is.
func TestHeldWithoutEnd(t *testing.T) {
	for _, c := range []struct{ a, b, c, want int64 }{
		{16, 3600, 1, 57600}, {1 << 40, 36_000, 1, (1 << 40) * 36_000}, {1 << 53, 3600, 1, mostHeld},
		{math.MaxInt64, math.MaxInt64, 1024, mostHeld}, {math.MaxInt64, 1, 1, mostHeld}, {-1, 5, 1, 0},
	} {
		if got := product(c.a, c.b, c.c); got != c.want {
			t.Errorf("%d * %d / %d is %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
	sum := new(row.Total)
	for range 100 {
		one := new(row.Total)
		one.Hold("ncpus", product(1<<53, 3600, 1))
		if sum.Add(one, 1); sum.Of("ncpus") <= 0 {
			t.Fatalf("a sum is %d", sum.Of("ncpus"))
		}
	}
}
