package fairshare

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ours(t *testing.T) *Settings {
	t.Helper()
	s := new(Settings)
	for _, err := range []error{
		s.SetClassLoads([]ClassLoad{{"prod", 60}, {"test", 30}, {"misc", 10}}),
		s.SetRequestorMap([]Mapping{{"prod", "^ops-"}, {"test", "ci|nightly"}, {"prod", "release"}}),
		s.SetDefaultClass("test"),
		s.SetRebalanceThreshold(20),
		s.SetRebalanceMinimumDuration(240),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSettings(t *testing.T) {
	s := ours(t)
	want := &Settings{
		Loads:     []ClassLoad{{"prod", 60}, {"test", 30}, {"misc", 10}},
		Map:       []Mapping{{"prod", "^ops-"}, {"test", "ci|nightly"}, {"prod", "release"}},
		Default:   "test",
		Rebalance: Rebalance{Threshold: 20, MinDuration: 240},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	got := &Settings{Loads: s.ClassLoads(), Map: s.RequestorMap(), Default: s.DefaultClass(),
		Rebalance: Rebalance{s.RebalanceThreshold(), s.RebalanceMinimumDuration()}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s.ClassLoads()[0].Load = 1
	s.RequestorMap()[0].Class = "misc"
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("what was returned is not a copy:\n%s", diff)
	}
	if classes, places := s.NewClasses(); len(classes) != 3 || places["misc"] != 2 || classes[2].Name != "misc" ||
		classes[2].Load != 10 {
		t.Errorf("%+v %v", classes, places)
	}
	if err := new(Settings).Check(); err != nil {
		t.Errorf("nothing set: %v", err)
	}
}

func TestRefusedSettings(t *testing.T) {
	loads := func(l ...ClassLoad) func(*Settings) error {
		return func(s *Settings) error { return s.SetClassLoads(l) }
	}
	maps := func(re string) func(*Settings) error {
		return func(s *Settings) error { return s.SetRequestorMap([]Mapping{{"prod", "fine"}, {"test", re}}) }
	}
	for _, c := range []struct {
		set func(*Settings) error
		why string
	}{
		{loads(), "class loads: there are none"},
		{loads(ClassLoad{"prod", 0}, ClassLoad{"test", 0}), "expected at least one above 0"},
		{loads(ClassLoad{"prod", -1}), `class loads, entry 1: class "prod": a load of -1: expected 0 to`},
		{loads(ClassLoad{"prod", 1}, ClassLoad{"prod", 2}), `class loads, entry 2: class "prod" has a load already`},
		{loads(ClassLoad{"", 1}), "without a name"},
		{loads(ClassLoad{"a b", 1}), `class loads, entry 1 "a b": a name with ' ' in it`},
		{loads(ClassLoad{"a=b", 1}), `'='`},
		{loads(ClassLoad{"a\x00", 1}), `\x00`},
		{loads(ClassLoad{"a\xff", 1}), "a name with"},
		{loads(ClassLoad{strings.Repeat("a", 256), 1}), "256 bytes"},
		{loads(make([]ClassLoad, MaxClasses+1)...), "there are 4097"},
		{loads(ClassLoad{"prod", 1}), `default class "test": there is no such class: expected one of prod`},
		{loads(ClassLoad{"test", 1}), `requestor map, entry 1 "prod": there is no such class: expected one of test`},
		{maps("a(b"), `requestor map, entry 2 "a(b", at byte 4: missing closing )`},
		{maps("a)b"), `requestor map, entry 2 "a)b", at byte 2: unexpected )`},
		{maps("ab[c"), `requestor map, entry 2 "ab[c", at byte 3: missing closing ]: expected`},
		{maps("x**"), `, at byte 2: invalid nested repetition operator`},
		{maps("*"), `, at byte 1: missing argument to repetition operator: expected something in front`},
		{maps("abc(?!d)"), `, at byte 4: invalid or unsupported Perl syntax: expected RE2`},
		{maps(`ab\`), `at byte 3: trailing backslash`},
		{maps(`a\q`), `at byte 2: invalid escape sequence`},
		{maps(`a\1`), `at byte 2: invalid escape sequence`},
		{maps(`[z-a]`), `at byte 2: invalid character class range`},
		{maps(`a{2000}`), `at byte 2: invalid repeat count`},
		{maps(`a\q\q`), `"a\\q\\q", at byte 2: invalid escape sequence`},
		{maps(strings.Repeat("(", 1001) + strings.Repeat(")", 1001)), `: expression nests too deeply`},
		{maps(""), "an empty expression"},
		{maps(strings.Repeat("a", MaxRegexp+1)), "4097 bytes"},
		{func(s *Settings) error { return s.SetRequestorMap([]Mapping{{"nope", "x"}}) },
			`requestor map, entry 1 "nope": there is no such class: expected one of prod, test, misc`},
		{func(s *Settings) error { return s.SetRequestorMap(make([]Mapping, MaxMappings+1)) }, "4097 entries"},
		{func(s *Settings) error { return s.SetDefaultClass("nope") }, `default class "nope": there is no such class`},
		{func(s *Settings) error { return s.SetRebalanceThreshold(-1) },
			"rebalance threshold: a rebalance threshold of -1"},
		{func(s *Settings) error { return s.SetRebalanceThreshold(201) }, "expected 0 to 200 percentage points"},
		{func(s *Settings) error { return s.SetRebalanceMinimumDuration(-1) }, "rebalance minimum duration: a"},
	} {
		s, before := ours(t), ours(t)
		err := c.set(s)
		var typed *SettingError
		if !errors.Is(err, ErrSetting) || !errors.As(err, &typed) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("expected %s\ngot %v", c.why, err)
		}
		if diff := cmp.Diff(before, s); diff != "" {
			t.Errorf("%s, yet:\n%s", c.why, diff)
		}
	}
}

// An error about missing classes does not name all if there are many.
func TestMissingClass(t *testing.T) {
	var s Settings
	if err := s.SetDefaultClass("x"); err == nil ||
		!strings.Contains(err.Error(), "expected class loads to be set first") {
		t.Error(err)
	}
	for _, name := range strings.Split("abcdefghij", "") {
		s.Loads = append(s.Loads, ClassLoad{name, 1})
	}
	if err := s.SetDefaultClass("x"); err == nil ||
		!strings.HasSuffix(err.Error(), "one of a, b, c, d, e, f, g, h, ...") {
		t.Error(err)
	}
}

func TestMatcher(t *testing.T) {
	m, err := ours(t).Matcher()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		requestor, class string
		matched          bool
	}{
		{"ops-web", "prod", true},
		{"devops-web", "test", false},
		{"ops-ci", "prod", true}, // the first that matches
		{"my-nightly", "test", true},
		{"release-ci", "test", true},
		{"release", "prod", true},
		{"", "test", false},
	} {
		if class, matched := m.Class(c.requestor); class != c.class || matched != c.matched {
			t.Errorf("%q: %s %v", c.requestor, class, matched)
		}
	}
}

// Without a default, what matches nothing is in the last class.
func TestLeastClass(t *testing.T) {
	for want, loads := range map[string][]ClassLoad{
		"misc": {{"prod", 60}, {"misc", 10}, {"test", 30}},
		"b":    {{"a", 5}, {"b", 5}},
		"c":    {{"c", 5}, {"b", 5}, {"d", 6}},
		"":     nil,
	} {
		m, err := (&Settings{Loads: loads}).Matcher()
		if err != nil {
			t.Fatal(err)
		}
		if class, matched := m.Class("x"); class != want || matched {
			t.Errorf("%q, expected %q", class, want)
		}
	}
	bad := Settings{Default: "x"}
	if _, err := bad.Matcher(); !errors.Is(err, ErrSetting) {
		t.Error(err)
	}
}
