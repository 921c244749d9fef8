package output

import (
	"strings"
	"testing"
	"time"
)

// grouped is one object to programs, and a word to people.
type grouped string

func (g grouped) String() string { return "people: " + string(g) }

func (g grouped) Objects() Objects {
	f := new(Record)
	f.Must("is", Text, string(g))
	f.Add("at", Time, OrNil(time.Time{}))
	return f.Object()
}

// TestObjects: each key is there, null without a value; lists are never null; instants are in UTC; and rows of csv
// have the same JSON.
func TestObjects(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	some := Fields[int]{{Name: "n", Kind: Integer, Value: func(i int) any { return i }},
		{Name: "at", Kind: Time, Value: func(int) any { return at }},
		{Name: "of", Kind: Object, Value: func(int) any { return []int64(nil) }},
		{Name: "said", Value: func(int) any { return "<\xff>" }}}
	for want, v := range map[string]any{
		`[{"n":0,"at":"2026-01-02T02:04:05Z","of":[],"said":"<\udcff>"}]`: ObjectsOf(some, 1),
		`[]`:                    ObjectsOf(some, 0),
		`{"is":"x","at":null}`:  grouped("x"),
		`{"a":[1,2],"b":[]}`:    map[string][]int{"b": {}, "a": {1, 2}},
		`{"a":[{"n":0,"at":"2`:  map[string]Objects{"a": ObjectsOf(some, 1)},
		`"not to be written as`: make(chan int),
	} {
		if got := string(appendJSONValue(nil, v, Object)); !strings.HasPrefix(got, want) {
			t.Errorf("%#v as JSON is %s, want %s", v, got, want)
		}
		if got := string(appendMachine(nil, v, Object)); got != string(appendJSONValue(nil, v, Object)) &&
			v != any(grouped("x")) {
			t.Errorf("%#v in a row is %s", v, got)
		}
	}
	if got := string(new(Printer).AppendHuman(nil, Column{Kind: Object}, grouped("x"))); got != "people: x" {
		t.Errorf("people read %s", got)
	}
}
