//go:build etcd

package etcd

import (
	"net/http"
	"testing"

	"github.com/placectl/placectl/store/internal/replica"
)

// TestTrimOrder: nothing is deleted before first says that it is not needed, because a reader
// would miss it meanwhile.
func TestTrimOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	deletes := 0
	d := connect(t, "order", f.member(t, func(r *http.Request, after bool) bool {
		if after || r.URL.Path != "/v3/kv/deleterange" {
			return true
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		deletes++
		if first, err := decodeFirst(f.pairs["order/first"].value); err != nil || first != 4 {
			t.Errorf("first is %d, %v, and something is deleted", first, err)
		}
		return true
	}))
	start := made(t, d)
	at := start
	for i := range 3 {
		at = appended(t, d, at, []byte{1, byte(i)}, nil)
	}
	if kept, err := d.Keep(ending(t), start,
		&replica.Snapshot{At: at, Format: 7, Body: []byte("the second")}); err != nil ||
		!kept {
		t.Fatal(kept, err)
	}
	if err := d.Trim(ending(t), at.N+1); err != nil {
		t.Fatal(err)
	}
	if deletes == 0 {
		t.Error("nothing was deleted")
	}
}
