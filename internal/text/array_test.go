package text

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArray(t *testing.T) {
	for _, c := range []struct {
		in, normal string
		indexes    []int
		limit      int
	}{
		{"3", "3", []int{0, 1, 2}, 0},
		{"3%2", "3%2", []int{0, 1, 2}, 2},
		{"5-5", "5-5", []int{5}, 0},
		{"0-9:3", "0-9:3", []int{0, 3, 6, 9}, 0},
		{"0-99:50%1", "0-99:50%1", []int{0, 50}, 1},
		{"1,5,9-12", "1,5,9-12", []int{1, 5, 9, 10, 11, 12}, 0},
		{"9,1,5-6%10", "9,1,5-6%10", []int{1, 5, 6, 9}, 10},
		{"1-3,2-4,2", "1-3,2-4,2", []int{1, 2, 3, 4}, 0},
		{"07-08:1", "7-8", []int{7, 8}, 0},
		{"4-4:7", "4-4", []int{4}, 0},
		{"1000000000,0", "1000000000,0", []int{0, 1000000000}, 0},
		{"0-1000000000:500000000", "0-1000000000:500000000", []int{0, 500000000, 1000000000}, 0},
	} {
		a, err := ParseArray(c.in, 10)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := a.Indexes(); !slices.Equal(got, c.indexes) || a.String() != c.normal || a.Limit != c.limit {
			t.Errorf("%s: %v, %s, limit %d; want %v, %s, %d", c.in, got, a, a.Limit, c.indexes, c.normal, c.limit)
		}
	}
	if a, err := ParseIndexes("5", 10); err != nil || a.String() != "5-5" || !slices.Equal(a.Indexes(), []int{5}) {
		t.Errorf("a lone index: %v, %v", a, err)
	}
	for in, want := range map[string]string{
		"": `"" is not a whole number`, "0": "it has 1 to 10 jobs", "11": "it has 1 to 10 jobs",
		"0-10": "more than 10 jobs",
		"3-1":  "3-1 goes down", "1-": `"" is not a whole number`, "-1": `"" is not a whole number`,
		"1,,2":  `"" is not a whole number`,
		"1-9:0": "the step 0 is not", "1-9:": `the step "" is not`, "5:2": "5:2 has a step and no range",
		"1-5%0": "behind %", "3%": "behind %",
		"1-2%2%3": "behind %", "a": "a is not a whole number", "1 - 2": `"1 " is not`, "+1-2": "+1 is not",
		"1000000001,1": "from 0 to 1000000000",
		"1-2-3":        "2-3 is not", "99999999999999999999": "it has 1 to 10 jobs",
		"0-99999999999999999999": "is not a whole number from 0 to 1000000000",
		"0-1000000000":           "more than 10 jobs",
	} {
		a, err := ParseArray(in, 10)
		if err == nil || !strings.Contains(err.Error(), want) || cmp.Diff(a, Array{}) != "" {
			t.Errorf("%q: %v, %v; want %s", in, a, err, want)
		}
	}
}

// FuzzArray: what is read is written so that it reads back as the same, and has no more jobs
// than allowed.
func FuzzArray(f *testing.F) {
	for _, s := range []string{"100", "0-99:2", "1,5,9-12", "5-5%10", "1000000000", "3%2", "1-9:0"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, list bool) {
		read := ParseArray
		if list {
			read = ParseIndexes
		}
		const most = 1000
		a, err := read(s, most)
		if err != nil {
			return
		}
		jobs := a.Indexes()
		if len(jobs) == 0 || len(jobs) > most || jobs[0] < 0 || jobs[len(jobs)-1] > maxIndex {
			t.Fatalf("%q: %d jobs, %v", s, len(jobs), a)
		}
		again, err := ParseArray(a.String(), most)
		if err != nil || again.String() != a.String() || !slices.Equal(again.Indexes(), jobs) {
			t.Fatalf("%q: %v reads as %v, %v", s, a, again, err)
		}
		if n, err := strconv.Atoi(s); !list && err == nil && len(jobs) != n {
			t.Fatalf("%q: %d jobs", s, len(jobs))
		}
	})
}
