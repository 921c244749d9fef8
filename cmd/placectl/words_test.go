package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/logtest"
)

// inLine runs verbs on a log in memory at once. They queue up in order before the first one runs.
type inLine struct {
	t    *testing.T
	name string // of the log
	dir  string // for "@" in lines
	all  sync.WaitGroup
	user string // of the processes
}

func newInLine(t *testing.T, dir, file string) *inLine {
	l := &inLine{t: t, name: "memory:///" + strings.ReplaceAll(t.TempDir(), "/", "_"), dir: dir}
	if c := l.capture("init --from " + file); c.run() != exit.OK {
		t.Fatal(c.err.String())
	}
	return l
}

func (l *inLine) path() string { return strings.TrimPrefix(l.name, "memory://") }

// capture returns a line as a process on a machine of its own.
func (l *inLine) capture(line string) *capture {
	words, err := text.SplitWords(strings.ReplaceAll(line, "@", l.dir))
	if err != nil {
		l.t.Fatal(err)
	}
	c := newCapture(words...)
	c.InWords = (*store.DB).UpdateInWords
	c.vars["PLACECTL_DB"], c.vars["PLACECTL_REPLICAS"], c.vars["USER"] = l.name, l.t.TempDir(), l.user
	return c
}

// run runs lines one after the other, each by itself.
func (l *inLine) run(lines ...string) (said []string) {
	for _, line := range lines {
		c := l.capture(line)
		status := c.run()
		said = append(said, l.outcome(c, status))
	}
	return said
}

func (l *inLine) outcome(c *capture, status int) string {
	return strings.ReplaceAll(strings.Join([]string{c.out.String(), c.err.String(), string(rune('0' + status))},
		"\n--\n"), l.dir, "@")
}

// together runs processes that queue up, and returns the number of log entries.
func (l *inLine) together(processes ...*capture) (said []string, entries uint64) {
	m := logtest.Memory(l.path())
	before, ctx := m.Head().N, l.t.Context()
	hold, _, err := m.Turn(ctx, nil, m.Head(), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	said = make([]string, len(processes))
	for i, c := range processes {
		var ended atomic.Bool
		l.all.Go(func() { said[i] = l.outcome(c, c.run()); ended.Store(true) })
		// a refused verb does not queue up
		for until := time.Now().Add(20 * time.Second); !ended.Load(); time.Sleep(time.Millisecond) {
			if n, _ := m.Waiting(); n == i+2 {
				break
			}
			if time.Now().After(until) {
				l.t.Fatalf("%v has not queued up", c.Args)
			}
		}
	}
	hold.Leave()
	l.all.Wait()
	return said, m.Head().N - before
}

// withoutNow matches the instant of a line: a line with a chosen instant stays with its process.
var withoutNow = regexp.MustCompile(` --now=\S+`)

// TestInWords: each verb that can be said in words has the same effect, and prints the same bytes, if
// another process runs it, also with a key and in any form.
func TestInWords(t *testing.T) {
	template := flagsDB(t)
	leafs, _ := leafVerbs()
	seen := make(map[string]bool)
	for _, tt := range keyedLines(t) {
		if !leafs[tt.verb].InWords() {
			continue
		}
		seen[tt.verb] = true
		for _, more := range []string{"", " -o json -v", " --key=one -o csv"} {
			line := withoutNow.ReplaceAllString(tt.line, "") + more
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				alone, handed := newInLine(t, template, filepath.Join(template, "placectl.db")),
					newInLine(t, template, filepath.Join(template, "placectl.db"))
				// the user of the jobs that the verb needs
				who := map[string]string{"retry": "eva", "alter": "", "": "ann"}
				user, other := who[tt.verb]
				if !other {
					user = who[""]
				}
				alone.user, handed.user = user, user
				const first = "queue add first"
				want := alone.run(first, line)
				got, entries := handed.together(handed.capture(first), handed.capture(line))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("answers (-alone +handed over)\n%s", diff)
				}
				if strings.HasSuffix(want[1], "\n0") && entries != 1 {
					t.Errorf("%d log entries: the verb was not handed over", entries)
				}
				for _, rows := range []string{"job list --all -o json", "query 'SELECT * FROM events' -o json",
					"node list -o json", "config list -o json"} {
					if diff := cmp.Diff(alone.run(rows), handed.run(rows)); diff != "" {
						t.Errorf("the table %s (-alone +handed over)\n%s", rows, diff)
					}
				}
			})
		}
	}
	for name, v := range leafs {
		if v.InWords() && !seen[name] {
			t.Errorf("no line has the verb %s", name)
		}
	}
}

// ask puts words at the end of the queue, and returns the answer, nil for none.
func (l *inLine) ask(words []byte) <-chan []byte {
	m := logtest.Memory(l.path())
	answered := make(chan []byte, 1)
	go func() {
		place, tail, err := m.Turn(l.t.Context(), nil, m.Head(), words)
		switch {
		case err != nil:
			l.t.Error(err)
			answered <- nil
		case place != nil:
			place.Leave()
			answered <- nil
		default:
			answered <- tail.Answer
		}
	}()
	return answered
}

