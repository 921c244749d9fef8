package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestExpandNodeList(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"n1", "n1"},
		{"node[001-003,7],rack2-n7", "node001 node002 node003 node7 rack2-n7"},
		{"a[1-2]b[8-10]", "a1b8 a1b9 a1b10 a2b8 a2b9 a2b10"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[0-10].x", "n0.x n1.x n2.x n3.x n4.x n5.x n6.x n7.x n8.x n9.x n10.x"},
		{"n[00,0,000]", "n00 n0 n000"},
		{"n[2,2], n2", "n2 n2 n2"},
		{"[1-3]", "1 2 3"},
		{"n[9223372036854775806-9223372036854775807]", "n9223372036854775806 n9223372036854775807"},
		{`"vn[0]","a]b[",x[1-2]`, "vn[0] a]b[ x1 x2"},
		{`"n[1-3]"`, "n[1-3]"},
	} {
		got, err := ExpandNodeList(c.in)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestExpandNodeListErrors(t *testing.T) {
	long := strings.Repeat("x", MaxNodeName)
	for _, c := range []struct{ in, want string }{
		{"", "no name at character 1"},
		{"a,,b", "no name at character 3"},
		{"a,", "no name at character 3"},
		{"a[1]b[2", `the '[' at character 6 of "a[1]b[2" is not closed`},
		{`a,"b,c`, `the '"' at character 3`},
		{"a]", "a closing bracket without its opening one"},
		{"a[1[2]", "brackets do not match"},
		{"a]b[1]", "brackets do not match"},
		{"a[]", `"" is neither a number nor a range`},
		{"a[1-]", `"1-" is neither`},
		{"a[-1]", `"-1" is neither`},
		{"a[1-2-3]", `"1-2-3" is neither`},
		{"a[x]", `"x" is neither`},
		{"a[99999999999999999999]", "is neither"},
		{"a[3-1]", `the range "3-1" runs backwards`},
		{"a[1-1000001]", `"1-1000001" stands for more than 1000000 names`},
		{"a[1-1000][1-1001]", "more than 1000000 names"},
		{long + "[1-1000000]", "a name of more than 255 bytes"},
		{strings.Repeat("[1]", 300), "a name of more than 255 bytes"},
		{`""`, "an empty name"},
		{`a"b[0]"`, "quotes stand around a whole name"},
		{`"a""b"`, "quotes stand around a whole name"},
	} {
		got, err := ExpandNodeList(c.in)
		if !errors.Is(err, ErrNodeList) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %d names, %v; want %s", c.in, len(got), err, c.want)
		}
	}
}

func TestFoldNodeList(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"n1", "n1"},
		{"n1 n2 n3", "n[1-3]"},
		{"n001 n002 n004 n7", "n[001-002,004,7]"},
		{"n3 n2 n1", "n[3,2,1]"},
		{"n1 n1 n2", "n[1,1-2]"},
		{"n8 n9 n10", "n[8-10]"},
		{"n9 n010", "n[9,010]"},
		{"n8 n09", "n[8,09]"},
		{"n08 n09 n10 n100", "n[08-10,100]"},
		{"n099 n100", "n[099-100]"},
		{"n99 n100", "n[99-100]"},
		{"n0 n1", "n[0-1]"},
		{"n00 n1", "n[00,1]"},
		{"a1 b1 b2 a2", "a1,b[1-2],a2"},
		{"r1n1.x r1n2.x r2n1.x", "r1n[1-2].x,r2n1.x"},
		{"x y", "x,y"},
		{"vn[0] vn[1] vn2", `"vn[0]","vn[1]",vn2`},
		{"n999999999999999999 n1000000000000000000", "n999999999999999999,n1000000000000000000"},
	} {
		if got := FoldNodeList(strings.Fields(c.in)); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

// TestFoldRoundTrip folds any valid names and expands them again.
func TestFoldRoundTrip(t *testing.T) {
	name := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { // many that nearly make a run
			prefix := rapid.SampledFrom([]string{"", "n", "r1-n", "vn[", "n00"}).Draw(t, "prefix")
			n := rapid.SampledFrom([]int{0, 1, 2, 8, 9, 10, 11, 98, 99, 100, 101}).Draw(t, "number")
			width := rapid.IntRange(1, 4).Draw(t, "width")
			return prefix + fmt.Sprintf("%0*d", width, n) + rapid.SampledFrom([]string{"", "]", ".x"}).Draw(t, "suffix")
		}),
		rapid.StringMatching(`[!-~]{1,24}`).Filter(ValidNodeName),
		rapid.StringMatching(`n[0-9]{15,22}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 1, 30).Draw(t, "names")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(names)
		}
		folded := FoldNodeList(names)
		again, err := ExpandNodeList(folded)
		if err != nil {
			t.Fatalf("%s: %v", folded, err)
		}
		if diff := gocmp.Diff(names, again); diff != "" {
			t.Fatalf("%s (-names +expanded)\n%s", folded, diff)
		}
	})
}

func TestValidNodeName(t *testing.T) {
	for _, name := range []string{"n", "vn[0]", "rack-1.x_y/z@home!", strings.Repeat("n", 255)} {
		if !ValidNodeName(name) {
			t.Errorf("%s is refused", name)
		}
	}
	for _, name := range []string{"", "-n", "a b", "a,b", "a=b", "a*", `a"`, "ä", "a\x7f", strings.Repeat("n", 256)} {
		if ValidNodeName(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

// FuzzNodeList: no panic, limited output, and what is read can be folded and read again.
func FuzzNodeList(f *testing.F) {
	for _, s := range []string{"node[001-003,7],rack2-n7", "a[1-2]b[8-10]", `"vn[0]",x`, "n[9223372036854775807]",
		"[1-9][1-9][1-9]", "a[1", "]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := ExpandNodeList(s)
		if err != nil {
			if !errors.Is(err, ErrNodeList) {
				t.Fatal(err)
			}
			return
		}
		if len(names) == 0 || len(names) > MaxNodeList {
			t.Fatalf("%d names", len(names))
		}
		for _, name := range names {
			if len(name) > MaxNodeName {
				t.Fatalf("a name of %d bytes", len(name))
			}
			if !ValidNodeName(name) {
				return // as written by hand; folding promises nothing
			}
		}
		if len(names) > 10_000 {
			return
		}
		again, err := ExpandNodeList(FoldNodeList(names))
		if err != nil || !slices.Equal(names, again) {
			t.Fatalf("%q: %q, %v", s, again, err)
		}
	})
}
