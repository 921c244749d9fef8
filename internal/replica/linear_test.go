package replica_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
)

// An operation of a history appends a token to a list, or reads the list. Each sees all of the
// list before it. So the final list orders all writes, and each read comes after the last
// write that it saw. A history is linearizable exactly if that order contradicts no operation
// that ended before another one began.
type operation struct {
	token      string // "" for a read
	began      time.Time
	ended      time.Time // zero: it is unknown whether it was done, or what it saw
	seen       []string  // the list before it
	refused    bool      // it was not done
	fromClient int
}

func (o *operation) String() string {
	what := "a read"
	if o.token != "" {
		what = "append " + o.token
	}
	return fmt.Sprintf("client %d, %s", o.fromClient, what)
}

// unlinearizable says how a history contradicts that its operations happened one after the
// other, each at an instant between its begin and its end.
func unlinearizable(final []string, history []*operation) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	at := make(map[string]int)
	for i, token := range final {
		if at[token] > 0 {
			fault("%s appears in the list twice", token)
		}
		at[token] = i + 1
	}
	type placed struct {
		*operation
		at int // twice the length of the list after it, and one more for a read
	}
	var all []placed
	for _, o := range history {
		n := at[o.token]
		switch {
		case o.token != "" && o.refused && n > 0:
			fault("%s was refused, and is in the list", o)
		case o.token != "" && !o.refused && !o.ended.IsZero() && n == 0:
			fault("%s was acknowledged, and is not in the list", o)
		}
		if o.refused || o.token != "" && n == 0 || o.token == "" && o.ended.IsZero() {
			continue
		}
		if !o.ended.IsZero() {
			if len(o.seen) > len(final) || !slices.Equal(o.seen, final[:len(o.seen)]) {
				fault("%s saw %v, which the list never was", o, o.seen)
			} else if o.token != "" && len(o.seen) != n-1 {
				fault("%s saw %d in the list, and stands behind %d", o, len(o.seen), n-1)
			}
		}
		if o.token == "" {
			n = len(o.seen)
			all = append(all, placed{o, 2*n + 1})
		} else {
			all = append(all, placed{o, 2 * n})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return a.began.Compare(b.began) })
	byEnd := slices.DeleteFunc(slices.Clone(all), func(p placed) bool { return p.ended.IsZero() })
	slices.SortFunc(byEnd, func(a, b placed) int { return a.ended.Compare(b.ended) })
	var last placed // of those that have ended, the one that stands last
	for _, p := range all {
		for len(byEnd) > 0 && byEnd[0].ended.Before(p.began) {
			if last.operation == nil || byEnd[0].at > last.at {
				last = byEnd[0]
			}
			byEnd = byEnd[1:]
		}
		if last.operation != nil && last.at > p.at {
			fault("%s ended before %s began, and stands behind it", last, p)
		}
	}
	return faults
}

