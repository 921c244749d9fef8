package placer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
)

func TestParse(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		r          Request
		sel, place string
		walltime   int64
	}{
		{Request{}, "1:ncpus=1", "free", 0},
		{Request{Place: "excl"}, "1:ncpus=1", "free:excl", 0},
		{Request{Select: "2:ncpus=4", Place: "scatter:excl", Walltime: time.Hour}, "2:ncpus=4", "scatter:excl", 3600},
		{Request{Select: "ncpus=2", Place: "excl"}, "1:ncpus=2", "free:excl", 0},
		{Request{Select: "walltime=30", Place: "excl"}, "1:ncpus=1", "free:excl", 30},
		{Request{Select: "walltime=30", Walltime: 29500 * time.Millisecond}, "1:ncpus=1", "pack", 30},
		{Request{Select: "select=2,walltime=30", Place: "scatter"}, "2:ncpus=1", "scatter", 30},
		{Request{Walltime: 1<<63 - 1}, "1:ncpus=1", "free", 9223372037},
	} {
		spec, err := Parse(defs, c.r)
		if err != nil {
			t.Errorf("%+v: %v", c.r, err)
			continue
		}
		if got := spec.Select(defs); got != c.sel || spec.Place.Format(defs) != c.place || spec.Walltime != c.walltime {
			t.Errorf("%+v: %s, %v, %d; want %s, %s, %d", c.r, got, spec.Place, spec.Walltime, c.sel, c.place,
				c.walltime)
		}
	}
}

func TestParseErrors(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Select: "1", Place: "scat"}, `place "scat": at character 1: no place "scat"`},
		{Request{Select: "ncpus=2,mem=4gb", Place: "excl"}, "ncpus cannot stand beside a place"},
		{Request{Select: "nodes=2", Place: "excl"}, "nodes= cannot stand beside a place"},
		{Request{Select: "select=1,place=pack", Place: "pack"}, "the place is given twice"},
		{Request{Walltime: -1}, "the walltime -1ns is negative"},
		{Request{Select: "walltime=30", Walltime: time.Hour},
			"the walltime is given twice: 30 seconds in the resource list, 3600 beside it"},
		{Request{Select: " "}, "it is empty"},
	} {
		_, err := Parse(defs, c.r)
		if !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
}

func TestTotals(t *testing.T) {
	defs := testDefs(t)
	spec, err := Parse(defs, Request{Select: "2:ncpus=4:mem=8gb:level=3+3:mpiprocs=0:power=1.5:bool=T:ompthreads=2"})
	if err != nil {
		t.Fatal(err)
	}
	if got := spec.Chunks[0].Text(defs); got != "2:ncpus=4:mem=8gb:level=3" {
		t.Error(got)
	}
	power, _ := defs.Lookup("power")
	want := []Want{
		{Res: index.NCPUs, Value: index.Value{Num: 11}},
		{Res: index.Mem, Value: index.Value{Num: 16 << 20}},
		{Res: index.MPIProcs, Value: index.Value{}},
		{Res: power.ID, Value: index.Value{Num: 4_500_000}},
	}
	if diff := cmp.Diff(want, spec.Totals(defs)); diff != "" || spec.NumChunks() != 5 {
		t.Errorf("%d chunks; totals (-want +got)\n%s", spec.NumChunks(), diff)
	}
}

// TestRoundTrip draws requests and verifies that their normal form reads back as the same
// request.
func TestRoundTrip(t *testing.T) {
	defs := testDefs(t)
	rapid.Check(t, func(t *rapid.T) {
		want := Spec{
			Chunks: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Chunk { return drawChunk(t, defs) }), 1, 5).Draw(t,
				"chunks"),
			Place:    drawPlace(t, defs),
			Walltime: rapid.Int64Range(0, 1<<30).Draw(t, "walltime"),
		}
		r := Request{
			Select:   want.Select(defs),
			Place:    want.Place.Format(defs),
			Walltime: time.Duration(want.Walltime) * time.Second,
		}
		got, err := Parse(defs, r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Chunk{}, "Implied")); diff != "" {
			t.Fatalf("%+v (-drawn +read)\n%s", r, diff)
		}
	})
}

// drawChunk draws a chunk as Parse makes them: no resource twice except feature, and always
// ncpus.
func drawChunk(t *rapid.T, defs *index.Defs) Chunk {
	c := Chunk{Count: rapid.IntRange(1, 100_000).Draw(t, "count")}
	list := rapid.SliceOfN(rapid.SampledFrom(defs.All()), 0, 6).Draw(t, "resources")
	for _, def := range list {
		w := Want{Res: def.ID, Value: drawValue(t, def)}
		if def.ID == index.Feature {
			if !containsWant(c.Wants, w) {
				c.Wants = append(c.Wants, w)
			}
		} else if !names(c.Wants, def.ID) {
			c.Wants = append(c.Wants, w)
		}
	}
	if !names(c.Wants, index.NCPUs) {
		c.Wants = append(c.Wants, oneCPU)
	}
	return c
}

func containsWant(wants []Want, w Want) bool {
	for _, have := range wants {
		if have == w {
			return true
		}
	}
	return false
}

func drawValue(t *rapid.T, def index.Def) index.Value {
	switch def.Type {
	case index.Boolean:
		return index.Value{Num: rapid.Int64Range(0, 1).Draw(t, def.Name)}
	case index.Long, index.Size, index.Float:
		return index.Value{Num: rapid.Int64Range(0, 1<<40).Draw(t, def.Name)}
	case index.StringArray:
		return index.Value{Str: rapid.StringMatching(`[!-+\--~]{1,8}`).Draw(t, def.Name)}
	}
	return index.Value{Str: rapid.StringMatching(`[ -~äß€]{1,8}`).Draw(t, def.Name)}
}

func drawPlace(t *rapid.T, defs *index.Defs) Place {
	p := Place{
		Arrange: Arrangement(rapid.IntRange(0, 3).Draw(t, "arrangement")),
		Share:   Sharing(rapid.IntRange(0, 3).Draw(t, "sharing")),
	}
	if p.HasGroup = rapid.Bool().Draw(t, "grouped"); p.HasGroup {
		def, _ := defs.Lookup(rapid.SampledFrom([]string{"host", "color", "aoe"}).Draw(t, "group"))
		p.Group = def.ID
	}
	return p
}
