package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func set(t testing.TB, text string) Set {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// want returns a request for devices of a set, some of them taken.
func want(t testing.TB, text, taken string, count int) (Set, Want) {
	t.Helper()
	s := set(t, text)
	l := s.Layout()
	free := l.InService()
	if taken != "" {
		ids, err := ParseIDs(taken)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			free = free.AndNot(Bits(nil).With(s.Find(id)))
		}
	}
	return s, Want{l, free, count}
}

func TestBind(t *testing.T) {
	three := "0-3@0+4-7@1+8-11@2"
	line := Distances{{10, 12, 32}, {12, 10, 32}, {32, 32, 10}}
	type ask struct {
		set, taken string
		n          int
		want       string
	}
	for _, c := range []struct {
		name   string
		policy Policy
		far    Distances
		asks   []ask
	}{
		{"six of three groups of four", Compact, nil, []ask{{three, "", 6, "0-2,4-6"}}},
		{"six of three groups of four", Tight, nil, []ask{{three, "", 6, "0-5"}}},
		{"six of three groups of four", Scatter, nil, []ask{{three, "", 6, "0-1,4-5,8-9"}}},
		{"seven", Compact, nil, []ask{{three, "", 7, "0-3,4-6"}}},
		{"ten", Compact, nil, []ask{{three, "", 10, "0-3,4-6,8-10"}}},
		{"one group where one suffices", Compact, nil, []ask{{three, "0-2", 2, "4-5"}}},
		{"the group with the fewest left over", Compact, nil, []ask{{three, "4,8-9", 2, "10-11"}}},
		{"the lowest group of several alike", Compact, nil, []ask{{three, "", 1, "0"}}},
		{"the two that are nearest", Compact, Distances{{10, 32, 12}, {32, 10, 32}, {12, 32, 10}},
			[]ask{{three, "", 8, "0-3,8-11"}}},
		{"nearest before fewest left over", Compact, line, []ask{{three, "8-9", 5, "0-2,4-5"}}},
		{"fewest left over where distances are alike", Compact, nil, []ask{{three, "8-9", 5, "0-2,10-11"}}},
		{"unevenly where one group has too little", Compact, nil, []ask{{"0-3@0+4-7@1", "0-2", 4, "4-7"}}},
		{"all that one group has, and the rest", Compact, nil, []ask{{"0-3@0+4-7@1", "0-2", 5, "3-7"}}},
		{"cores where the GPU is", Compact, nil,
			[]ask{{"0-1@0+2-3@1", "0-1", 1, "2"}, {"0-7@0+8-15@1", "", 4, "8-11"}}},
		{"both groups where the GPU's cores are taken", Compact, nil,
			[]ask{{"0-1@0+2-3@1", "0-1", 1, "2"}, {"0-7@0+8-15@1", "8-15", 4, "0-3"}}},
		{"more groups of cores than of GPUs", Compact, nil,
			[]ask{{"0-1@1", "", 2, "0-1"}, {"0-7@0+8-15@1+16-23@2", "", 16, "0-7,8-15"}}},
		{"labels behind numbers", Compact, nil, []ask{{"b,a,7@0", "", 2, "7,a"}}},
		{"slices of as few devices as possible", Compact, nil, []ask{{"0/0-3,1/0-3,2/0-3@0", "0/0-1,1/0", 3, "1/1-3"}}},
		{"slices of the device that is used most", Compact, nil, []ask{{"0/0-3,1/0-3,2/0-3@0", "1/0-2", 1, "1/3"}}},
		{"slices of two devices", Compact, nil, []ask{{"0/0-3,1/0-3,2/0-3@0", "1/0-2", 5, "0/0-3,1/3"}}},
		{"slices in the group in which they lie on one device", Compact, nil,
			[]ask{{"0/0-1,1/0-1@0+2/0-1@1", "0/0,1/0", 2, "2/0-1"}}},
		{"groups with gaps", Tight, nil, []ask{{"0,2@3+1,3@7", "", 3, "0-2"}}},
		{"more than eight groups: the one that is fullest and suffices", Compact, nil,
			[]ask{{"0-3@0+4-7@1+8-11@2+12-15@3+16-19@4+20-23@5+24-27@6+28-31@7+32-35@8", "0,20-21", 2, "22-23"}}},
		{"more than eight groups: two of them", Tight, nil,
			[]ask{{"0-1@0+2-3@1+4-5@2+6-7@3+8-9@4+10-11@5+12-13@6+14-15@7+16-17@8", "0,16", 3, "1,2-3"}}},
		{"more than there are", Compact, nil, []ask{{"0-1@0+2-3@1", "3", 4, "none"}}},
		{"nothing", Compact, nil, []ask{{"0-1@0+2-3@1", "", 0, ""}}},
	} {
		t.Run(c.policy.String()+" "+c.name, func(t *testing.T) {
			var wants []Want
			var sets []Set
			for _, a := range c.asks {
				s, w := want(t, a.set, a.taken, a.n)
				sets, wants = append(sets, s), append(wants, w)
			}
			got := Bind(c.policy, c.far, wants)
			for i, a := range c.asks {
				ids := "none"
				if got != nil {
					ids = FormatIDs(sets[i].IDs(got[i]))
				}
				wanted := a.want
				if list, err := ParseIDs(a.want); a.want != "none" && err == nil {
					wanted = FormatIDs(list)
				}
				if ids != wanted {
					t.Errorf("%d of %s without %q: %s, not %s", a.n, a.set, a.taken, ids, wanted)
				}
			}
		})
	}
}

