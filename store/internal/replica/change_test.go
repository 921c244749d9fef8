package replica

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/placectl/placectl/store/internal/row"
)

// TestChange: a change makes the new row from the old one.
func TestChange(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		old := make([]byte, rng.IntN(100_000))
		for k := range old {
			old[k] = byte(rng.IntN(1 + i%255))
		}
		value := bytes.Clone(old)
		for range rng.IntN(5) {
			at := rng.IntN(len(value) + 1)
			value = append(value[:at:at], append(make([]byte, rng.IntN(300)), value[at:]...)...)
		}
		key := []byte("key")
		old, value = row.Seal(key, append([]byte{1}, old...)), row.Seal(key, append([]byte{2}, value...))
		o, same, err := change(key, old, value)
		if err != nil || same {
			t.Fatal(same, err)
		}
		got, err := o.becomes(row.Config, old)
		if err != nil || !bytes.Equal(got, value) {
			t.Fatalf("run %d, %d bytes, change of kind %d: %v", i, len(value), o.kind, err)
		}
	}
}
