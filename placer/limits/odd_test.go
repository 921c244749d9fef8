package limits

import (
	"math"
	"testing"

	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// TestOdd: whatever numbers a caller gives, a counter answers.
func TestOdd(t *testing.T) {
	number := rapid.OneOf(rapid.Int64Range(-3, 50),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1 << 59, MaxAmount, 1 << 59, 1 << 60,
			math.MaxInt64 - 1, math.MaxInt64}), rapid.Int64())
	rapid.Check(t, func(t *rapid.T) {
		n := func() int64 { return number.Draw(t, "n") }
		c := New("k", rapid.Bool().Draw(t, "rule"), n(), n(), n())
		c.Left = rapid.Bool().Draw(t, "left")
		if rapid.Bool().Draw(t, "overrun") {
			c.Overrun = func(uint64) int64 { return n() }
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			owner := rapid.Uint64Range(0, 4)
			h := Holder{Owner: owner.Draw(t, "owner"), Start: n(), End: n(), Amount: n(),
				Within: owner.Draw(t, "within"), Claim: rapid.Bool().Draw(t, "claim")}
			d := Demand{Counter: c, Amount: n(), Within: rapid.SliceOfN(owner, 0, 2).Draw(t, "in")}
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				c.SetNow(n())
			case 1:
				c.SetTotal(n())
			case 2:
				c.SetOutside(n(), n())
			case 3:
				c.Remove(h.Owner)
			case 4:
				d.Next(n(), n())
				d.Fits(n(), n())
			case 5:
				d.Most()
				d.Free(n(), n())
				_ = d.Text(n(), n())
			case 6:
				c.Exceeded(h, rapid.Bool().Draw(t, "by"))
				c.Refuses(h, rapid.Bool().Draw(t, "by"))
				c.NextBack(n())
			case 7:
				c.Held(n())
				c.Split()
				c.End(h)
				c.Outside(n())
				NewRules([]*Rule{{Key: subject.Key{{Kind: subject.Kind(n())}}, Measure: Measure{Form: Form(n())}}}).
					Apply(new(subject.Names), nil)
			default:
				c.Put(h)
			}
		}
	})
}
