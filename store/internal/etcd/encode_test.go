//go:build etcd

package etcd

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// TestEncode: transactions are written as package json writes them.
func TestEncode(t *testing.T) {
	bytes := rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOf(rapid.Byte()))
	number := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64())
	some := func(t *rapid.T) *int64 {
		if rapid.Bool().Draw(t, "is") {
			n := number.Draw(t, "number")
			return &n
		}
		return nil
	}
	comparisons := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) comparison {
		c := comparison{Key: bytes.Draw(t, "key"), End: bytes.Draw(t, "end"), Version: some(t), Created: some(t), Changed: some(t),
			Result: rapid.SampledFrom([]string{equal, greater}).Draw(t, "result"), Target: rapid.SampledFrom([]string{targetValue, targetVersion, targetCreated, targetChanged}).Draw(t, "target")}
		if rapid.Bool().Draw(t, "has a value") {
			value := bytes.Draw(t, "value")
			c.Value = &value
		}
		return c
	}), 0, 3)
	operations := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) operation {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return operation{Put: &put{bytes.Draw(t, "key"), bytes.Draw(t, "value"), number.Draw(t, "lease"), rapid.Bool().Draw(t, "keep")}}
		case 1:
			return deleting(bytes.Draw(t, "key"), bytes.Draw(t, "end"))
		}
		return reading(ranged{Key: bytes.Draw(t, "key"), End: bytes.Draw(t, "end"), Limit: number.Draw(t, "limit"), MaxCreated: number.Draw(t, "most"),
			Order: rapid.SampledFrom([]string{"", "ASCEND", "DESCEND"}).Draw(t, "order"), By: rapid.SampledFrom([]string{"", targetCreated}).Draw(t, "by"),
			KeysOnly: rapid.Bool().Draw(t, "keys only"), Serializable: rapid.Bool().Draw(t, "serializable")})
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		tr := transaction{comparisons.Draw(t, "if"), operations.Draw(t, "then"), operations.Draw(t, "else")}
		want, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encode(tr)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s, %v, and package json: %s", got, err, want)
		}
	})
}