// TestAskedAsWhoAsks: a request of another process runs for that process's user, in its time zone, with its
// files, key and directory, and with nothing of this process's. A request of another version, one that may
// not be handed over, and one that fails are left alone. The others stay.
func TestAskedAsWhoAsks(t *testing.T) {
	template := flagsDB(t)
	l := newInLine(t, template, filepath.Join(template, "placectl.db"))
	l.user = "xaver"
	base := asked.Request{Version: session.Dialect(), User: "zoe", From: store.Submitter{UID: 4242, Name: "zoe",
		Host: "far"}, Zone: "Asia/Tokyo",
		Carried: &payload.Carried{Host: "far", Dir: "/far", Umask: 0o027, Partial: true,
			Env: [][]byte{[]byte("PATH=/far/bin")}}}
	request := func(change func(*asked.Request), words ...string) []byte {
		q := base
		q.Words = words
		if change != nil {
			change(&q)
		}
		text, err := q.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	script := func(text string) func(*asked.Request) {
		return func(q *asked.Request) { q.Files = []asked.File{{Name: "job.sh", Text: "#!/bin/sh\n" + text + "\n"}} }
	}
	all := []struct {
		name  string
		words []byte
		done  bool
	}{
		{"a submission", request(nil, "submit", "--name=mine", "--begin=2027-01-01 09:00", "--key=k", "--", "true"),
			true},
		{"a refusal", request(nil, "release", "999"), false},
		{"another version", request(func(q *asked.Request) { q.Version += "x" }, "queue", "add", "wrong-2"), false},
		{"no words", []byte("queue add wrong-3"), false},
		{"a script", request(script("#placectl --name=script"), "submit", "job.sh"), true},
		{"a script that names a folder", request(script("#placectl --chdir=/nowhere"), "submit", "job.sh"), false},
		{"a file that has not come along", request(nil, "submit", "/etc/hostname"), false},
		{"all variables", request(nil, "submit", "--export=all", "--", "true"), false},
		{"a reader", request(nil, "job", "list"), false},
		{"what goes on", request(nil, "run", "--", "true"), false},
		{"a transaction of several", request(nil, "tx"), false},
		{"another database", request(nil, "queue", "add", "wrong-4", "--db=other.db"), false},
		{"a dry run", request(nil, "queue", "add", "wrong-5", "--dry-run"), false},
		{"a group", request(nil, "place", "1", "--group=lab", "--queue=vip"), false},
		{"another zone", request(func(q *asked.Request) { q.Zone = "Nowhere/Else" }, "queue", "add", "wrong-6"), false},
		{"a queue", request(nil, "queue", "add", "kept"), true},
	}
	m := logtest.Memory(l.path())
	hold, _, err := m.Turn(t.Context(), nil, m.Head(), nil)
	if err != nil {
		t.Fatal(err)
	}
	stands := func(places int) {
		for n := 0; n < places; n, _ = m.Waiting() {
			time.Sleep(time.Millisecond)
		}
	}
	first := l.capture("queue add first")
	l.all.Go(func() { first.run() })
	stands(2)
	var answers []<-chan []byte
	for i, tt := range all {
		answers = append(answers, l.ask(tt.words))
		stands(i + 3)
	}
	before := m.Head().N
	hold.Leave()
	for i, tt := range all {
		answer := <-answers[i]
		if (answer != nil) != tt.done {
			t.Errorf("%s: the answer is %s, want one: %v", tt.name, answer, tt.done)
		}
	}
	l.all.Wait()
	if n := m.Head().N - before; n != 1 {
		t.Errorf("the log has %d entries", n)
	}
	said := strings.Join(l.run("query \"SELECT user, name FROM jobs WHERE job > 11\" -o csv --no-header",
		"query \"SELECT name, begin FROM jobs WHERE name = 'mine'\" -o json", "dump",
		"show 12", "queue list -o id", "log -o csv --no-header"), "")
	for _, want := range []string{"zoe,mine", "zoe,script", `"job":12,"event":"submit","new":"queued","by":4242`,
		`"job":13,"event":"submit","new":"queued","by":4242`, `2027-01-01T00:00:00Z`, "/far", "far", "first", "kept",
		"queue add +3"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is missing in\n%s", want, said)
		}
	}
	for _, not := range []string{"wrong-", "xaver"} {
		if strings.Contains(said, not) {
			t.Errorf("%s should not be in\n%s", not, said)
		}
	}
	if again := l.run("submit --name=other --key=k -- true"); !strings.HasSuffix(again[0], "\n7") {
		t.Errorf("the key was not kept: %s", again)
	}
}

// TestWordsAreNotHandedOver: some verbs stay with their process, and secrets always do.
func TestWordsAreNotHandedOver(t *testing.T) {
	template := flagsDB(t)
	l := newInLine(t, template, filepath.Join(template, "placectl.db"))
	for line, want := range map[string]bool{
		"queue add a":                           true,
		"submit -- true":                        true,
		"queue add b --now=2027-01-01T00:00:00": false,
		"queue add c --dry-run":                 false,
		"queue list":                            false,
		"tx":                                    false,
		"submit --name=" + strings.Repeat("x", store.MaxWords): false,
	} {
		c := l.capture(line)
		c.vars["API_TOKEN"] = "a secret"
		var words *store.Words
		c.InWords = func(db *store.DB, w *store.Words, fn func(*store.Tx) error) ([]byte, error) {
			words = w
			return nil, db.Update(fn)
		}
		c.run()
		if (words != nil) != want {
			t.Errorf("%.40s: said in words: %t, want %t: %s", line, words != nil, want, &c.err)
		}
		if words != nil && strings.Contains(string(words.Request), "secret") {
			t.Errorf("%.40s: a secret is handed over", line)
		}
	}
}
