package index

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestDefs(t *testing.T) {
	d := NewDefs()
	color, err := d.Add(Def{Name: "Color", Type: String})
	if err != nil || color.ID != FirstDeclared {
		t.Fatal(color, err)
	}
	if got, ok := d.Lookup("cOLOR"); !ok || got != color {
		t.Error(got, ok)
	}
	if err := d.Restore(Def{ID: 100, Name: "level", Type: Long}); err != nil || d.Next() != 101 {
		t.Error(err, d.Next())
	}
	d.Remove(100)
	if _, ok := d.Lookup("level"); ok {
		t.Error("level is still there")
	}
	level, err := d.Add(Def{Name: "level", Type: Float, Consumable: true})
	if err != nil || level.ID != 101 {
		t.Error("a number is given out again, or none: ", level, err)
	}
	d.SetNext(50)
	if d.Next() != 102 {
		t.Error(d.Next())
	}
	for _, def := range d.All() {
		if got, ok := d.Get(def.ID); !ok || got != def {
			t.Errorf("%s: %+v", def.Name, got)
		}
	}
	if names := strings.Join(d.Names(), " "); !strings.HasPrefix(names, "ncpus ngpus mem") ||
		!strings.HasSuffix(names, "feature Color level") {
		t.Error(names)
	}
	for _, id := range d.DefaultSignature() {
		if def, _ := d.Get(id); def.Unique || def.Directive {
			t.Errorf("%s is part of the signature", def.Name)
		}
	}
}

func TestDefsErrors(t *testing.T) {
	d := NewDefs()
	for _, c := range []struct {
		def  Def
		want error
	}{
		{Def{Name: "NCPUS", Type: Long}, ErrResourceDup},
		{Def{Name: "", Type: Long}, ErrResource},
		{Def{Name: "1a", Type: Long}, ErrResource},
		{Def{Name: "a.b", Type: Long}, ErrResource},
		{Def{Name: "[", Type: Long}, ErrResource},
		{Def{Name: strings.Repeat("a", 65), Type: Long}, ErrResource},
		{Def{Name: "State", Type: Long}, ErrResource},
		{Def{Name: "a"}, ErrResource},
		{Def{Name: "a", Type: 7}, ErrResource},
		{Def{Name: "a", Type: Boolean, Consumable: true}, ErrResource},
	} {
		if _, err := d.Add(c.def); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.def, err, c.want)
		}
	}
	if err := d.Restore(Def{ID: Mem, Name: "a", Type: Long}); !errors.Is(err, ErrResource) {
		t.Error("the number of mem is given out again: ", err)
	}
	d.SetNext(1<<16 - 1)
	if def, err := d.Add(Def{Name: "a", Type: Long}); !errors.Is(err, ErrResource) {
		t.Errorf("the numbers never run out: %+v, %v", def, err)
	}
}

func TestMaxDefs(t *testing.T) {
	d := NewDefs()
	for i := len(d.All()); i < MaxDefs; i++ {
		if _, err := d.Add(Def{Name: fmt.Sprintf("r%d", i), Type: Long}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Add(Def{Name: "more", Type: Long}); !errors.Is(err, ErrResource) {
		t.Error(err)
	}
}

func TestParseType(t *testing.T) {
	for typ := Long; typ <= StringArray; typ++ {
		if got, err := ParseType(strings.ToUpper(typ.String())); err != nil || got != typ {
			t.Errorf("%s: %v, %v", typ, got, err)
		}
		if typ.Numeric() != (typ <= Float) {
			t.Errorf("%s: numeric: %v", typ, typ.Numeric())
		}
	}
	if _, err := ParseType(""); err == nil || Type(9).String() != "type(9)" {
		t.Error(err, Type(9))
	}
}

func TestParseState(t *testing.T) {
	for word, want := range map[string]State{"": Up, "free": Up, "Busy": Up, "DOWN": Down, "offline": Offline,
		"drained": Drained} {
		if got, err := ParseState(word); err != nil || got != want {
			t.Errorf("%q: %s, %v", word, got, err)
		}
	}
	if _, err := ParseState("dwon"); err == nil {
		t.Error("dwon is a state")
	}
}

func TestSuggest(t *testing.T) {
	names := NewDefs().Names()
	for word, want := range map[string]string{
		"ncpu": "ncpus", "NCPUS": "ncpus", "n-cpus": "ncpus", "memm": "mem", "ncups": "ncpus", "meme": "mem",
		"Sawp": "swap", "nGPU": "ngpus", "omp_threads": "ompthreads", "mpiproc": "mpiprocs",
		"": "", "x": "", "walltime": "", strings.Repeat("ncpus", 20): "",
	} {
		if got := Suggest(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("ncpu", names); got != "; did you mean ncpus?" {
		t.Error(got)
	}
	if got := DidYouMean("xyz", names); got != "" {
		t.Error(got)
	}
}
