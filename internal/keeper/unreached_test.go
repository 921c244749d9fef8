package keeper

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/launch"
)

// TestGiveUp: a host is given up if it was not reached three times in a row, ten seconds apart, while another
// host was. Without placectl it is given up at once.
func TestGiveUp(t *testing.T) {
	r := &Runner{Site: Site{StateDir: t.TempDir() + "/state", ID: "id", Epoch: "1"}, Note: t.Errorf}
	missed := func(host string) error { return &launch.Unreached{Host: host, Why: "no route"} }
	now := time.Unix(1000, 0)
	for i, c := range []struct {
		after  time.Duration
		hosts  string
		failed []error
		gives  string
		notes  string
	}{
		{0, "a b", []error{missed("a"), nil}, "", "a was not reached by ssh: no route (1 try)"},
		{10, "a b", []error{missed("a"), nil}, "", "a was not reached by ssh: no route (2 tries)"},
		{9, "a b", []error{missed("a"), nil}, "", ""}, // too soon
		{1, "a b", []error{missed("a"), missed("b")}, "",
			"a was not reached by ssh: no route (3 tries) b was not reached by ssh: no route (1 try)"},
		{10, "a b", []error{missed("a"), nil}, "a was not reached by ssh: no route, 3 times in a row",
			"a was not reached by ssh: no route (4 tries)"},
		{10, "a b", []error{missed("a"), nil}, "a was not reached by ssh: no route, 4 times in a row", ""},
		{10, "a b", []error{errors.New("busy"), nil}, "", ""}, // it was reached
		{10, "a b", []error{missed("a"), nil}, "", "a was not reached by ssh: no route (1 try)"},
		{10, "a b", []error{missed("a"), nil}, "", "a was not reached by ssh: no route (2 tries)"},
		{10, "a", []error{missed("a")}, "", "a was not reached by ssh: no route (3 tries)"}, // no host was reached
		{10, "a b", []error{nil, &launch.Refused{Host: "b", Status: 127, Why: "sh: placectl: not found"}},
			"there is no placectl on b: sh: placectl: not found", ""},
		{10, "a b", []error{nil, &launch.Refused{Host: "b", Status: 1, Why: "full"}}, "", ""},
	} {
		now = now.Add(c.after * time.Second)
		why, note := r.GiveUp(strings.Fields(c.hosts), c.failed, now)
		for _, is := range []struct {
			got  []string
			want string
		}{{why, c.gives}, {note, c.notes}} {
			if got := strings.Join(strings.Fields(strings.Join(is.got, " ")), " "); got != is.want {
				t.Errorf("step %d: GiveUp = %q, want %q", i, got, is.want)
			}
		}
	}
}
