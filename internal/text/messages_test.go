package text

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLocalTimes(t *testing.T) {
	for in, want := range map[string]string{
		"at 2026-11-20T09:30:00Z":                      "at 2026-11-20 10:30:00",
		"2026-11-20T09:30:00Z, 2026-06-20T09:30:00Z":   "2026-11-20 10:30:00, 2026-06-20 11:30:00",
		"(2026-11-20T09:30:00Z); x":                    "(2026-11-20 10:30:00); x",
		"until 2026-11-20T09:30:00Z.":                  "until 2026-11-20 10:30:00.",
		`no job "2026-11-20T09:30:00Z"`:                `no job "2026-11-20T09:30:00Z"`,
		`no job "at 2026-11-20T09:30:00Z"`:             `no job "at 2026-11-20T09:30:00Z"`,
		`"on 2026-11-20T09:30:00Z or \" so"`:           `"on 2026-11-20T09:30:00Z or \" so"`,
		`"x" at 2026-11-20T09:30:00Z`:                  `"x" at 2026-11-20 10:30:00`,
		"reservation r-2026-11-20T09:30:00Z":           "reservation r-2026-11-20T09:30:00Z",
		"at 2026-11-20T09:30:00Z-a":                    "at 2026-11-20T09:30:00Z-a",
		"at 2026-13-20T09:30:00Z":                      "at 2026-13-20T09:30:00Z",
		"at 2026-11-20T09:30:00+01:00 and a Z at last": "at 2026-11-20T09:30:00+01:00 and a Z at last",
		"": "", "Z": "Z",
	} {
		if got := LocalTimes(in, testLoc); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// In any text, the times are the same instants in the user's zone, and the rest is unchanged.
func TestLocalTimesAreTheSameInstants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var utc, local strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "times") {
			word := " " + rapid.StringMatching(`[a-yZ0-9:; -]{0,25}`).Draw(t, "words") + " "
			at := rapid.Int64Range(0, lastEpoch-86400).Draw(t, "at")
			utc.WriteString(word + time.Unix(at, 0).UTC().Format(time.RFC3339))
			local.WriteString(word + time.Unix(at, 0).In(testLoc).Format(time.DateTime))
		}
		utc.WriteString(" end")
		local.WriteString(" end")
		if got := LocalTimes(utc.String(), testLoc); got != local.String() {
			t.Fatalf("%q\nis %q,\nnot %q", utc.String(), got, local.String())
		}
	})
}
