package nodefile

import (
	"testing"

	"github.com/placectl/placectl/index"
	"pgregory.net/rapid"
)

// TestSizesHaveUnits: any number with any unit is accepted. Without the unit it is refused, unless it is 0 or
// --unit gives the unit. Then it is the same size.
func TestSizesHaveUnits(t *testing.T) {
	t.Parallel()
	defs := nodeDefs(t)
	mem, _ := defs.Lookup("mem")
	memKey := key{name: mem.Name, field: -1, def: mem}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,3})?`).Draw(t, "number")
		unit := rapid.SampledFrom([]string{"b", "k", "kb", "MB", "g", "tb", "pb", "KiB", "gib", "TiB", "w", "kw"}).Draw(
			t, "unit")
		said := &Units{of: make(map[index.ResID]string)}
		if err := said.read(defs, rapid.SampledFrom([]string{"", "mem=", "MEM="}).Draw(t, "for")+unit); err != nil {
			t.Fatal(err)
		}
		want, err := mem.ParseLoose(number + unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range []*Units{{}, said} {
			if text, err := u.complete(memKey, number+unit); err != nil || text != number+unit {
				t.Fatalf("complete(%s%s) = %q, %v, want it unchanged", number, unit, text, err)
			}
		}
		if _, err := new(Units).complete(memKey, number); (err == nil) != (want.Num == 0) {
			t.Fatalf("complete(%s) without a unit = %v", number, err)
		}
		text, err := said.complete(memKey, number)
		if got, parseErr := mem.ParseLoose(text); err != nil || parseErr != nil || got != want {
			t.Fatalf("%s in %s: %v, %v, %v; want %v", number, unit, got, err, parseErr, want)
		}
		ncpus, _ := defs.Get(index.NCPUs)
		if text, err := said.complete(key{name: "ncpus", field: -1, def: ncpus}, number); err != nil || text != number {
			t.Fatalf("complete(%s) for ncpus = %q, %v, want it unchanged", number, text, err)
		}
	})
}
