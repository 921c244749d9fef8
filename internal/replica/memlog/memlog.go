// Package memlog keeps logs of replicas in memory or in files, for tests. It is the reference driver, against
// which others are compared.
//
// Importing it registers databases named memory:///PATH, in memory, for one process; testlog:///PATH, in a file
// that many processes use at once; and restless:///PATH, such a file in which each transaction runs twice. A file
// PATH.keeper, a replica.Members as JSON, sets what the log's servers say of themselves.
package memlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/replica"
)

func init() {
	replica.Register("memory", func(c replica.Config) (replica.Driver, error) { return Named(c.Prefix), nil })
	replica.Register("testlog", func(c replica.Config) (replica.Driver, error) { return inFile(c), nil })
	replica.Register("restless", func(c replica.Config) (replica.Driver, error) {
		return &Restless{Driver: inFile(c)}, nil
	})
}

var (
	memoriesMu sync.Mutex
	memories   = make(map[string]*Log) // by name
)

// Named returns the log in memory that memory:///NAME names.
func Named(name string) *Log {
	memoriesMu.Lock()
	defer memoriesMu.Unlock()
	if memories[name] == nil {
		memories[name] = New()
	}
	return memories[name]
}

func inFile(c replica.Config) *Log { return &Log{path: "/" + c.Prefix} }

// Log is a log. Connections to it share it.
type Log struct {
	path    string // of its file; "" in memory
	mu      sync.Mutex
	state   state
	members replica.Members
}

// state is what a log holds.
type state struct {
	Made      bool
	Log       replica.ID
	Head      replica.Position
	First     uint64
	Entries   map[uint64][]byte
	Snapshots []*replica.Snapshot // the newest is the last
	Line      []uint64            // turns, in order
	LastTurn  uint64
}

// New makes a place in memory for a log. Keep makes the log.
func New() *Log { return &Log{members: replica.Members{ClockKnown: true}} }

// Magic begins the file of a log.
const Magic = "placectl log for tests\n"

// do runs fn on a log that exists, alone.
func (l *Log) do(fn func(s *state) error) error {
	return l.alone(func(s *state) error {
		if !s.Made {
			return replica.ErrNoLog
		}
		return fn(s)
	})
}

// alone runs fn on the log, which may not exist. A log in a file is read and written as a whole.
func (l *Log) alone(fn func(s *state) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return fn(&l.state)
	}
	lock, err := os.OpenFile(l.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := lockWhole(lock); err != nil {
		return err
	}
	was, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var s state
	if err := unmarshal(bytes.TrimPrefix(was, []byte(Magic)), &s); err != nil {
		return err
	}
	if err := fn(&s); err != nil {
		return err
	}
	now, err := json.Marshal(&s)
	now = append([]byte(Magic), now...)
	if err != nil || bytes.Equal(now, was) {
		return err
	}
	if err := os.WriteFile(l.path+".new", now, 0o600); err != nil {
		return err
	}
	return os.Rename(l.path+".new", l.path)
}

// unmarshal reads a document, which may be empty.
func unmarshal(b []byte, into any) error {
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, into)
}

// lookEvery is the interval at which a waiting call looks for changes. In a file it looks 25 times as seldom: where
// each read puts an entry, as in a restless log, those who wait would always be faster than a writer.
const lookEvery = 2 * time.Millisecond

// wait waits until a condition holds.
func (l *Log) wait(ctx context.Context, until func(s *state) bool) error {
	for {
		var done bool
		if err := l.do(func(s *state) error { done = until(s); return nil }); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(replica.ErrAway, ctx.Err())
		case <-time.After(lookEvery * time.Duration(1+24*min(len(l.path), 1))):
		}
	}
}

// tail returns the entries after a position.
func (s *state) tail(at replica.Position) *replica.Tail {
	newest := s.Snapshots[len(s.Snapshots)-1]
	t := &replica.Tail{Log: s.Log, Head: s.Head, First: s.First, Snapshot: newest.At,
		SnapshotBytes: int64(len(newest.Body))}
	if at.N+1 < s.First {
		return t
	}
	length := 0
	for n := at.N + 1; n <= s.Head.N && len(t.Entries) < replica.MostEntries; n++ {
		if length += len(s.Entries[n]); length > replica.MostBytes && len(t.Entries) > 0 {
			break
		}
		t.Entries = append(t.Entries, s.Entries[n])
	}
	return t
}

// After reads the entries after a position.
func (l *Log) After(ctx context.Context, at replica.Position, wait bool) (t *replica.Tail, err error) {
	if wait {
		if err := l.wait(ctx, func(s *state) bool { return s.Head != at }); err != nil {
			return nil, err
		}
	}
	err = l.do(func(s *state) error { t = s.tail(at); return nil })
	return t, err
}