// naive chooses groups exactly as Bind's comment says.
func naive(far Distances, sets []Set, wants []Want) []int {
	var numbers []int
	for _, s := range sets {
		for _, d := range s {
			if !slices.Contains(numbers, d.Group) {
				numbers = append(numbers, d.Group)
			}
		}
	}
	slices.Sort(numbers)
	var best, bestKey []int
	for m := 1; m < 1<<len(numbers); m++ {
		var in []int
		for i, n := range numbers {
			if m>>i&1 == 1 {
				in = append(in, n)
			}
		}
		key, enough := []int{len(in), 0, 0}, true
		for _, a := range in {
			for _, b := range in {
				key[1] += far.between(a, b)
			}
		}
		for w := range wants {
			free := 0
			for i := range wants[w].Free.Each {
				if slices.Contains(in, sets[w][i].Group) {
					free++
				}
			}
			enough = enough && free >= wants[w].Count
			key[2] += free - wants[w].Count
		}
		if key = append(key, in...); enough && (best == nil || slices.Compare(key, bestKey) < 0) {
			best, bestKey = in, key
		}
	}
	return best
}

// drawWants draws devices of one to three resources in up to 8 groups, or more.
func drawWants(t *rapid.T, most int) (sets []Set, wants []Want) {
	groups := rapid.IntRange(1, most).Draw(t, "groups")
	for range rapid.IntRange(1, 3).Draw(t, "resources") {
		var s Set
		for i := range rapid.IntRange(1, 40).Draw(t, "devices") {
			s = append(s, Device{ID: fmt.Sprint(i), Group: rapid.IntRange(0, groups-1).Draw(t, "group"),
				Drained: rapid.IntRange(0, 9).Draw(t, "drained") == 0})
		}
		l := s.Layout()
		free := l.InService()
		for i := range s {
			if rapid.IntRange(0, 2).Draw(t, "taken") == 0 {
				free = free.AndNot(Bits(nil).With(i))
			}
		}
		sets, wants = append(sets, s), append(wants, Want{l, free, rapid.IntRange(0, free.Count()).Draw(t, "count")})
	}
	return sets, wants
}

func drawFar(t *rapid.T) (far Distances) {
	if !rapid.Bool().Draw(t, "far") {
		return nil
	}
	for i := range 8 {
		far = append(far, make([]int, 8))
		for k := range far[i] {
			far[i][k] = rapid.SampledFrom([]int{10, 12, 20, 32}).Draw(t, "distance")
		}
	}
	return far
}

// Whatever is free, exactly the wanted number of devices is chosen from it. They come from the
// groups that a search of all sets finds, evenly or one group after the other, and from each
// group the lowest.
func TestBindAgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets, wants := drawWants(t, 8)
		far := drawFar(t)
		policy := rapid.SampledFrom([]Policy{Compact, Tight, Scatter}).Draw(t, "policy")
		got := Bind(policy, far, wants)
		chosen := naive(far, sets, wants)
		for w := range wants {
			checkChosen(t, sets[w], wants[w], got[w])
			if policy == Scatter {
				chosen = nil
				for _, d := range sets[w] {
					chosen = append(chosen, d.Group)
				}
			}
			used := make(map[int]int)
			for i := range got[w].Each {
				used[sets[w][i].Group]++
				if !slices.Contains(chosen, sets[w][i].Group) {
					t.Fatalf("device %d of group %d, and %v are best", i, sets[w][i].Group, chosen)
				}
			}
			checkShares(t, policy, sets[w], wants[w], chosen, used)
		}
	})
}

