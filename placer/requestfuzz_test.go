package placer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
)

// For each target there is no panic, every error has a printable text and a caret, and what is
// read, written and read again stays the same.

func FuzzSelect(f *testing.F) {
	for _, s := range []string{"2:ncpus=4:mem=8gb+1:ngpus=1", "1:color='a:b'\"c\":feature=x:feature=y", "99999999999",
		"1:power=1e3"} {
		f.Add(s)
	}
	defs := testDefs(f)
	f.Fuzz(func(t *testing.T, s string) {
		chunks, err := ParseSelect(defs, s)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		checkStable(t, defs, Spec{Chunks: chunks})
	})
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"scatter:excl", "group=color:group=shape", "Scatter:Excl", "group=mem", "pack:"} {
		f.Add(s)
	}
	defs := testDefs(f)
	f.Fuzz(func(t *testing.T, s string) {
		place, err := ParsePlace(defs, s)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		if again, err := ParsePlace(defs, place.Format(defs)); err != nil || again != place {
			t.Fatalf("%q is %+v, then %+v (%v)", s, place, again, err)
		}
	})
}

func FuzzResourceList(f *testing.F) {
	for _, s := range []string{
		"ncpus=2,mem=4gb,walltime=1:00:00", "nodes=2:ppn=4:x86_64+h1:cpp=2#excl,mem=3gb,ncpus=9",
		"select=1:color=\"a,b\",place=scatter:group=color", "walltime=1.5,place=excl", "select='1:ncpus=2'",
	} {
		f.Add(s)
	}
	defs := testDefs(f)
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := parseResourceList(defs, s, nil)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		checkStable(t, defs, spec)
	})
}

// checkStable reads a request's normal form again.
func checkStable(t *testing.T, defs *index.Defs, spec Spec) {
	t.Helper()
	sel, place := spec.Select(defs), spec.Place.Format(defs)
	if len(sel) > MaxText { // quotes and words written out may outgrow the limit
		return
	}
	again, err := Parse(defs, Request{Select: sel, Place: place})
	again.Walltime = spec.Walltime
	if err != nil {
		t.Fatalf("%s: %v", sel, err)
	}
	if diff := cmp.Diff(spec, again, cmpopts.IgnoreFields(Chunk{}, "Implied")); diff != "" {
		t.Fatalf("%s, %s (-first +again)\n%s", sel, place, diff)
	}
}
