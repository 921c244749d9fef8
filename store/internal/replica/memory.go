package replica

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Memory keeps a log in memory. It is the reference driver, against which the others are
// compared. Connections to it share it.
type Memory struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything changes
	state   memoryState
	ahead   time.Duration // how far this machine's clock is ahead of the log's
}

// memoryState is what a log holds.
type memoryState struct {
	Made      bool
	Log       ID
	Head      Position
	First     uint64
	Entries   map[uint64][]byte
	Snapshots []*Snapshot // the newest is the last
	Chains    map[uint64][8]byte
	Line      []uint64 // places, in order
	LastPlace uint64
}

// NewMemory makes a place for a log in memory. Create makes the log.
func NewMemory() *Memory { return &Memory{changed: make(chan struct{})} }

// do runs fn alone, and wakes waiting calls if it reports a change.
func (m *Memory) do(fn func(s *memoryState) (changed bool, err error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed, err := fn(&m.state)
	if changed {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	return err
}

// tail returns the entries after a position.
func (s *memoryState) tail(at Position) *Tail {
	t := &Tail{Log: s.Log, Head: s.Head, First: s.First}
	if n := len(s.Snapshots); n > 0 {
		t.Snapshot, t.SnapshotBytes = s.Snapshots[n-1].At, int64(len(s.Snapshots[n-1].Body))
	}
	if at.N+1 < s.First {
		return t
	}
	for n := at.N + 1; n <= s.Head.N && len(t.Entries) < MostEntries; n++ {
		t.Entries = append(t.Entries, s.Entries[n])
	}
	return t
}

// Append puts an entry after a position, see Log.
func (m *Memory) Append(_ context.Context, at Position, entry []byte, place Place) (t *Tail, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		mine, _ := place.(*memoryPlace)
		waits := len(s.Line) > 0 && (mine == nil || s.Line[0] < mine.n)
		switch {
		case !s.Made:
			return false, ErrNoLog
		case s.Head != at || waits:
			t = s.tail(at)
			t.Waiting = waits
			return false, nil
		}
		s.Head = at.After(entry)
		s.Entries[s.Head.N] = slices.Clone(entry)
		if mine != nil {
			s.leave(mine.n)
		}
		return true, nil
	})
	return t, err
}

// After reads the entries after a position, see Log.
func (m *Memory) After(_ context.Context, at Position) (t *Tail, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		if !s.Made {
			return false, ErrNoLog
		}
		t = s.tail(at)
		return false, nil
	})
	return t, err
}

// Snapshot reads the newest snapshot, see Log.
func (m *Memory) Snapshot(context.Context) (newest *Snapshot, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		if !s.Made {
			return false, ErrNoLog
		}
		newest = s.Snapshots[len(s.Snapshots)-1]
		return false, nil
	})
	return newest, err
}

// Create makes the log, see Upkeep.
func (m *Memory) Create(_ context.Context, id ID, first *Snapshot) error {
	return m.do(func(s *memoryState) (bool, error) {
		if s.Made {
			return false, ErrLog
		}
		*s = memoryState{Made: true, Log: id, Head: first.At, First: first.At.N + 1, Entries: make(map[uint64][]byte),
			Snapshots: []*Snapshot{first}}
		return true, nil
	})
}

// Keep replaces the newest snapshot, see Upkeep.
func (m *Memory) Keep(_ context.Context, was Position, snap *Snapshot) (kept bool, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		if !s.Made {
			return false, ErrNoLog
		}
		if kept = s.Snapshots[len(s.Snapshots)-1].At == was; kept {
			s.Snapshots = append(s.Snapshots, snap)
		}
		return kept, nil
	})
	return kept, err
}

// Trim deletes the oldest entries, see Upkeep.
func (m *Memory) Trim(_ context.Context, first uint64) error {
	return m.do(func(s *memoryState) (bool, error) {
		if !s.Made {
			return false, ErrNoLog
		}
		s.First = max(s.First, first)
		for n := range s.Entries {
			if n < s.First {
				delete(s.Entries, n)
			}
		}
		s.Snapshots = slices.DeleteFunc(s.Snapshots, func(snap *Snapshot) bool { return snap.At.N+1 < s.First })
		return true, nil
	})
}

// Earlier reads the snapshot before the newest, see Upkeep.
func (m *Memory) Earlier(context.Context) (earlier *Snapshot, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		if n := len(s.Snapshots); n > 1 {
			earlier = s.Snapshots[n-2]
		}
		return false, nil
	})
	return earlier, err
}

