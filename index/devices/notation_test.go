package devices

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0@0":            "0@0",
		"0-1@0+2-3@1":    "",
		"2-3@1+0-1@0":    "0-1@0+2-3@1",
		"0,1,2,5@0":      "0-2,5@0",
		"0@0+1@0":        "0-1@0",
		"0,2@0+1,3@1":    "",
		"gpu_b,gpu.a@3":  "gpu.a,gpu_b@3",
		"10,9,a1,2@0":    "2,9-10,a1@0",
		"3/0,3/1,3/3@1":  "3/0-1,3/3@1",
		"3/0-3,3@1":      "3,3/0-3@1",
		"a/0-1@0":        "",
		"999999999@1023": "",
		"0-4095@0":       "",
		"":               `"" names no group: write @0, as in 0-1@0+2-3@1`,
		"4":              `"4" names no group: write 4@0, as in 0-1@0+2-3@1`,
		"0-1@0+2":        `"2" names no group: write 2@0, as in 0-1@0+2-3@1`,
		"@0":             `"" is not a device: use a number without leading zeros, or a label of letters, digits, . and _ that begins with a letter`,
		"0@":             `"" is not a group of devices: write a number from 0 to 1023, as in 0-1@0+2-3@1`,
		"0@-1":           `"-1" is not a group of devices: write a number from 0 to 1023, as in 0-1@0+2-3@1`,
		"0@1024":         `"1024" is not a group of devices: write a number from 0 to 1023, as in 0-1@0+2-3@1`,
		"0@0@1":          `"0@1" is not a group of devices: write a number from 0 to 1023, as in 0-1@0+2-3@1`,
		"0,0@0":          "the device 0 appears twice",
		"0-3@0+2-5@1":    "the device 2 appears twice",
		"3-1@0":          `the range "3-1": a resource of a node has from 1 to 4096 devices`,
		"0-999999@0":     `the range "0-999999": a resource of a node has from 1 to 4096 devices`,
		"a-b@0":          `"a-b" is not a range of devices: write 0-3`,
		"007@0":          `"007" is not a device: use a number without leading zeros, or a label of letters, digits, . and _ that begins with a letter`,
		"3/256@0":        `"3/256" is not a slice of a device: write 3/0, up to 3/255`,
		"0, " +
			"1@0": `" 1" is not a device: use a number without leading zeros, or a label of letters, digits, . and _ that begins with a letter`,
		"_a@0": `"_a" is not a device: use a number without leading zeros, or a label of letters, digits, . and _ that begins with a letter`,
		strings.Repeat("a", 65) + "@0": `the device "` + strings.Repeat("a", 64) +
			`..." has 65 bytes; at most 64 are kept`,
	} {
		s, err := Parse(text)
		if want == "" {
			want = text
		}
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s\nnot %s", text, got, want)
		}
	}
}

// What is written reads back as the same.
func TestParseWritten(t *testing.T) {
	id := rapid.StringMatching(`(0|[1-9][0-9]{0,2}|[a-zA-Z][a-z._0-9]{0,3})(/[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		for _, id := range rapid.SliceOfNDistinct(id, 1, 30, rapid.ID[string]).Draw(t, "ids") {
			s = append(s, Device{ID: id, Group: rapid.IntRange(0, 3).Draw(t, "group")})
		}
		slices.SortFunc(s, func(a, b Device) int { return CompareIDs(a.ID, b.ID) })
		got, err := Parse(s.String())
		if err != nil || !got.Equal(s) {
			t.Fatalf("%v is written as %s, which is %v: %v", s, s, got, err)
		}
		var ids []string
		for i := range s {
			ids = append(ids, s[i].ID)
			if s.Find(s[i].ID) != i {
				t.Fatalf("%s is not found", s[i].ID)
			}
		}
		if back, err := ParseIDs(FormatIDs(ids)); err != nil || !slices.Equal(back, ids) {
			t.Fatalf("%v: %v %v", ids, back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0-1@0+2-3@1", "a,b@3", "3/0-3@1", "9-1@0", "@", "0-4095@0", "1/-2@0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !again.Equal(s) {
			t.Fatalf("%q is %s, which is %v: %v", text, s, again, err)
		}
	})
}
