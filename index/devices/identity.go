package devices

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// identity is an identity in its parts.
type identity struct {
	label  string // "" if it is a number
	number int
	slice  int // -1 for a whole device
}

// parseID reads an identity: a number, a label that begins with a letter, or a slice of
// either.
func parseID(s string) (identity, error) {
	base, slice, cut := strings.Cut(s, "/")
	id := identity{slice: -1}
	if len(s) > maxID {
		return id, fmt.Errorf("the device %q has %d bytes; at most %d are kept", s[:maxID]+"...", len(s), maxID)
	}
	if cut {
		n, ok := parseNumber(slice)
		if !ok || n >= MaxSlices {
			return id, fmt.Errorf("%q is not a slice of a device: write 3/0, up to 3/%d", s, MaxSlices-1)
		}
		id.slice = n
	}
	if n, ok := parseNumber(base); ok {
		id.number = n
		return id, nil
	}
	id.label = base
	if !isLabel(base) {
		return id, fmt.Errorf("%q is not a device: use a number without leading zeros, or a label of letters, "+
			"digits, . and _ that begins with a letter", s)
	}
	return id, nil
}

func parseNumber(s string) (int, bool) {
	if s == "" || len(s) > len("999999999") || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func isLabel(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || !(s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == '_')) {
			return false
		}
	}
	return s != ""
}

// CompareIDs orders identities: numbers by value, then labels; a device before its slices.
func CompareIDs(a, b string) int {
	x, _ := parseID(a)
	y, _ := parseID(b)
	return cmp.Or(cmp.Compare(x.label, y.label), cmp.Compare(x.number, y.number), cmp.Compare(x.slice, y.slice))
}

// parent returns the device that a slice belongs to, or "" if id is no slice.
func parent(id string) string {
	base, _, cut := strings.Cut(id, "/")
	if !cut {
		return ""
	}
	return base
}
