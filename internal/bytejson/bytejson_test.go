package bytejson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type inner struct{ In string }

type value struct {
	inner
	S    string
	L    []string
	P    *value
	M    map[string]any
	A    any
	B    []byte
	Raw  json.RawMessage
	Last [2]inner
	kept string // an unexported field is not written, and not changed
}

// TestRoundTrip: what was written is read back byte for byte, also within lines of others, and the JSON is
// UTF-8. The input does not change.
func TestRoundTrip(t *testing.T) {
	str := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
		return string(b)
	}),
		rapid.SampledFrom([]string{"caf\xe9", "\x00", "\x00e9\xe9", `\udce9`, `\\u0000`, "\U0001F600\xe9", "\ufffd\xff",
			"\xed\xb3\xa9", "<&>\x80"}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func() string { return str.Draw(t, "s") }
		v := &value{S: draw(), L: []string{draw(), draw()}, P: &value{S: draw(), inner: inner{draw()},
			Raw: json.RawMessage(`1`)}, M: map[string]any{draw(): draw(), "n": nil},
			A: []any{draw(), 1.5, map[string]any{draw(): draw()}}, B: []byte(draw()),
			Last: [2]inner{{draw()}, {draw()}}, kept: "here"}
		var err error
		if v.Raw, err = Marshal(draw()); err != nil {
			t.Fatal(err)
		}
		want := *v
		want.L, want.Raw = append([]string(nil), v.L...), bytes.Clone(v.Raw)
		text, err := Marshal(v)
		if err != nil || !json.Valid(text) || !bytes.Equal(text, []byte(strings.ToValidUTF8(string(text), "?"))) {
			t.Fatalf("Marshal(%+v) = %q, %v, want valid UTF-8 JSON", v, text, err)
		}
		if diff := cmp.Diff(&want, v, cmp.AllowUnexported(value{})); diff != "" {
			t.Fatalf("Marshal has changed its argument: %s", diff)
		}
		back, d := new(value), json.NewDecoder(strings.NewReader(string(text)+"\n"+string(text)))
		if err := d.Decode(new(value)); err != nil {
			t.Fatal(err)
		}
		err = Decode(d, back)
		want.kept, want.Raw = "", v.Raw
		if err != nil || !reflect.DeepEqual(&want, back) {
			t.Fatalf("Decode(%s): %v (-want +got):\n%s", text, err, cmp.Diff(&want, back, cmp.AllowUnexported(value{})))
		}
	})
}

// TestForm: the form of the JSON, and how JSON of others is read.
func TestForm(t *testing.T) {
	for s, want := range map[string]string{
		"caf\xe9":        `"caf\udce9"`,
		"café <b>":       `"café <b>"`,
		"\xe2\x82":       `"\udce2\udc82"`,
		"\ufffd":         "\"\ufffd\"",
		"\x00\xff\n\\u":  `"\u0000\udcff\n\\u"`,
		"\xed\xb3\xa9":   `"\udced\udcb3\udca9"`,
		"\U0001F600\x80": "\"\U0001F600\\udc80\"",
	} {
		if got, err := Marshal(s); string(got) != want || err != nil {
			t.Errorf("Marshal(%q) = %s, %v, want %s", s, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`"\uD83D\uDE00"`: "\U0001F600", `"\uDCE9\udcfF"`: "\xe9\xff", `"\udc41"`: "\ufffd", `"\ud83d"`: "\ufffd",
		`"\ud83d\udce9"`: "\U0001f4e9",
		`"\\udce9\\"`:    `\udce9\`, `"\u0000e9"`: "\x00e9", `"\u0000e9\udce9"`: "\x00e9\xe9",
		`"\ud83d\n\udce9"`: "\ufffd\n\xe9", "\"\xe9\"": "\ufffd",
	} {
		var got string
		if err := Unmarshal([]byte(text), &got); got != want || err != nil {
			t.Errorf("Unmarshal(%s) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`"\ud`, `"\udce9`, `\udc80`, `\`, `"\udce9" 1`} {
		if err := Unmarshal([]byte(text), new(string)); err == nil {
			t.Errorf("Unmarshal(%s) succeeds, want an error", text)
		}
	}
}
