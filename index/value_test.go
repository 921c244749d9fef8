package index

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64 // kb
	}{
		{"0", 0}, {"0gb", 0}, {"1", 1}, {"1b", 1}, {"1023", 1}, {"1024", 1}, {"1025", 2},
		{"1w", 1}, {"128w", 1}, {"129w", 2}, {"1kw", 8}, {"2MW", 16 << 10},
		{"1k", 1}, {"1kb", 1}, {"512mb", 512 << 10}, {"8gb", 8 << 20}, {"8G", 8 << 20}, {"1Tb", 1 << 30},
		{"3p", 3 << 40},
		{"9223372036854775807", 1 << 53}, {"9223372036854775807kb", math.MaxInt64}, {"8388607pb", 8388607 << 40},
		{"1152921504606846975kw", 9223372036854775800}, {"00008gb", 8 << 20},
	} {
		if got, err := ParseSize(c.in); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.in, got, err, c.want)
		}
		if got, err := ParseSizeLoose(c.in); err != nil || got != c.want {
			t.Errorf("%s, loosely: %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", "gb", "-1", "+1", "1.5gb", "1 gb", "1gib", "1e3", "1bb", "1kbb", "1x", "1eb", "0x10", "1_0", "1\u212a", "１",
		"9223372036854775808", "9223372036854775807mb", "8388608pb", "16777216pw", "18446744073709551616kb",
	} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}

func TestParseSizeLoose(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"1.5GiB", 3 << 19}, {"1.5g", 3 << 19}, {"4 TiB", 4 << 30}, {"4   gb", 4 << 20}, {" 1 kb ", 1}, {"1KiB", 1},
		{"0.1g", 104858}, {".5k", 1}, {"1.5", 1}, {"1024.5", 2}, {"0.0001", 1}, {"2.5kw", 20}, {"10 MIB", 10 << 10},
		{"0.0gb", 0},
	} {
		if got, err := ParseSizeLoose(c.in); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", " ", "GiB", "1 2gb", "1g b", "1..5g", "1.5.g", "5.g", "5ib", "1ik", "1e3k", "0x1p3k", "inf", "nan", "-1.5g",
		"+1.5g", "1_0.5k",
		"1,5g", "8388608.5p", "9e99p", strings.Repeat("9", 400) + ".5k",
	} {
		if got, err := ParseSizeLoose(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for kb, want := range map[int64]string{
		0: "0kb", 1: "1kb", 1023: "1023kb", 1024: "1mb", 1536: "1536kb", 3 << 19: "1536mb", 8 << 20: "8gb",
		1 << 30: "1tb", 1 << 40: "1pb", 5 << 50: "5120pb",
	} {
		if got := FormatSize(kb); got != want {
			t.Errorf("%d: %s, want %s", kb, got, want)
		}
	}
}

// TestFormatRoundTrip writes values and reads them back.
func TestFormatRoundTrip(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(0, 4096),
		rapid.Map(rapid.IntRange(0, 62), func(n int) int64 { return 1 << n }))
	rapid.Check(t, func(t *rapid.T) {
		def := Def{Name: "r", Type: Type(rapid.IntRange(int(Long), int(StringArray)).Draw(t, "type"))}
		var v Value
		switch def.Type {
		case Boolean:
			v.Num = rapid.Int64Range(0, 1).Draw(t, "value")
		case String:
			v.Str = rapid.StringN(1, 20, -1).Draw(t, "value")
		case StringArray:
			v.Str = strings.Join(rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 1, 5, rapid.ID).Draw(t,
				"value"), ",")
		case Float:
			v.Num = amount.Draw(t, "value") % (maxFloat*floatUnit + 1)
		default:
			v.Num = amount.Draw(t, "value")
		}
		text := def.Format(v)
		for _, parse := range []func(string) (Value, error){def.ParseValue, def.ParseLoose} {
			if got, err := parse(text); err != nil || got != v {
				t.Fatalf("%v is written %s and read as %v (%v)", v, text, got, err)
			}
		}
	})
}

func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		typ   Type
		in    string
		want  Value
		loose bool // readable by ParseLoose alone
	}{
		{Long, "0", Value{}, false},
		{Long, "007", Value{Num: 7}, false},
		{Long, "9223372036854775807", Value{Num: math.MaxInt64}, false},
		{Long, "2.0", Value{Num: 2}, true},
		{Long, "2.", Value{Num: 2}, true},
		{Size, "1.5GiB", Value{Num: 3 << 19}, false},
		{Size, "8gib", Value{Num: 8 << 20}, false},
		{Size, "1.5gb", Value{Num: 3 << 19}, true},
		{Float, "1.5", Value{Num: 1_500_000}, false},
		{Float, "0.0000005", Value{Num: 1}, false},
		{Float, "9007199254", Value{Num: 9007199254_000_000}, false},
		{Float, "9007199253.999999", Value{Num: 9007199253_999_999}, false},
		{Float, "1e3", Value{Num: 1_000_000_000}, false},
		{Boolean, "T", Value{Num: 1}, false},
		{Boolean, "false", Value{}, false},
		{Boolean, "yes", Value{Num: 1}, true},
		{Boolean, "OFF", Value{}, true},
		{String, "a b,c", Value{Str: "a b,c"}, false},
		{StringArray, "b, a,b,,a", Value{Str: "b,a"}, false},
	} {
		def := Def{Name: "r", Type: c.typ}
		if got, err := def.ParseValue(c.in); c.loose == (err == nil) || !c.loose && got != c.want {
			t.Errorf("%s %q: %v, %v", c.typ, c.in, got, err)
		}
		if got, err := def.ParseLoose(c.in); err != nil || got != c.want {
			t.Errorf("%s %q, loosely: %v, %v; want %v", c.typ, c.in, got, err, c.want)
		}
	}
	for typ, bad := range map[Type][]string{
		Long:        {"", "-1", "+1", "1.5", ".0", "1k", "9223372036854775808", "१"},
		Float:       {"", ".", "-0.1", "nan", "inf", "1e10", "9007199254.000001", "9223372036854.775808", "1,5"},
		Boolean:     {"", "tRUE", "2", "maybe"},
		String:      {""},
		StringArray: {""},
	} {
		for _, in := range bad {
			if got, err := (Def{Name: "r", Type: typ}).ParseLoose(in); err == nil {
				t.Errorf("%s %q is %v", typ, in, got)
			}
		}
	}
}

func TestMembers(t *testing.T) {
	v := Value{Str: "red,green"}
	if m := v.Members(); len(m) != 2 || m[1] != "green" || (Value{}).Members() != nil {
		t.Errorf("%q", m)
	}
}
