package index

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Plus and Times give what unlimited integers give, limited to the greatest int64.
func TestAmountsStopAtTheGreatest(t *testing.T) {
	t.Parallel()
	greatest := big.NewInt(math.MaxInt64)
	amount := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, math.MaxInt64),
		rapid.Int64Range(math.MaxInt64-5, math.MaxInt64), rapid.Int64Range(1<<31-2, 1<<32+2))
	rapid.Check(t, func(t *rapid.T) {
		a, b := amount.Draw(t, "a"), amount.Draw(t, "b")
		for what, c := range map[string]struct {
			got  int64
			want *big.Int
		}{
			"plus":  {Plus(a, b), new(big.Int).Add(big.NewInt(a), big.NewInt(b))},
			"times": {Times(a, b), new(big.Int).Mul(big.NewInt(a), big.NewInt(b))},
		} {
			if c.want.Cmp(greatest) > 0 {
				c.want = greatest
			}
			if c.got != c.want.Int64() {
				t.Fatalf("%d %s %d is %d, not %d", a, what, b, c.got, c.want)
			}
		}
	})
}

// The sum over all nodes does not wrap around, whether the resource is part of the signature
// or not.
func TestTotalsStopAtTheGreatest(t *testing.T) {
	t.Parallel()
	for _, signature := range [][]ResID{{NCPUs}, {Mem}} {
		ix := New(NewDefs(), signature, nil, Limits{})
		for i := range uint32(2000) {
			n := &Node{Name: "n", Number: i}
			n.Set(NCPUs, Value{Num: MaxAmount})
			n.Set(Mem, Value{Num: MaxAmount})
			ix.Insert(n, Free)
		}
		for _, res := range []ResID{NCPUs, Mem} {
			if got := ix.Configured(res); got != math.MaxInt64 {
				t.Errorf("signature %v: %d of %d", signature, got, res)
			}
			if got := ix.InService(res); got != math.MaxInt64 {
				t.Errorf("signature %v: %d of %d in service", signature, got, res)
			}
		}
	}
}