// Remember stores chains, see Upkeep.
func (m *Memory) Remember(_ context.Context, from uint64, chains [][8]byte) error {
	return m.do(func(s *memoryState) (bool, error) {
		if s.Chains == nil {
			s.Chains = make(map[uint64][8]byte)
		}
		for i, c := range chains {
			s.Chains[from+uint64(i)] = c
		}
		return false, nil
	})
}

// Chain returns such a chain, see Log.
func (m *Memory) Chain(_ context.Context, n uint64) (chain [8]byte, known bool, err error) {
	err = m.do(func(s *memoryState) (bool, error) { chain, known = s.Chains[n]; return false, nil })
	return chain, known, err
}

// Size returns the size of the log, see Upkeep.
func (m *Memory) Size(context.Context) (size Size, err error) {
	err = m.do(func(s *memoryState) (bool, error) {
		if !s.Made {
			return false, ErrNoLog
		}
		for _, e := range s.Entries {
			size.Prefix += int64(len(e))
		}
		for _, snap := range s.Snapshots {
			size.Prefix += int64(len(snap.Body))
		}
		size.Stored = size.Prefix
		return false, nil
	})
	return size, err
}

// SetAhead sets how far this machine's clock is ahead of the log's.
func (m *Memory) SetAhead(d time.Duration) {
	_ = m.do(func(*memoryState) (bool, error) { m.ahead = d; return false, nil })
}

// Clock returns how far this machine's clock is ahead, see Driver.
func (m *Memory) Clock(context.Context) (ahead time.Duration, err error) {
	err = m.do(func(*memoryState) (bool, error) { ahead = m.ahead; return false, nil })
	return ahead, err
}

// Watch waits for a different head, see Driver.
func (m *Memory) Watch(ctx context.Context, at Position) error {
	return m.wait(ctx, func(s *memoryState) bool { return s.Head != at })
}

// wait waits until a condition holds.
func (m *Memory) wait(ctx context.Context, until func(s *memoryState) bool) error {
	for {
		m.mu.Lock()
		done, changed := until(&m.state), m.changed
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Close does nothing, because others may use the log.
func (m *Memory) Close() error { return nil }

// memoryPlace is a place in the line.
type memoryPlace struct {
	m *Memory
	n uint64
}

// leave takes a place out of the line.
func (s *memoryState) leave(n uint64) {
	s.Line = slices.DeleteFunc(s.Line, func(other uint64) bool { return other == n })
}

// While does nothing, because a place in memory does not expire, see Place.
func (*memoryPlace) While(func() bool) {}

// Leave gives up the place, see Place.
func (p *memoryPlace) Leave() {
	_ = p.m.do(func(s *memoryState) (bool, error) { s.leave(p.n); return true, nil })
}

// Turn waits in the line, see Log.
func (m *Memory) Turn(ctx context.Context, place Place, at Position) (Place, *Tail, error) {
	mine, _ := place.(*memoryPlace)
	waited := false
	_ = m.do(func(s *memoryState) (changed bool, err error) {
		mine, waited, changed = s.enter(m, mine)
		return changed, nil
	})
	err := m.wait(ctx, func(s *memoryState) bool { return len(s.Line) == 0 || s.Line[0] >= mine.n })
	var tail *Tail
	if err == nil {
		tail, err = m.After(ctx, at)
	}
	if err != nil {
		mine.Leave()
		return nil, nil, err
	}
	tail.Waiting = waited
	return mine, tail, nil
}

// enter takes the last place in the line, unless mine is still in it.
func (s *memoryState) enter(m *Memory, mine *memoryPlace) (p *memoryPlace, waits, entered bool) {
	waits = len(s.Line) > 0 && (mine == nil || s.Line[0] < mine.n)
	if mine != nil && slices.Contains(s.Line, mine.n) {
		return mine, waits, false
	}
	s.LastPlace++ // there was none, or it was lost
	s.Line = append(s.Line, s.LastPlace)
	return &memoryPlace{m, s.LastPlace}, waits, true
}

// Head returns the position of the last entry.
func (m *Memory) Head() (at Position) {
	_ = m.do(func(s *memoryState) (bool, error) { at = s.Head; return false, nil })
	return at
}

// Bytes returns the whole log, for SetBytes.
func (m *Memory) Bytes() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.Marshal(&m.state)
}

// SetBytes sets the log to the state that Bytes returned. Without bytes there is no log.
func (m *Memory) SetBytes(b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = memoryState{}
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, &m.state)
}
