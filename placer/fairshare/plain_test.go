package fairshare

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlainOf(t *testing.T) {
	for expr, want := range map[string]*plain{
		"ci":         {text: "ci"},
		"^ops-":      {text: "ops-", begin: true},
		"^ops-.*":    {text: "ops-", begin: true},
		".*-nightly": {text: "-nightly"},
		"-nightly$":  {text: "-nightly", end: true},
		"^root$":     {text: "root", begin: true, end: true},
		`a\.b`:       {text: "a.b"},
		"(?:ab)c":    {text: "abc"},
		".*":         {},
		"^.*":        {begin: true},
		"^$":         {begin: true, end: true},
		"^":          {begin: true},
		"^.*$":       nil, // not what has a line break
		"a.b":        nil,
		"(?i)ci":     nil,
		"(?m)^a":     nil,
		"a|b":        nil,
		"(":          nil,
		"\uFFFD":     nil,
	} {
		got := plainOf(expr)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, expected %+v", expr, got, want)
		}
	}
}

func TestPlainMatches(t *testing.T) {
	for _, c := range []struct {
		expr, all string // the requestors that match
	}{
		{"b", "b ab ba aba"},
		{"^b", "b ba"},
		{"b$", "b ab"},
		{"^b$", "b"},
		{".*", "a b ab ba aba"},
	} {
		var matched []string
		for _, s := range strings.Fields("a b ab ba aba") {
			if plainOf(c.expr).matches(s) {
				matched = append(matched, s)
			}
		}
		if got := strings.Join(matched, " "); got != c.all {
			t.Errorf("%s matches %s, expected %s", c.expr, got, c.all)
		}
	}
}

// A plain pattern matches what its expression matches.
func TestPlainAgainstRegexp(t *testing.T) {
	plains := 0
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.StringOfN(rapid.RuneFrom([]rune("aab.*^$\n()|?[]\\")), 1, 8, -1).Draw(t, "expression")
		re, err := regexp.Compile(expr)
		if err != nil {
			return
		}
		p := plainOf(expr)
		if p == nil {
			return
		}
		plains++
		for range 10 {
			s := rapid.StringOfN(rapid.RuneFrom([]rune("ab.\n\\")), 0, 6, -1).Draw(t, "requestor")
			if p.matches(s) != re.MatchString(s) {
				t.Fatalf("%q in %q: %v", expr, s, !re.MatchString(s))
			}
		}
	})
	if plains == 0 {
		t.Error("no expression was plain")
	}
}
