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

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
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

// MostEntries is the most entries in a Tail, and MostBytes their length in all, unless there is only
// one. A replica further behind joins again.
const (
	MostEntries = 2000
	MostBytes   = 8 << 20
)

// Tail is the content of a log after a position, at one instant. At the log's end, After may fill
// in only Log and Head.
type Tail struct {
	Log   ID
	Head  Position // its last entry
	First uint64   // the oldest existing entry; Head.N + 1 if there is none
	// Entries are the entries after the position, in order and without gaps, MostEntries and
	// MostBytes at most. There are none if the position is before First - 1, or at or after Head.
	Entries [][]byte
	// Snapshot is the position of the newest snapshot, and SnapshotBytes its length.
	Snapshot      Position
	SnapshotBytes int64
	// Waiting means, after an Append, that it was refused because another writer comes first;
	// Head may be the caller's position.
	Waiting bool
}

// Snapshot is every row of a database at a position, as package replica writes it. A driver gives
// back the bytes that it was given, or fails with ErrSnapshot.
type Snapshot struct {
	At     Position
	Format uint32 // of the file
	Body   []byte
}

// Driver is a connection to one log. Making it sends nothing. Its methods may be called from
// several goroutines. If the context ends, a call fails with ErrLost if it was sent, and with
// ErrAway if not. If a member does not answer, each method but Append tries another by itself.
type Driver interface {
	// After reads the entries after a position. It is linearizable: it sees every entry whose
	// Append has returned before it was called. If wait is set, it returns once the log's head
	// is not at the position, and may return early. It fails with ErrNoLog if there is no log.
	After(ctx context.Context, at Position, wait bool) (*Tail, error)
	// Append makes one attempt to put an entry after a position. If at is the log's last entry,
	// and no other writer's turn is older than turn (nil: if there is no turn, and no writer
	// waits for one), it puts the entry, moves the head to at.After(entry), ends the turn, and returns
	// nil. Otherwise it changes nothing, and returns the entries after the position. After
	// ErrLost the caller calls again with the same bytes, and finds its own entry in the Tail
	// if it was put. An attempt is short, so that the next one meets another member.
	Append(ctx context.Context, at Position, entry []byte, turn Turn) (*Tail, error)
	// Turn waits in the line of writers until the caller is the first. Who loses its turn
	// notices nothing but a refused Append: the line is for fairness only.
	Turn(ctx context.Context) (Turn, error)
	// Snapshot reads the newest snapshot, or the one before; nil if there is none.
	Snapshot(ctx context.Context, before bool) (*Snapshot, error)
	// Keep puts a snapshot if the position of the newest is still was. Otherwise it does
	// nothing and returns false. Then it moves First right behind was, and only then deletes
	// the entries and snapshots before that. If was is nil it makes the log with an id, which
	// begins with the snapshot, unless there is a log already.
	Keep(ctx context.Context, log ID, was *Position, s *Snapshot) (bool, error)
	// Members asks the log's servers about themselves.
	Members(ctx context.Context) (Members, error)
	// Close ends the connection, and the turns.
	Close() error
}

// Turn is the first place in the line. It lasts until Leave, until an Append with it has put its
// entry, or until the log has not heard of its process for some seconds.
type Turn interface {
	Waited() bool // others were before it
	// Leave gives up the turn, in the background. It does nothing if the turn is over.
	Leave()
}

// Members is what a log's servers say of themselves. Unknown sizes are 0.
type Members struct {
	// Ahead is how far this machine's clock is ahead of theirs: the median of up to three. It
	// counts if ClockKnown is set.
	Ahead      time.Duration
	ClockKnown bool
	Stored     int64 // bytes stored in all
	Quota      int64 // limit of Stored
	NoSpace    bool  // the log accepts no entries until it has room again
}

// Config tells how a driver connects.
type Config struct {
	Scheme  string
	Members []string // HOST:PORT
	Prefix  string   // without / at either end
	// Owner names this machine's replica, so that its processes, which write one at a time,
	// have one place in the line; "" for none.
	Owner  string
	Detail func(string)
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

// ErrNoDriver means that this program has no driver for a scheme.
var ErrNoDriver = errors.New("this program does not speak etcd: use placectl-etcd")

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

// Connect makes a connection to the log with a name, SCHEME://... It sends nothing. It fails with
// row.ErrInvalid if the name is malformed, or the program has no driver for the scheme.
func Connect(name, owner string, detail func(string)) (d Driver, c Config, err error) {
	if c, err = Parse(name); err == nil {
		driversMu.Lock()
		open := drivers[c.Scheme]
		driversMu.Unlock()
		c.Owner, c.Detail = owner, detail
		if err = ErrNoDriver; open != nil {
			d, err = open(c)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w%w", name, err, file.Wordless(row.ErrInvalid))
	}
	return d, c, err
}
