package e2e

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
)

var keyedOperations = flag.Int("keyed", 2000, "how many requests TestKeyedHistories makes; 100000 in its long form")

// The size of a history. The time to explain one grows with the number of clients.
const (
	historyClients    = 6
	historyOperations = 200
	historyCPUs       = 8
)

// A keyedRequest is a client's request, until the client learns the outcome.
type keyedRequest struct {
	line   string
	status int
	said   string
}

// A keyedState is the content of a database of the histories, as far as clients can tell.
type keyedState struct {
	next     int    // the number of the next job
	running  string // jobs, "1,2,"
	walltime string // the setting
}

// keyedModel says what each request does and answers. It assumes that a request happens once, as a whole,
// at some instant between its first try and its answer.
var keyedModel = porcupine.Model{
	Init: func() any { return keyedState{next: 1, walltime: "3600"} },
	Step: func(state, input, output any) (bool, any) {
		s, asked, got := state.(keyedState), input.(string), output.(keyedRequest)
		verb, arg, _ := strings.Cut(asked, " ")
		running := strings.Count(s.running, ",")
		switch verb {
		case "place":
			if running == historyCPUs {
				return got.status == exit.NotNow, s
			}
			id := strconv.Itoa(s.next)
			s.next++
			s.running += id + ","
			return got.status == exit.OK && got.said == id, s
		case "release":
			id, _ := strconv.Atoi(arg)
			at := slices.Index(strings.Split(s.running, ","), arg)
			switch {
			case id >= s.next:
				return got.status == exit.NotFound, s
			case at < 0:
				return got.status == exit.Conflict, s
			}
			list := strings.Split(s.running, ",")
			s.running = strings.Join(slices.Delete(list, at, at+1), ",")
			return got.status == exit.OK, s
		case "count":
			return got.said == strconv.Itoa(running), s
		case "set":
			s.walltime = arg
			return got.status == exit.OK, s
		}
		return got.said == s.walltime, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %+v", input, output) },
}

// commandLine returns a request of the model as a command.
func (q *keyedRequest) commandLine() []string {
	verb, arg, _ := strings.Cut(q.line, " ")
	switch verb {
	case "place":
		return []string{"place", "1:ncpus=1", "-t", "10h", "-o", "id"}
	case "release":
		return []string{"release", arg, "-o", "id"}
	case "set":
		return []string{"config", "set", "default_walltime=" + arg}
	case "count":
		return []string{"query", "SELECT count(*) FROM jobs WHERE state = 'running'", "-o", "csv", "--no-header"}
	}
	return []string{"query", "SELECT value FROM config WHERE name = 'default_walltime'", "-o", "csv", "--no-header"}
}

// A keyedClient makes one request after the other, and repeats each until it knows the outcome.
type keyedClient struct {
	t      *testing.T
	db     string
	name   string
	random *rand.Rand
	jobs   int // the greatest job number that it knows
	tries  int
}

// request draws a request.
func (k *keyedClient) request() string {
	switch n := k.random.IntN(10); {
	case n < 4:
		return "place"
	case n < 7:
		return "release " + strconv.Itoa(max(1, k.jobs+2-k.random.IntN(historyCPUs)))
	case n == 7:
		return "set " + strconv.Itoa(60*(1+k.random.IntN(100)))
	case n == 8:
		return "count"
	}
	return "get"
}

// broken is an output that cannot be written.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

// try makes a request once. Its commit may fail, or succeed with an unknown outcome, and the answer may be
// lost.
func (k *keyedClient) try(q *keyedRequest, key string) {
	args := append([]string{"--db", k.db, "--lock-timeout", "1m"}, q.commandLine()...)
	writes := key != ""
	if writes {
		args = append(args, "--key", key)
	}
	c := newCapture(args...)
	k.tries++
	if writes {
		switch k.random.IntN(5) {
		case 0:
			done := k.random.IntN(2) == 0
			c.Commit = func(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
				if err := session.Commit(db, keep && done, fn); err != nil {
					return err
				}
				return engine.ErrUnknown
			}
		case 1:
			c.Stdout = broken{}
		}
	}
	q.status = c.run()
	q.said = strings.TrimSpace(c.out.String())
	if !slices.Contains([]int{exit.OK, exit.Failed, exit.NotNow, exit.NotFound, exit.Conflict, exit.Unknown, exit.Lost},
		q.status) ||
		q.status == exit.Failed && !mayFail() {
		k.t.Errorf("%s: status %d: %s", q.line, q.status, c.err.String())
	}
}

// ask repeats a request until it is answered: a verb that writes, always with the same key.
func (k *keyedClient) ask(number int) porcupine.Operation {
	q := keyedRequest{line: k.request()}
	key := ""
	if q.line != "count" && q.line != "get" {
		key = fmt.Sprint(k.name, "-", number)
	}
	began := time.Now()
	for {
		k.try(&q, key)
		if q.status != exit.Unknown && q.status != exit.Lost && q.status != exit.Failed || k.t.Failed() {
			break
		}
	}
	ended := time.Now()
	if id, err := strconv.Atoi(q.said); err == nil && q.line == "place" {
		k.jobs = max(k.jobs, id)
	}
	return porcupine.Operation{Input: q.line, Output: q, Call: began.UnixNano(), Return: ended.UnixNano()}
}

// mayFail reports whether operations on the file can fail, so that verbs can, too. With bbolt's hooks
// (faults_test.go) they can.
var mayFail = func() bool { return false }

// disturbed makes operations on the file fail at times, until its result is called.
var disturbed = func(*rand.Rand) (over func()) { return func() {} }

// TestKeyedHistories lets clients make requests with keys at the same time. Meanwhile commits fail, or
// succeed without the client knowing, answers are lost, and, with bbolt's hooks, operations on the file
// fail. A client that does not know the outcome asks again. Each request must have happened once: there is
// an order of the requests that explains all answers.
func TestKeyedHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of commands")
	}
	random := seeded(t)
	made, tries := 0, 0
	for made < *keyedOperations && !t.Failed() {
		history, tried := keyedHistory(t, random)
		made, tries = made+len(history), tries+tried
		switch porcupine.CheckOperationsTimeout(keyedModel, history, time.Minute) {
		case porcupine.Illegal:
			for _, op := range history {
				t.Logf("%d-%d %+v", op.Call%1e12, op.Return%1e12, op.Output)
			}
			t.Fatal("no order in which each request happened once explains these answers")
		case porcupine.Unknown:
			t.Log("a history was too long to be explained in a minute")
		}
	}
	t.Logf("%d requests, asked %d times", made, tries)
}

