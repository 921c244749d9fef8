package replica

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors of drivers. Any other error of a call that writes means that the log has refused it:
// nothing was changed, and a retry does not help.
var (
	// ErrNoLog: there is no log below the prefix.
	ErrNoLog = errors.New("there is no log")
	// ErrLog: there already is a log.
	ErrLog = errors.New("there is a log already")
	// ErrNested: the prefix lies below that of a log, or the other way round.
	ErrNested = errors.New("no database may lie below another")
	// ErrAway: the log could not be reached, and nothing was sent.
	ErrAway = errors.New("the log cannot be reached")
	// ErrLost: a call was sent, and no answer came. It may have been carried out, or may still
	// be. The caller sends it again with the same bytes.
	ErrLost = errors.New("no answer came")
	// ErrFull: the log has no room, or not for something that long.
	ErrFull = errors.New("the log takes no more")
)

// ID identifies a log: 16 bytes, drawn when it was made.
type ID [16]byte

// String returns the id as text: 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Position is a place in a log: after N entries, with Chain as the chain of the last. Entries
// count from 1. At 0 the chain is the first 8 bytes of the log's id, so that positions of
// different logs differ.
type Position struct {
	N     uint64
	Chain [8]byte
}

// Start returns the position of a log without entries.
func (id ID) Start() Position { return Position{Chain: [8]byte(id[:8])} }

// positionBytes is the length of a position in bytes.
const positionBytes = 16

// Bytes returns the position as a log stores it, under head: number and chain.
func (p Position) Bytes() []byte {
	return append(binary.BigEndian.AppendUint64(nil, p.N), p.Chain[:]...)
}

// ParsePosition reads what Bytes wrote.
func ParsePosition(b []byte) (p Position, ok bool) {
	if len(b) != positionBytes {
		return p, false
	}
	return Position{binary.BigEndian.Uint64(b), [8]byte(b[8:])}, true
}

func (p Position) String() string { return fmt.Sprintf("%d (%x)", p.N, p.Chain) }

// MostEntries is the most entries in a Tail. A replica further behind joins again.
const MostEntries = 2000

// Tail is the content of a log after a position, at one instant. At the log's end, After fills
// in only Log and Head.
type Tail struct {
	Log   ID
	Head  Position // its last entry
	First uint64   // the oldest existing entry; Head.N + 1 if there is none
	// Entries are the entries after the position, in order and without gaps, MostEntries at
	// most. There are none if the position is before First - 1, or at or after Head.
	Entries [][]byte
	// Snapshot is the position of the newest snapshot, and SnapshotBytes its length.
	Snapshot      Position
	SnapshotBytes int64
	// Waiting means, after an Append, that it was refused because another writer comes first;
	// Head may be the caller's position. After a Turn, it means that another came first.
	Waiting bool
}

// Log is the part of a driver that each transaction uses. Its methods may be called from
// several goroutines. If the context ends, a call fails with ErrLost if it was sent, and with
// ErrAway if not. If a member does not answer, each method tries another by itself, unless it
// would resend something that may have been carried out. Append does not try others.
type Log interface {
	// Append puts an entry after a position, in one step. If at is the log's last entry, and
	// no writer in the line comes before the caller's place, it puts the entry, moves the head
	// to (at.N+1, ChainOf(entry)), gives up the place in the line, which may be nil, and
	// returns nil. Otherwise it returns the entries after the position and changes nothing. It
	// is one attempt: after ErrLost the caller calls again with the same bytes, and finds its
	// own entry in the Tail if it was put. If the log begins after at+1, the Tail cannot tell.
	// Then Append also fails with ErrLost if the answer is to one of several copies that were
	// sent.
	Append(ctx context.Context, at Position, entry []byte, place Place) (*Tail, error)
	// After reads the entries after a position. It is linearizable: it sees every entry whose
	// Append has returned before it was called. It fails with ErrNoLog if there is no log.
	After(ctx context.Context, at Position) (*Tail, error)
	// Snapshot reads the whole newest snapshot.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Chain returns the chain of an entry that was trimmed, if Remember was told of it.
	Chain(ctx context.Context, n uint64) (chain [8]byte, known bool, err error)
	// Turn waits in the line until place is first. Without a place, it takes the last one. It
	// returns the entries after a position at that time, which saves another call. A place
	// that is lost during the wait is taken again, at the end. The line is only for fairness.
	Turn(ctx context.Context, place Place, at Position) (Place, *Tail, error)
}

// Place is a place in the line. It is kept alive until Leave, or until an Append with it has
// put its entry.
type Place interface {
	// While keeps the place alive only while working reports that its owner works. Another
	// goroutine calls working every few seconds. A place that is not kept alive is lost.
	While(working func() bool)
	// Leave gives up the place. It returns at once, and does nothing if the place is already
	// given up.
	Leave()
}

