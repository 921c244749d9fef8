package replica_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
)

var (
	chaosFor  = flag.Duration("chaos", 2*time.Second, "how long machines write to a log over bad ways")
	chaosSeed = flag.Uint64("chaos-seed", 0, "what chance the chaos goes by; 0: another one each time")
)

// killedAfterAppend is a driver whose process is sometimes killed between the entry in the log
// and the replica's own commit.
type killedAfterAppend struct {
	*rough
	kill func() bool
}

func (k *killedAfterAppend) Append(ctx context.Context, at Position, entry []byte, turn Turn) (
	*Tail, error) {
	t, err := k.rough.Append(ctx, at, entry, turn)
	if t == nil && err == nil && k.kill() {
		panic(errKilled)
	}
	return t, err
}

// mortal runs a function that may be killed.
func mortal(fn func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			if !errors.Is(p, errKilled) {
				panic(p)
			}
			err = errKilled
		default:
			panic(p)
		}
	}()
	return fn()
}

// TestChaos: machines write over connections on which calls are lost, doubled and late. They
// are killed in the middle, cut off, and make snapshots and trim. What was acknowledged is
// there once, what was refused is not, and what is unknown is there at most once. All replicas
// are equal in the end, and equal to a new one.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-chaos-seed %d", seed)
	m := newLog(t)
	const machines = 4
	var mu sync.Mutex
	acknowledged, unknown, refused := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	end := time.Now().Add(*chaosFor)
	goesOn := func() bool { // on a busy machine for longer, until it has shown something
		mu.Lock()
		defer mu.Unlock()
		left := time.Until(end)
		return left > 0 || len(acknowledged) < 20 && left > -time.Minute
	}
	var wg sync.WaitGroup
	var ways []*rough
	var reps []*Replica
	for i := range machines {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		way := newRough(m, seed+uint64(i), 0.2)
		ways = append(ways, way)
		killer := &killedAfterAppend{way, func() bool { return rng.IntN(40) == 0 }}
		rep := machine(t, killer, func(o *Options) { o.LockTimeout = 300 * time.Millisecond })
		reps = append(reps, rep)
		wg.Go(func() {
			for n := 0; goesOn(); n++ {
				key := fmt.Sprintf("m%d.%d", i, n)
				switch rng.IntN(12) {
				case 0:
					way.away(true)
					time.AfterFunc(20*time.Millisecond, func() { way.away(false) })
				case 1:
					_ = mortal(rep.Trim)
				case 2:
					mu.Lock()
					before := slices.Collect(maps.Keys(acknowledged))
					mu.Unlock()
					if err := reads(rep, before); err != nil && !errors.Is(err, file.ErrLocked) {
						t.Errorf("%s: %v", key, err)
					}
				}
				put := func(r *file.Recorder) (bool, error) { return true, noted(r, key) }
				err := mortal(func() error { return rep.Update(put) })
				mu.Lock()
				switch {
				case err == nil || errors.Is(err, errKilled): // the killed one had its entry in the log
					acknowledged[key] = true
				case errors.Is(err, file.ErrUnknown):
					unknown[key] = true
				case errors.Is(err, file.ErrLocked):
					refused[key] = true
				default:
					t.Errorf("%s: %v", key, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, way := range ways {
		way.settle()
	}
	calm := machine(t, m)
	want := contents(t, calm)
	for i, rep := range reps {
		rep.Opt().LockTimeout = time.Minute
		if diff := cmp.Diff(want, contents(t, machineAgain(t, rep, m))); diff != "" {
			t.Errorf("machine %d (-anew +its own)\n%s", i, diff)
		}
	}
	if err := calm.Audit(func(f string) { t.Error(f) }); err != nil {
		t.Error(err)
	}
	there := make(map[string]int)
	err := calm.View(func(r *file.Recorder) error {
		for _, key := range strings.Fields(get(r, "all")) {
			there[key]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range acknowledged {
		if there[key] != 1 {
			t.Errorf("%s was acknowledged, and is there %d times", key, there[key])
		}
	}
	for key := range refused {
		if there[key] != 0 {
			t.Errorf("%s was refused, and is there %d times", key, there[key])
		}
	}
	for key, n := range there {
		if n != 1 || !acknowledged[key] && !unknown[key] {
			t.Errorf("%s is there %d times", key, n)
		}
	}
	t.Logf("%d acknowledged, %d unknown, %d refused, position %d", len(acknowledged), len(unknown), len(refused),
		m.Head().N)
	if len(acknowledged) < 20 {
		t.Errorf("only %d were acknowledged", len(acknowledged))
	}
}

// noted counts a key once more.
func noted(r *file.Recorder, key string) error {
	return errors.Join(set(r, key, "x"), set(r, "all", get(r, "all")+" "+key))
}

// machineAgain returns another process on the machine of a replica, with a good connection to
// the log.
func machineAgain(t testing.TB, rep *Replica, d Driver) *Replica {
	return machine(t, d, func(o *Options) { o.Folder = rep.Opt().Folder })
}

// reads verifies that a machine's read has at least what had been acknowledged before it began: no
// read is answered from a state older than the log's end was then.
func reads(rep *Replica, before []string) error {
	return rep.View(func(r *file.Recorder) error {
		all := make(map[string]bool)
		for _, key := range strings.Fields(get(r, "all")) {
			all[key] = true
		}
		for _, key := range before {
			if !all[key] {
				return fmt.Errorf("%s was acknowledged before the read began, and is not there", key)
			}
		}
		return nil
	})
}
