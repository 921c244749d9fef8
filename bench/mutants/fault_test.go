package main

import (
	"os"
	"strings"
	"testing"
)

// TestFaults: every fault of the list can still be made, because the code that it changes exists once.
func TestFaults(t *testing.T) {
	text, err := os.ReadFile("faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	seen := make(map[string]bool)
	for _, f := range faults {
		changed, err := f.source()
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if original, err := os.ReadFile(f.file); err != nil || changed == string(original) {
			t.Errorf("%s changes nothing (%v)", f.name, err)
		}
		if seen[f.name] {
			t.Errorf("%s is in the list twice", f.name)
		}
		seen[f.name] = true
	}
	if len(faults) < 40 {
		t.Errorf("the list has only %d faults", len(faults))
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"file x":                     "1: a fault begins with == NAME",
		"== a\nfile x\n- y":          "file, - and test have to be there",
		"== a\nfile x\ntest ./x":     "3: test wants packages",
		"== a\nother":                `2: "other" is not one of`,
		"== a\ntest ./x T\nfile x\n": "file, - and test have to be there",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) fails with %v, want %q", text, err, want)
		}
	}
}