// Append puts an entry after a position.
func (l *Log) Append(_ context.Context, at replica.Position, entry []byte, where replica.Turn) (t *replica.Tail,
	err error) {
	m, err := l.keeper()
	switch {
	case err != nil:
		return nil, err
	case m.NoSpace:
		return nil, replica.ErrFull
	}
	mine, _ := where.(*turn)
	err = l.do(func(s *state) error {
		if waits := len(s.Line) > 0 && (mine == nil || s.Line[0] < mine.n); s.Head != at || waits {
			t = s.tail(at)
			t.Waiting = waits
			return nil
		}
		s.Head = at.After(entry)
		s.Entries[s.Head.N] = slices.Clone(entry)
		s.leave(mine)
		return nil
	})
	return t, err
}

// turn is a place in the line.
type turn struct {
	l      *Log
	n      uint64
	waited bool
}

// Turn waits in the line. In a file no writer waits, because no turn would end with a killed process.
func (l *Log) Turn(ctx context.Context) (replica.Turn, error) {
	t := &turn{l: l}
	if l.path != "" {
		time.Sleep(lookEvery)
		return t, nil
	}
	err := l.do(func(s *state) error {
		s.LastTurn++
		t.n, t.waited = s.LastTurn, len(s.Line) > 0
		s.Line = append(s.Line, t.n)
		return nil
	})
	if err == nil {
		err = l.wait(ctx, func(s *state) bool { return len(s.Line) == 0 || s.Line[0] >= t.n })
	}
	if err != nil {
		t.Leave()
		return nil, err
	}
	return t, nil
}

// leave takes a turn out of the line.
func (s *state) leave(t *turn) {
	if t != nil {
		s.Line = slices.DeleteFunc(s.Line, func(n uint64) bool { return n == t.n })
	}
}

func (t *turn) Waited() bool { return t.waited }

func (t *turn) Leave() { _ = t.l.do(func(s *state) error { s.leave(t); return nil }) }

// Snapshot reads the newest snapshot, or the one before.
func (l *Log) Snapshot(_ context.Context, before bool) (snap *replica.Snapshot, err error) {
	err = l.do(func(s *state) error {
		n := len(s.Snapshots)
		if before {
			n--
		}
		if n > 0 {
			snap = s.Snapshots[n-1]
		}
		return nil
	})
	return snap, err
}

// Keep puts a snapshot, and deletes what is before the one that it replaces; or makes the log.
func (l *Log) Keep(_ context.Context, id replica.ID, was *replica.Position, snap *replica.Snapshot) (kept bool,
	err error) {
	if was == nil {
		err = l.alone(func(s *state) error {
			if kept = !s.Made; kept {
				*s = state{Made: true, Log: id, Head: snap.At, First: snap.At.N + 1, Entries: make(map[uint64][]byte),
					Snapshots: []*replica.Snapshot{snap}}
			}
			return nil
		})
		return kept, err
	}
	err = l.do(func(s *state) error {
		if kept = s.Snapshots[len(s.Snapshots)-1].At == *was; !kept {
			return nil
		}
		s.Snapshots = append(s.Snapshots, snap)
		s.First = max(s.First, was.N+1)
		for n := range s.Entries {
			if n < s.First {
				delete(s.Entries, n)
			}
		}
		s.Snapshots = slices.DeleteFunc(s.Snapshots, func(s *replica.Snapshot) bool { return s.At.N < was.N })
		return nil
	})
	return kept, err
}

// Members returns what tests have set.
func (l *Log) Members(context.Context) (replica.Members, error) { return l.keeper() }

func (l *Log) keeper() (replica.Members, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return l.members, nil
	}
	m := replica.Members{ClockKnown: true}
	text, err := os.ReadFile(l.path + ".keeper")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	return m, unmarshal(text, &m)
}

// SetMembers sets what the servers of a log in memory say.
func (l *Log) SetMembers(m replica.Members) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members = m
}

// Close does nothing, because others may use the log.
func (l *Log) Close() error { return nil }

// Head returns the position of the last entry.
func (l *Log) Head() (at replica.Position) {
	_ = l.do(func(s *state) error { at = s.Head; return nil })
	return at
}

// First returns the number of the oldest entry, and how many there are.
func (l *Log) First() (first uint64, count int) {
	_ = l.do(func(s *state) error { first, count = s.First, len(s.Entries); return nil })
	return first, count
}

// Bytes returns all of a log in memory, for SetBytes.
func (l *Log) Bytes() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(&l.state)
}

// SetBytes sets the log to the state that Bytes returned. Without bytes there is no log.
func (l *Log) SetBytes(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state{}
	return unmarshal(b, &l.state)
}