// checkChosen verifies that as many free devices were chosen as wanted, and of each group the
// lowest.
func checkChosen(t *rapid.T, s Set, w Want, got Bits) {
	if got.Count() != w.Count || len(got.AndNot(w.Free)) > 0 {
		t.Fatalf("%d chosen of %v: %v", w.Count, w.Free, got)
	}
	if len(got) > 0 && got[len(got)-1] == 0 {
		t.Fatalf("%v has a zero word at its end", got)
	}
	for i := range got.Each {
		for k := range i {
			if s[k].Group == s[i].Group && w.Free.Has(k) && !got.Has(k) {
				t.Fatalf("device %d was chosen, and not %d of the same group", i, k)
			}
		}
	}
}

// checkShares verifies how many devices come from each group. With tight, only the last group
// used has some left; otherwise no group with some left gives two fewer than another.
func checkShares(t *rapid.T, policy Policy, s Set, w Want, chosen []int, used map[int]int) {
	free := make(map[int]int)
	for i := range w.Free.Each {
		free[s[i].Group]++
	}
	for _, a := range chosen {
		for _, b := range chosen {
			switch {
			case policy == Tight && a < b && used[b] > 0 && used[a] < free[a]:
				t.Fatalf("group %d is used before %d is full", b, a)
			case policy != Tight && used[a] < free[a] && used[b] > used[a]+1:
				t.Fatalf("%d come from group %d and %d from %d", used[a], a, used[b], b)
			}
		}
	}
}

// With more than 8 groups the choice is good, but not always the best. It is still complete,
// and uses no more than one group if one is enough.
func TestBindGreedily(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets, wants := drawWants(t, 12)
		got := Bind(Tight, drawFar(t), wants)
		groups := make(map[int]bool)
		for w := range wants {
			if got[w].Count() != wants[w].Count || len(got[w].AndNot(wants[w].Free)) > 0 {
				t.Fatalf("%d chosen of %v: %v", wants[w].Count, wants[w].Free, got[w])
			}
			for i := range got[w].Each {
				groups[sets[w][i].Group] = true
			}
		}
		if best := naive(nil, sets, wants); len(best) == 1 && len(groups) > 1 {
			t.Fatalf("%d groups where one suffices", len(groups))
		}
	})
}

// Slices come from as few devices as their group allows.
func TestBindSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ids []string
		for d := range rapid.IntRange(1, 5).Draw(t, "devices") {
			for i := range rapid.IntRange(1, 7).Draw(t, "slices") {
				ids = append(ids, fmt.Sprintf("%d/%d", d, i))
			}
		}
		s, err := Parse(strings.Join(ids, ",") + "@0")
		if err != nil {
			t.Fatal(err)
		}
		l := s.Layout()
		free := l.InService()
		for i := range s {
			if rapid.IntRange(0, 2).Draw(t, "taken") == 0 {
				free = free.AndNot(Bits(nil).With(i))
			}
		}
		n := rapid.IntRange(0, free.Count()).Draw(t, "n")
		got := Bind(Compact, nil, []Want{{l, free, n}})[0]
		if got.Count() != n || len(got.AndNot(free)) > 0 {
			t.Fatalf("%d of %v: %v", n, free, got)
		}
		used, most := make(map[string]bool), make(map[string]int)
		for i := range got.Each {
			used[parent(s[i].ID)] = true
		}
		var counts []int
		for i := range free.Each {
			most[parent(s[i].ID)]++
		}
		for _, c := range most {
			counts = append(counts, c)
		}
		slices.SortFunc(counts, func(a, b int) int { return cmp.Compare(b, a) })
		least := 0
		for sum := 0; sum < n; least++ {
			sum += counts[least]
		}
		if len(used) != least {
			t.Fatalf("%d slices on %d devices; %d have enough", n, len(used), least)
		}
	})
}

func BenchmarkBind(b *testing.B) {
	for _, groups := range []int{1, 2, 4, 8, 16} {
		var gpus, cores []string
		for g := range groups {
			gpus = append(gpus, fmt.Sprintf("%d-%d@%d", g*4, g*4+3, g))
			cores = append(cores, fmt.Sprintf("%d-%d@%d", g*16, g*16+15, g))
		}
		_, gpu := want(b, strings.Join(gpus, "+"), "0,2", min(6, 4*groups-2))
		_, core := want(b, strings.Join(cores, "+"), "0-7", 16*groups/2)
		for _, w := range [][]Want{{gpu}, {gpu, core}} {
			b.Run(fmt.Sprintf("groups=%d/resources=%d", groups, len(w)), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					if Bind(Compact, nil, w) == nil {
						b.Fatal("none")
					}
				}
			})
		}
	}
}
