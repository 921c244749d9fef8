// Package logtest keeps logs in files, for tests: databases named testlog:///PATH, which many
// processes use at once. With restless:///PATH each transaction runs twice, see replica.Restless.
// With memory:///PATH the log is in memory, for one process, and has a line. Import it for its
// registration. A file PATH.keeper, a document of type keeper, sets the behaviour of the log's
// server.
package logtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

func init() {
	replica.Register("testlog", func(c replica.Config) (replica.Driver, error) {
		return &folder{path: "/" + c.Prefix}, nil
	})
	replica.Register("memory", func(c replica.Config) (replica.Driver, error) { return memory(c.Prefix), nil })
	replica.Register("restless", func(c replica.Config) (replica.Driver, error) {
		return &replica.Restless{Driver: &folder{path: "/" + c.Prefix}}, nil
	})
}

var (
	memoriesMu sync.Mutex
	memories   = make(map[string]*replica.Memory)
)

// memory returns the log that memory:///PATH names.
func memory(path string) *replica.Memory {
	memoriesMu.Lock()
	defer memoriesMu.Unlock()
	if memories[path] == nil {
		memories[path] = replica.NewMemory()
	}
	return memories[path]
}

// lookEvery is the interval at which a waiting process looks for changes of the file.
const lookEvery = 5 * time.Millisecond

// Magic begins the file of a log.
const Magic = "placectl log for tests\n"

// folder is a log in a file. Each call reads and writes the whole file.
type folder struct{ path string }

// keeper is the behaviour of a log's server, as tests set it.
type keeper struct {
	Size  replica.Size
	Ahead string // how far this machine's clock is ahead of theirs: a duration
}

// keeper reads the behaviour; by default there is no file.
func (f *folder) keeper() (k keeper, err error) {
	text, err := os.ReadFile(f.path + ".keeper")
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	return k, errors.Join(err, json.Unmarshal(text, &k))
}

// do runs fn on the log, under a lock.
func (f *folder) do(fn func(m *replica.Memory) error) error {
	lock, err := os.OpenFile(f.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := lockWhole(lock); err != nil {
		return err
	}
	was, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m := replica.NewMemory()
	if err := m.SetBytes(bytes.TrimPrefix(was, []byte(Magic))); err != nil {
		return err
	}
	if err := fn(m); err != nil {
		return err
	}
	now, err := m.Bytes()
	now = append([]byte(Magic), now...)
	if err != nil || bytes.Equal(now, was) {
		return err
	}
	if err := os.WriteFile(f.path+".new", now, 0o600); err != nil {
		return err
	}
	return os.Rename(f.path+".new", f.path)
}

func (f *folder) Append(ctx context.Context, at replica.Position, entry []byte, _ replica.Place) (t *replica.Tail,
	err error) {
	k, err := f.keeper()
	switch {
	case err != nil:
		return nil, err
	case k.Size.NoSpace:
		return nil, replica.ErrFull
	}
	err = f.do(func(m *replica.Memory) error { t, err = m.Append(ctx, at, entry, nil); return err })
	return t, err
}

func (f *folder) After(ctx context.Context, at replica.Position) (t *replica.Tail, err error) {
	err = f.do(func(m *replica.Memory) error { t, err = m.After(ctx, at); return err })
	return t, err
}

func (f *folder) Snapshot(ctx context.Context) (s *replica.Snapshot, err error) {
	err = f.do(func(m *replica.Memory) error { s, err = m.Snapshot(ctx); return err })
	return s, err
}

func (f *folder) Earlier(ctx context.Context) (s *replica.Snapshot, err error) {
	err = f.do(func(m *replica.Memory) error { s, err = m.Earlier(ctx); return err })
	return s, err
}

func (f *folder) Remember(ctx context.Context, from uint64, chains [][8]byte) error {
	return f.do(func(m *replica.Memory) error { return m.Remember(ctx, from, chains) })
}

func (f *folder) Chain(ctx context.Context, n uint64) (chain [8]byte, known bool, err error) {
	err = f.do(func(m *replica.Memory) error { chain, known, err = m.Chain(ctx, n); return err })
	return chain, known, err
}

// Turn only pauses: no place outlives a killed process.
func (f *folder) Turn(ctx context.Context, _ replica.Place, at replica.Position) (replica.Place, *replica.Tail,
	error) {
	time.Sleep(lookEvery)
	t, err := f.After(ctx, at)
	return nil, t, err
}

func (f *folder) Create(ctx context.Context, id replica.ID, s *replica.Snapshot) error {
	return f.do(func(m *replica.Memory) error { return m.Create(ctx, id, s) })
}

func (f *folder) Keep(ctx context.Context, was replica.Position, s *replica.Snapshot) (kept bool, err error) {
	err = f.do(func(m *replica.Memory) error { kept, err = m.Keep(ctx, was, s); return err })
	return kept, err
}

func (f *folder) Trim(ctx context.Context, first uint64) error {
	return f.do(func(m *replica.Memory) error { return m.Trim(ctx, first) })
}

func (f *folder) Size(ctx context.Context) (size replica.Size, err error) {
	err = f.do(func(m *replica.Memory) error { size, err = m.Size(ctx); return err })
	if k, said := f.keeper(); k.Size != (replica.Size{}) || said != nil {
		k.Size.Prefix = size.Prefix
		return k.Size, errors.Join(err, said)
	}
	return size, err
}

func (f *folder) Clock(context.Context) (time.Duration, error) {
	k, err := f.keeper()
	if err != nil || k.Ahead == "" {
		return 0, err
	}
	return time.ParseDuration(k.Ahead)
}

func (f *folder) Watch(ctx context.Context, at replica.Position) error {
	for {
		t, err := f.After(ctx, at)
		if err != nil || t.Head != at {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

func (f *folder) Close() error { return nil }
