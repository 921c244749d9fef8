package devices

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Named reports whether a value of a resource names devices: it has an @. A value without one
// is a count.
func Named(text string) bool { return strings.Contains(text, "@") }

// Parse reads 0-1@0+2-3@1: identities separated by commas, with ranges of numbers, and their
// group after an @; groups are separated by +. The last part of a slice may be a range: 3/0-3.
func Parse(text string) (Set, error) {
	var out Set
	for part := range strings.SplitSeq(text, "+") {
		list, group, ok := strings.Cut(part, "@")
		if !ok {
			return nil, fmt.Errorf("%q names no group: write %s@0, as in 0-1@0+2-3@1", part, part)
		}
		g, ok := parseNumber(group)
		if !ok || g > MaxGroup {
			return nil, fmt.Errorf("%q is not a group of devices: write a number from 0 to %d, as in 0-1@0+2-3@1",
				group, MaxGroup)
		}
		var err error
		if out, err = appendList(out, list, g); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Device) int { return CompareIDs(a.ID, b.ID) })
	return out, out.Check()
}

// ParseIDs reads a list of identities without groups, such as 0,2-3: each once, in order.
func ParseIDs(text string) ([]string, error) {
	set, err := appendList(nil, text, 0)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(set, func(a, b Device) int { return CompareIDs(a.ID, b.ID) })
	if err := set.Check(); err != nil {
		return nil, err
	}
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].ID
	}
	return out, nil
}

// Name gives the devices of a set the identities that FormatIDs has written.
func (s Set) Name(text string) error {
	named, err := appendList(make(Set, 0, len(s)), text, 0)
	if err != nil || len(named) != len(s) {
		return fmt.Errorf("%q does not name %d devices", text, len(s))
	}
	for i := range s {
		s[i].ID = named[i].ID
	}
	return nil
}

// appendList reads the identities of a group.
func appendList(out Set, list string, group int) (Set, error) {
	for item := range strings.SplitSeq(list, ",") {
		base, slice, cut := strings.Cut(item, "/")
		if !cut {
			slice = base
		}
		from, to, ranged := strings.Cut(slice, "-")
		first, ok1 := parseNumber(from)
		last, ok2 := parseNumber(to)
		if !ranged || !ok1 || !ok2 {
			if ranged {
				return nil, fmt.Errorf("%q is not a range of devices: write 0-3", item)
			}
			if _, err := parseID(item); err != nil {
				return nil, err
			}
			first, last = 0, 0
		}
		if last < first || len(out)+last-first >= MaxDevices {
			return nil, fmt.Errorf("the range %q: a resource of a node has from 1 to %d devices", item, MaxDevices)
		}
		for n := first; n <= last; n++ {
			id := item
			switch {
			case ranged && cut:
				id = base + "/" + strconv.Itoa(n)
			case ranged:
				id = strconv.Itoa(n)
			}
			out = append(out, Device{ID: id, Group: group})
		}
	}
	return out, nil
}

// String writes the set as Parse reads it: its identities and groups, and nothing else.
func (s Set) String() string {
	var groups []int
	for i := range s {
		if !slices.Contains(groups, s[i].Group) {
			groups = append(groups, s[i].Group)
		}
	}
	slices.Sort(groups)
	var b strings.Builder
	var ids []string
	for i, g := range groups {
		if ids = ids[:0]; i > 0 {
			b.WriteByte('+')
		}
		for k := range s {
			if s[k].Group == g {
				ids = append(ids, s[k].ID)
			}
		}
		b.WriteString(FormatIDs(ids))
		b.WriteByte('@')
		b.WriteString(strconv.Itoa(g))
	}
	return b.String()
}

// FormatIDs writes sorted identities as 0,2-3, with consecutive numbers as a range.
func FormatIDs(ids []string) string {
	var b strings.Builder
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && follows(ids[last], ids[last+1]) {
			last++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(ids[i])
		if last > i {
			_, slice, cut := strings.Cut(ids[last], "/")
			if !cut {
				slice = ids[last]
			}
			b.WriteByte('-')
			b.WriteString(slice)
		}
		i = last + 1
	}
	return b.String()
}

// follows reports whether b comes right after a: 3 after 2, or 4/1 after 4/0.
func follows(a, b string) bool {
	x, _ := parseID(a)
	y, _ := parseID(b)
	if x.slice >= 0 {
		return x.label == y.label && x.number == y.number && y.slice == x.slice+1
	}
	return x.label == "" && y.label == "" && y.slice < 0 && y.number == x.number+1
}
