//go:build etcd

package etcd

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
	"github.com/placectl/placectl/store/internal/row"
)

// TestHungOwner: a writer that makes no progress in its turn loses its place, however busy the
// rest of its process is; one that works keeps it.
func TestHungOwner(t *testing.T) {
	t.Parallel()
	const faster = 3 // the fake's clock: a place runs out after 3.3 s
	f, began := newFake(), time.Now()
	f.now = func() time.Time { return began.Add(faster * time.Since(began)) }
	host := f.member(t, nil)
	machine := func() *replica.Replica {
		d := connect(t, "hung", host)
		d.renewPlace = time.Second // on a busy machine a thread may have to wait that long
		rep, err := replica.Connected("etcd://hung", d, replica.Config{},
			replica.Options{Folder: t.TempDir(), LockTimeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	path := filepath.Join(t.TempDir(), "first.db")
	if err := file.Create(path, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	first, err := file.Open(path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := replica.Create(connect(t, "hung", host), time.Minute, first); err != nil {
		t.Fatal(err)
	}
	hung, other := machine(), machine()
	write := func(rep *replica.Replica, key string, during func()) error {
		return rep.Update(func(r *file.Recorder) (bool, error) {
			during()
			return true, r.Put(row.Config, []byte(key), []byte("\x01done"))
		})
	}
	spin := func(d time.Duration) {
		for began := time.Now(); time.Since(began) < d; {
		}
	}
	// second does something in the run that has the turn, after the first lost its race.
	second := func(runs *int, do func()) func() {
		return func() {
			if *runs++; *runs == 1 {
				if err := write(other, "faster", func() { time.Sleep(60 * time.Millisecond) }); err != nil {
					t.Error(err)
				}
			} else if *runs == 2 {
				do()
			}
		}
	}
	for _, c := range []struct {
		name string
		runs int
		do   func(passed <-chan error)
	}{
		{"hangs", 3, func(passed <-chan error) {
			stop := make(chan struct{})
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						spin(time.Millisecond)
					}
				}
			}()
			defer close(stop)
			select {
			case err := <-passed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("a writer that hangs stops the others")
			}
		}},
		{"works", 2, func(passed <-chan error) {
			spin(4500 * time.Millisecond)
			select {
			case err := <-passed:
				t.Errorf("another writer came first: %v", err)
			default:
			}
		}},
	} {
		passed, runs := make(chan error, 1), 0
		var others sync.WaitGroup
		err := write(hung, c.name, second(&runs, func() {
			others.Go(func() { passed <- write(other, "other", func() {}) })
			c.do(passed)
		}))
		others.Wait() // what it says belongs to this test
		if err != nil || runs != c.runs {
			t.Errorf("a writer that %s: %d runs, %v", c.name, runs, err)
		}
	}
}