// keyedHistory returns the history of a database among clients.
func keyedHistory(t *testing.T, random *rand.Rand) (history []porcupine.Operation, tries int) {
	db := filepath.Join(t.TempDir(), "history.db")
	for _, line := range []string{"init --any-time", "config set default_walltime=3600",
		fmt.Sprint("node add n1 ncpus=", historyCPUs)} {
		if c := newCapture(append([]string{"--db", db}, strings.Fields(line)...)...); c.run() != exit.OK {
			t.Fatal(line, c.err.String())
		}
	}
	defer disturbed(rand.New(rand.NewPCG(random.Uint64(), 1)))()
	var mu sync.Mutex
	var all sync.WaitGroup
	for number := range historyClients {
		k := &keyedClient{t: t, db: db, name: fmt.Sprint("c", number),
			random: rand.New(rand.NewPCG(random.Uint64(), 2))}
		all.Go(func() {
			var mine []porcupine.Operation
			for i := range historyOperations / historyClients {
				op := k.ask(i)
				op.ClientId = number
				mine = append(mine, op)
			}
			mu.Lock()
			defer mu.Unlock()
			history, tries = append(history, mine...), tries+k.tries
		})
	}
	all.Wait()
	return history, tries
}

// TestKeyedModelNotices: the model rejects a history in which something happened twice.
func TestKeyedModelNotices(t *testing.T) {
	at := int64(0)
	op := func(line string, status int, said string) porcupine.Operation {
		at += 2
		return porcupine.Operation{Input: line, Output: keyedRequest{line, status, said}, Call: at, Return: at + 1}
	}
	right := []porcupine.Operation{op("place", exit.OK, "1"), op("count", exit.OK, "1"), op("release 1", exit.OK, "1"),
		op("release 1", exit.Conflict, ""), op("place", exit.OK, "2"), op("get", exit.OK, "3600")}
	if !porcupine.CheckOperations(keyedModel, right) {
		t.Error("the model rejects a correct history")
	}
	for i, wrong := range [][]porcupine.Operation{
		{op("place", exit.OK, "1"), op("count", exit.OK, "2")},
		{op("place", exit.OK, "1"), op("place", exit.OK, "3")},
		{op("place", exit.OK, "1"), op("place", exit.OK, "1")},
		{op("place", exit.OK, "1"), op("release 1", exit.Conflict, "")},
		{op("set 60", exit.OK, ""), op("get", exit.OK, "3600")},
	} {
		if porcupine.CheckOperations(keyedModel, wrong) {
			t.Errorf("the model accepts the wrong history %d", i)
		}
	}
}