// TestUnlinearizable: the judge finds contradictions.
func TestUnlinearizable(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	write := func(token string, began, ended int, seen ...string) *operation {
		return &operation{token: token, began: at(began), ended: at(ended), seen: seen}
	}
	unknown := func(token string, began int) *operation { return &operation{token: token, began: at(began)} }
	list := []string{"a", "b"}
	for what, tt := range map[string]struct {
		final   []string
		history []*operation
		bad     bool
	}{
		"one after the other": {list, []*operation{write("a", 1, 2), write("b", 3, 4, "a"),
			write("", 5, 6, "a", "b")}, false},
		"at once, in either order": {[]string{"b", "a"}, []*operation{write("a", 1, 4, "b"), write("b", 2, 3)},
			false},
		"a read before a write at once": {[]string{"a"}, []*operation{write("a", 1, 4), write("", 2, 3)}, false},
		"unknown, and done":             {list, []*operation{write("a", 1, 2), unknown("b", 1)}, false},
		"unknown, and not done":         {[]string{"a"}, []*operation{write("a", 1, 2), unknown("b", 1)}, false},
		"refused": {nil, []*operation{{token: "a", began: at(1), ended: at(2), refused: true}},
			false},
		"refused, and done": {[]string{"a"},
			[]*operation{{token: "a", began: at(1), ended: at(2), refused: true}}, true},
		"lost":                     {nil, []*operation{write("a", 1, 2)}, true},
		"done twice":               {[]string{"a", "a"}, []*operation{write("a", 1, 2)}, true},
		"a read of an older state": {[]string{"a"}, []*operation{write("a", 1, 2), write("", 3, 4)}, true},
		"two reads, back in time": {[]string{"a"}, []*operation{write("a", 1, 9), write("", 2, 3, "a"),
			write("", 4, 5)}, true},
		"writes that change places": {[]string{"b", "a"}, []*operation{write("a", 1, 2, "b"), write("b", 3, 4)},
			true},
		"an answer of another state": {list, []*operation{write("a", 1, 4), write("b", 2, 3)}, true},
		"unknown, done before it began": {[]string{"b", "a"}, []*operation{write("a", 1, 2, "b"), unknown("b", 3)},
			true},
		"a state that never was": {[]string{"a"}, []*operation{write("a", 1, 2), write("", 3, 4, "b")}, true},
	} {
		if faults := unlinearizable(tt.final, tt.history); (len(faults) > 0) != tt.bad {
			t.Errorf("%s: %q", what, faults)
		}
	}
}

// TestLinearizable: machines read and write over bad connections. Some are killed, cut off, or run
// out of time. The whole history is linearizable.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	seed := cmp.Or(*chaosSeed, rand.Uint64())
	t.Logf("-chaos-seed %d", seed)
	m := newLog(t)
	var mu sync.Mutex
	var history []*operation
	end := time.Now().Add(*chaosFor)
	var clients sync.WaitGroup
	var ways []*rough
	client := func(number int, rep *Replica, way *rough, rng *rand.Rand) {
		for n := 0; time.Now().Before(end); n++ {
			if rng.IntN(15) == 0 {
				way.away(true)
				time.AfterFunc(20*time.Millisecond, func() { way.away(false) })
			}
			o := &operation{fromClient: number}
			if rng.IntN(3) > 0 {
				o.token = fmt.Sprintf("%d.%d", number, n)
			}
			put := func(r *file.Recorder) (bool, error) {
				o.seen = strings.Fields(get(r, "all"))
				return true, set(r, "all", get(r, "all")+" "+o.token)
			}
			o.began = time.Now()
			err := mortal(func() error {
				if o.token == "" {
					return rep.View(func(r *file.Recorder) error { o.seen = strings.Fields(get(r, "all")); return nil })
				}
				return rep.Update(put)
			})
			switch ended := time.Now(); {
			case err == nil:
				o.ended = ended
			case errors.Is(err, file.ErrLocked):
				o.refused = true
			case !errors.Is(err, errKilled) && !errors.Is(err, file.ErrUnknown):
				t.Errorf("%s: %v", o, err)
			}
			mu.Lock()
			history = append(history, o)
			mu.Unlock()
		}
	}
	for i := range 6 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		way := newRough(m, seed+uint64(i), 0.1)
		ways = append(ways, way)
		killer := &killedAfterAppend{way, func() bool { return rng.IntN(60) == 0 }}
		rep := machine(t, killer, func(o *Options) { o.LockTimeout = 300 * time.Millisecond })
		clients.Go(func() { client(i, rep, way, rng) })
	}
	clients.Wait()
	for _, way := range ways {
		way.settle()
	}
	var final []string
	if err := machine(t, m).View(func(r *file.Recorder) error {
		final = strings.Fields(get(r, "all"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, fault := range unlinearizable(final, history) {
		t.Error(fault)
	}
	reads, unknown := 0, 0
	for _, o := range history {
		switch {
		case o.token == "":
			reads++
		case o.ended.IsZero() && !o.refused:
			unknown++
		}
	}
	t.Logf("%d operations, %d written in %d entries, %d reads, %d unknown", len(history), len(final), m.Head().N, reads,
		unknown)
	if len(final) < 10 || reads < 10 {
		t.Error("too few to show anything")
	}
}
