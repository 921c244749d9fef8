package text

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplitItems(t *testing.T) {
	for in, want := range map[string][]string{
		"":                      nil,
		"A":                     {"A"},
		"A,B=1,":                {"A", "B=1", ""},
		`A='x,y',B="it's \" c"`: {"A=x,y", `B=it's " c`},
		`A=x\,y,B=c:\temp,C=\\`: {"A=x,y", `B=c:\temp`, `C=\`},
		`A='\'`:                 {`A=\`},
	} {
		got, err := SplitItems(in)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", in, err, diff)
		}
	}
	if items, err := SplitItems("A='x"); err == nil {
		t.Errorf("an open quote gives %q", items)
	}
}

// TestItemsAgain: SplitItems splits what JoinItems writes.
func TestItemsAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.StringMatching(`[ab=,'"\\ ]{0,6}`), 1, 5).Draw(t, "items")
		if len(items) == 1 && items[0] == "" {
			return // a list of one empty item is written as the empty list
		}
		got, err := SplitItems(JoinItems(items))
		if diff := cmp.Diff(items, got); diff != "" || err != nil {
			t.Fatalf("%s: %v %s", JoinItems(items), err, diff)
		}
	})
}

// TestRuns: successive and equal numbers are written once.
func TestRuns(t *testing.T) {
	for want, list := range map[string][]int{"0-2,5": {0, 1, 2, 5}, "3,5-6": {6, 3, 5}, "7": {7}, "": nil} {
		if got := Ranges(list); got != want {
			t.Errorf("Ranges(%v) = %s, want %s", list, got, want)
		}
	}
	for want, list := range map[string][]int{"4(x2),2": {4, 4, 2}, "1": {1}, "2,4(x3)": {2, 4, 4, 4}, "": nil} {
		if got := Repeats(list); got != want {
			t.Errorf("Repeats(%v) = %s, want %s", list, got, want)
		}
	}
}
