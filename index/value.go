package index

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Value is one value of a resource; the Def says how to read it. Numbers are in Num: long,
// size in kb, float in millionths, boolean as 0 or 1. Words are in Str; a string_array's
// members are separated by commas, in the given order, each once.
type Value struct {
	Num int64
	Str string
}

// floatUnit is how one unit of a float resource is stored.
const floatUnit = 1_000_000

// maxFloat keeps millionths within what a float64 holds exactly.
const maxFloat = 1 << 53 / floatUnit

// Members splits a string_array's value.
func (v Value) Members() []string {
	if v.Str == "" {
		return nil
	}
	return strings.Split(v.Str, ",")
}

// ParseValue reads a value as a select has it. That is a whole number for long, a word of PBS
// for boolean, and for size 8gb, 512m, 1kw or plain bytes as in PBS, or an IEC unit (8GiB,
// 1.5TiB).
func (d Def) ParseValue(s string) (Value, error) {
	switch d.Type {
	case Long:
		n, err := parseLong(s)
		return Value{Num: n}, err
	case Size:
		n, err := ParseSize(s)
		if err != nil && hasIECUnit(s) {
			n, err = ParseSizeLoose(s)
		}
		return Value{Num: n}, err
	case Float:
		n, err := parseFloat(s)
		return Value{Num: n}, err
	case Boolean:
		b, err := parseBool(s)
		return Value{Num: b}, err
	}
	if s == "" {
		return Value{}, fmt.Errorf("%s needs a value", d.Name)
	}
	if d.Type == StringArray {
		return Value{Str: joinMembers(strings.Split(s, ","))}, nil
	}
	return Value{Str: s}, nil
}

// ParseLoose reads a value as options and node files have it. Besides what ParseValue reads,
// it accepts fractional and IEC sizes (1.5GiB), whole numbers with a zero fraction (2.0), and
// yes, no, on, off.
func (d Def) ParseLoose(s string) (Value, error) {
	switch d.Type {
	case Long:
		if whole, frac, ok := strings.Cut(s, "."); ok && whole != "" && strings.Trim(frac, "0") == "" {
			s = whole
		}
	case Size:
		n, err := ParseSizeLoose(s)
		return Value{Num: n}, err
	case Boolean:
		switch strings.ToLower(s) {
		case "yes", "on":
			return Value{Num: 1}, nil
		case "no", "off":
			return Value{}, nil
		}
	}
	return d.ParseValue(s)
}

// Format writes a value so that ParseValue reads it back.
func (d Def) Format(v Value) string {
	switch d.Type {
	case Long:
		return strconv.FormatInt(v.Num, 10)
	case Size:
		return FormatSize(v.Num)
	case Float:
		return formatFloat(v.Num)
	case Boolean:
		if v.Num != 0 {
			return "True"
		}
		return "False"
	}
	return v.Str
}

// Units returns what query results and JSON show: bytes for a size, the number itself for long
// and float.
func (d Def) Units(v Value) float64 {
	switch d.Type {
	case Size:
		return float64(v.Num) * 1024
	case Float:
		return float64(v.Num) / floatUnit
	}
	return float64(v.Num)
}

