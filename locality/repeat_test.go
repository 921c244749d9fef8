package locality

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRepeat repeats a request with the same key, because its answer was lost.
func TestRepeat(t *testing.T) {
	b := newBench(t, Settings{Hosts: 1}, 20, 1, "")
	ask := func(key string) Grant {
		g, err := b.op().Next(b.host(0), Want{Jobs: 2, Lease: 100, Key: key})
		b.must(err)
		return g
	}
	first := ask("k")
	before := *b.batch
	again := ask("k")
	if !again.Again || *b.batch != before {
		t.Errorf("again is %v; the batch %+v is now %+v", again.Again, before, b.batch)
	}
	if again.Again = false; !cmp.Equal(first, again) {
		t.Errorf("-first +again\n%s", cmp.Diff(first, again))
	}
	_, err := b.op().Done(b.host(0), first.Jobs[0].Job)
	b.must(err)
	if rest := ask("k"); len(rest.Jobs) != 1 || rest.Jobs[0] != first.Jobs[1] {
		t.Errorf("with %v reported, again %v", first.Jobs[0], rest.Jobs)
	}
	b.now += 200
	_, err = b.op().Expire()
	b.must(err)
	if g := ask("k"); g.Again {
		t.Errorf("%v is given again after its lease", g.Jobs)
	}
	ask("other")
	if g := ask("k"); g.Again {
		t.Errorf("%v is given again after another request", g.Jobs)
	}
}
