package payload

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/engine"
)

// given is a command line of flags.
type given map[string]string

func (g given) IsSet(name string) bool    { _, ok := g[name]; return ok }
func (g given) String(name string) string { return g[name] }
func (g given) Int(name string) int       { n, _ := strconv.Atoi(g[name]); return n }

// TestEnding: what the flags mean, and which are refused.
func TestEnding(t *testing.T) {
	for line, want := range map[string]engine.Ending{
		"":                                      {},
		"retries=3":                             {Retries: 3},
		"retries=0":                             {},
		"grace=0":                               {Grace: -1},
		"grace=2m":                              {Grace: 2 * time.Minute},
		"mail-to=a,b mail=fail,begin":           {Mail: "fail,begin", MailTo: "a,b"},
		"retry-on=1-5,75,oom retry-wait=1:00":   {RetryOn: "1-5,75,oom", RetryWait: time.Minute},
		"retries=2 retry-on=1,oom retry-mem=x2": {Retries: 2, RetryOn: "1,oom", RetryMem: 200},
		"retries=2 retry-on=oom retry-mem=X1.25,1.5gb": {Retries: 2, RetryOn: "oom", RetryMem: 125, RetryMax: 3 << 19},
		"signal=USR1@120":   {Signal: 10, Before: 2 * time.Minute},
		"signal=sigusr1@2m": {Signal: 10, Before: 2 * time.Minute},
		"signal=10":         {Signal: 10, Before: time.Minute},
		"signal=B:TERM@1":   {Signal: 15, Before: time.Second, First: true},
		"signal=B:15@1 retries=1000 retry-wait=1h": {Signal: 15, Before: time.Second, First: true, Retries: 1000,
			RetryWait: time.Hour},
	} {
		var e engine.Ending
		err := ending(flagsOf(line), &e)
		if diff := cmp.Diff(want, e); diff != "" || err != nil {
			t.Errorf("ending(%s): %v (-want +got): %s", line, err, diff)
		}
		if text := Signal(&e); text != "" {
			var again engine.Ending
			err := ending(given{"signal": text}, &again)
			if err != nil || again.Signal != e.Signal || again.Before != e.Before || again.First != e.First {
				t.Errorf("%s is written back as %s", line, text)
			}
		}
	}
	for line, want := range map[string]string{
		"retries=-1":          "-1 retries; there must be from 0 to 1000",
		"retries=1001":        "1001 retries",
		"retry-wait=0":        "--retry-wait must be from 1s to 1h, not 0s",
		"retry-wait=soon":     "--retry-wait",
		"retry-wait=1h1s":     "--retry-wait must be from 1s to 1h, not 1h0m1s",
		"grace=100ms":         "--grace: 100ms has parts of a second",
		"grace=-1":            "--grace",
		"retry-on=":           "--retry-on is empty",
		"retry-on=0":          `"0" cannot lead to a retry`,
		"retry-on=5-1":        `"5-1" cannot lead to a retry`,
		"retry-on=256":        `"256" cannot lead to a retry`,
		"retry-on=lost":       `"lost" cannot lead to a retry`,
		"signal=":             "is not a signal with the seconds before the end, such as USR1",
		"signal=USR3@60":      "--signal: USR3 is not a signal",
		"signal=0@60":         "is not a signal",
		"signal=65":           "is not a signal",
		"signal=USR1@0":       "is not a number of seconds, 1 or more",
		"signal=USR1@":        "is not a duration",
		"signal=R:USR1@60":    "is not a signal",
		"signal=USR1@500ms":   "is not a number of seconds",
		"mail=":               "--mail is empty",
		"mail=start":          `mail at "start": use begin, end, fail and requeue`,
		"mail-to=":            "--mail-to is empty",
		"mail-to=a,,b":        `mail to "a,,b"`,
		"mail-to=a\nBcc:b":    "expected addresses",
		"mail-to=a\x00b":      "expected addresses",
		"signal=USR1@-5":      "",
		"retries=99999999999": "",
	} {
		var e engine.Ending
		err := ending(flagsOf(line), &e)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ending(%q) = %+v, %v, want %s", line, e, err, want)
		}
	}
}

// flagsOf parses NAME=VALUE words separated by blanks.
func flagsOf(line string) given {
	g := make(given)
	for _, word := range strings.Split(line, " ") {
		if name, value, ok := strings.Cut(word, "="); ok {
			g[name] = value
		}
	}
	return g
}