func joinMembers(members []string) string {
	var out []string
	for _, m := range members {
		if m = strings.TrimSpace(m); m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return strings.Join(out, ",")
}

func parseLong(s string) (int64, error) {
	n, err := parseDigits(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of 0 or more", s)
	}
	return n, nil
}

// parseDigits reads digits only: no sign, no spaces, no overflow.
func parseDigits(s string) (int64, error) {
	if s == "" {
		return 0, strconv.ErrSyntax
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseInt(s, 10, 64)
}

// parseFloat reads decimals exactly, up to a millionth; other notations (1e3) and finer
// decimals are rounded.
func parseFloat(s string) (int64, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) <= 6 {
		n, err := parseDigits(whole + frac + "000000"[len(frac):])
		if err == nil && whole != "" && n <= maxFloat*floatUnit {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > maxFloat {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", s, int64(maxFloat))
	}
	return int64(math.Round(f * floatUnit)), nil
}

// formatFloat writes millionths as a decimal without zeros at its end.
func formatFloat(n int64) string {
	s := strconv.FormatInt(n/floatUnit, 10)
	if frac := n % floatUnit; frac != 0 {
		s += strings.TrimRight("."+pad(frac, 6), "0")
	}
	return s
}

func parseBool(s string) (int64, error) {
	switch s {
	case "True", "TRUE", "true", "T", "t", "Y", "y", "1":
		return 1, nil
	case "False", "FALSE", "false", "F", "f", "N", "n", "0":
		return 0, nil
	}
	return 0, fmt.Errorf("%q is neither True nor False", s)
}

// ParseSize reads a size as PBS writes it: digits, then k, m, g, t or p in any
// case, then b for bytes or w for words of 8 bytes. Steps are 1024; a bare
// number is bytes. The result is in kb, rounded up.
func ParseSize(s string) (int64, error) {
	digits, shift, word, ok := splitSize(s)
	n, err := parseDigits(digits)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a size such as 512mb, 8gb or 100kw", s)
	}
	if word {
		shift += 3
	}
	hi, lo := bits.Mul64(uint64(n), 1<<shift)
	lo, carry := bits.Add64(lo, 1023, 0)
	hi += carry
	if hi >= 1024 || hi<<54|lo>>10 > math.MaxInt64 {
		return 0, fmt.Errorf("the size %q is too large", s)
	}
	return int64(hi<<54 | lo>>10), nil
}

// hasIECUnit reports whether a size ends as no PBS size does: in KiB, MiB, GiB and so on, in
// any case.
func hasIECUnit(s string) bool { return len(s) > 3 && strings.EqualFold(s[len(s)-2:], "ib") }

// BareSize reports whether a size is a number without a unit, so that the unit is unclear. 0
// is the same in all units.
func BareSize(s string) bool {
	s = strings.TrimSpace(s)
	return strings.Trim(s, "0123456789.") == "" && strings.ContainsAny(s, "123456789")
}

// splitSize splits the unit from a size. It returns the power of two that the unit stands for,
// and whether it counts words.
func splitSize(s string) (digits string, shift uint, word, ok bool) {
	end := len(s)
	for end > 0 && (s[end-1] < '0' || s[end-1] > '9') {
		end--
	}
	unit := s[end:]
	if n := len(unit); n > 0 && (unit[n-1]|0x20 == 'b' || unit[n-1]|0x20 == 'w') {
		word, unit = unit[n-1]|0x20 == 'w', unit[:n-1]
	}
	if unit == "" {
		return s[:end], 0, word, true
	}
	i := strings.IndexByte("kmgtp", unit[0]|0x20)
	return s[:end], uint(10 * (i + 1)), word, len(unit) == 1 && i >= 0
}

// ParseSizeLoose reads what ParseSize reads, and also fractions (1.5g) and IEC units (1.5GiB,
// 4 TiB). The result is in kb, rounded up.
func ParseSizeLoose(s string) (int64, error) {
	if n, err := ParseSize(s); err == nil {
		return n, nil
	}
	t := strings.ToLower(strings.TrimSpace(s))
	end := strings.LastIndexAny(t, "0123456789") + 1
	unit := strings.TrimLeft(t[end:], " ")
	if len(unit) == 3 && unit[1:] == "ib" {
		unit = unit[:1] + "b"
	}
	digits, shift, word, ok := splitSize(t[:end] + unit)
	f, err := strconv.ParseFloat(digits, 64)
	if word {
		shift += 3
	}
	kb := math.Ceil(math.Ldexp(f, int(shift)-10))
	if !ok || err != nil || strings.ContainsAny(digits, "eExXpP+-_nN") || kb >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size such as 512mb, 8gb or 1.5GiB", s)
	}
	return int64(kb), nil
}

// FormatSize writes kb with the largest unit that keeps it whole: 8gb, 1536mb.
func FormatSize(kb int64) string {
	unit := 0
	for unit < 4 && kb != 0 && kb%1024 == 0 {
		kb, unit = kb/1024, unit+1
	}
	return strconv.FormatInt(kb, 10) + string("kmgtp"[unit]) + "b"
}