// Snapshot is every row of a database at a position, as package replica writes it.
type Snapshot struct {
	At     Position
	Format uint32   // of the file
	SHA256 [32]byte // of Body
	Body   []byte
}

// Upkeep is the part of a driver that is seldom used.
type Upkeep interface {
	// Create makes a log at s.At, which is id.Start(), with its first snapshot. If there
	// already is a log, it fails with ErrLog and changes nothing.
	Create(ctx context.Context, id ID, s *Snapshot) error
	// Keep replaces the newest snapshot, if its position still is was. Otherwise it does
	// nothing and returns false. The snapshot before the newest is kept, too.
	Keep(ctx context.Context, was Position, s *Snapshot) (bool, error)
	// Earlier reads the snapshot before the newest, or returns nil if there is none.
	Earlier(ctx context.Context) (*Snapshot, error)
	// Remember stores the chains of entries from a position on, before Trim deletes the
	// entries.
	Remember(ctx context.Context, from uint64, chains [][8]byte) error
	// Trim moves First to a position, unless it already is there or after it. Only then it
	// deletes the entries before it, and the snapshots before first - 1. It also deletes what
	// an earlier Trim has left.
	Trim(ctx context.Context, first uint64) error
	// Size returns the size of the log.
	Size(ctx context.Context) (Size, error)
}

// Size is how much a log holds, and may hold. Unknown values are 0.
type Size struct {
	Prefix int64 // bytes below the prefix
	Stored int64 // bytes stored in all by the log's server
	Quota  int64 // limit of Stored

	NoSpace bool // the log accepts no entries until it has room again
}

// Driver is a connection to a log.
type Driver interface {
	Log
	Upkeep
	// Watch returns when the log's head is not at a position, and fails when the context
	// ends. It may return early.
	Watch(ctx context.Context, at Position) error
	// Clock returns how far this machine's clock is ahead of the log's, which is the median of
	// up to three members.
	Clock(ctx context.Context) (time.Duration, error)
	// Close closes the connection, and gives up its places in the line.
	Close() error
}

// Config tells how a driver connects.
type Config struct {
	Scheme  string
	Members []string // HOST:PORT
	Prefix  string   // without / at either end
	Folder  string   // of the machine's replicas; "" for none
	Detail  func(string)
}

// Sum tells the names of logs apart, in any order of members.
func (c *Config) Sum() string {
	members := slices.Sorted(slices.Values(c.Members))
	sum := sha256.Sum256([]byte(c.Scheme + "\n" + strings.Join(members, ",") + "\n" + c.Prefix))
	return hex.EncodeToString(sum[:8])
}

var (
	driversMu sync.Mutex
	drivers   = make(map[string]func(Config) (Driver, error))
)

// Register makes a driver known by the scheme of its URLs. Opening one sends nothing.
func Register(scheme string, open func(Config) (Driver, error)) {
	driversMu.Lock()
	defer driversMu.Unlock()
	drivers[scheme] = open
}

// ErrNoDriver means that this build has no driver for a scheme.
var ErrNoDriver = errors.New("this build does not speak etcd: use placectl-etcd, or build it with -tags etcd")

// ErrName means that the name of a log is malformed.
var ErrName = errors.New("the name of a log is etcd://HOST:PORT,HOST:PORT/PREFIX")

// Parse reads the name of a log.
func Parse(name string) (Config, error) {
	scheme, rest, is := strings.Cut(name, "://")
	hosts, prefix, _ := strings.Cut(rest, "/")
	c := Config{Scheme: scheme, Prefix: strings.Trim(prefix, "/")}
	switch {
	case strings.Contains(hosts, "@"):
		return c, fmt.Errorf("%w: put user and password into a file, and name it in PLACECTL_ETCD_AUTH", ErrName)
	case !is || scheme == "" || c.Prefix == "" || strings.ContainsAny(name, "?# \t\r\n"):
		return c, fmt.Errorf("%w, and not %q", ErrName, name)
	}
	if hosts != "" {
		c.Members = strings.Split(hosts, ",")
	}
	return c, nil
}

// Connect makes a connection to the log with a name, for a machine with or without a folder of
// replicas. It sends nothing.
func Connect(name, folder string, detail func(string)) (Driver, Config, error) {
	c, err := Parse(name)
	if err != nil {
		return nil, c, err
	}
	driversMu.Lock()
	open := drivers[c.Scheme]
	driversMu.Unlock()
	if open == nil {
		return nil, c, ErrNoDriver
	}
	c.Folder, c.Detail = folder, detail
	d, err := open(c)
	return d, c, err
}
