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

// Errors of drivers. Every other error of a call that writes means that the log has
// refused it: nothing was changed, and trying again does not help.
var (
	// ErrNoLog: there is no log below the prefix.
	ErrNoLog = errors.New("there is no log")
	// ErrLog: there is one already.
	ErrLog = errors.New("there is a log already")
	// ErrNested: the prefix lies below that of a log, or the other way round.
	ErrNested = errors.New("no database may lie below another")
	// ErrAway: the log could not be reached, and nothing was sent.
	ErrAway = errors.New("the log cannot be reached")
	// ErrLost: a call was sent, and no answer came: it may have been carried out, or be
	// carried out yet. The caller sends it again with the same bytes.
	ErrLost = errors.New("no answer came")
	// ErrFull: the log has no room for more, or not for something so long.
	ErrFull = errors.New("the log takes no more")
)

// ID tells a log from others: 16 bytes, drawn when it was made.
type ID [16]byte

// String returns the id as text: 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Position is a place in a log: behind N entries, the last of which has Chain. Entries count from
// 1. At 0 the chain is the first 8 bytes of the log's id, so that positions of different logs
// differ.
type Position struct {
	N     uint64
	Chain [8]byte
}

// Start returns the position of a log without entries.
func (id ID) Start() Position { return Position{Chain: [8]byte(id[:8])} }

// positionBytes is how long a position is as bytes.
const positionBytes = 16

// Bytes returns the position as a log keeps it, below head: number and chain.
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

// MostEntries is how many entries a Tail holds at most; a replica further behind joins again.
const MostEntries = 2000

// Tail is what a log held behind a position, all of it at one instant. After at the log's end
// fills in Log and Head alone.
type Tail struct {
	Log   ID
	Head  Position // its last entry
	First uint64   // the oldest entry that is still there; Head.N + 1 where there is none
	// Entries are those behind the position, in order and without a hole, MostEntries at
	// most. There are none if the position lies before First - 1, or at Head or behind it.
	Entries [][]byte
	// Snapshot is where the newest snapshot stands, and SnapshotBytes how long it is.
	Snapshot      Position
	SnapshotBytes int64
	// Waiting says, after an Append, that it was refused because another writer comes first; Head
	// may be where the caller stands. After a Turn, it says that another came first.
	Waiting bool
	// Answer is that of another writer to the words that the caller had in the line: they were
	// run with that writer's entry, and the place is given up. Nil: they were not run.
	Answer []byte
	// Asked are, of a Turn, the words of those who wait behind the place, in their order.
	Asked []Asked
}

// Asked are the words of a writer in the line: what it asks the first one to do. Place tells
// it from others.
type Asked struct {
	Place string
	Words []byte
}

// Answer is what the first one in the line answers to the words of another.
type Answer struct {
	Place string
	Text  []byte // not empty
}

// MostWords limits the words of a writer, in bytes, and MostAsked how many are run with one
// entry: etcd takes 128 steps at once, and 1.5 MiB.
const (
	MostWords = 64 << 10
	MostAsked = 32
)

// Log is what a store asks of whoever keeps its log, for each transaction. Its methods may
// be called from several goroutines. A context that ends makes a call fail with ErrLost
// where it was sent, and with ErrAway where it was not. Each method finds another member
// by itself where one does not answer, if it can do that without sending again what may
// have been carried out; Append does not.
type Log interface {
	// Append puts an entry behind a position, in one step. If at is the log's last entry, and no
	// writer in the line comes before the caller's place, it puts the entry, moves the head to
	// (at.N+1, ChainOf(entry)), gives up the place in the line, which may be nil, and returns nil.
	// Otherwise it returns the entries behind the position and changes nothing. It is one attempt:
	// after ErrLost the caller calls again with the same bytes, and finds its own entry in the Tail
	// if it was put. If the log begins behind at+1, the Tail cannot tell: then it is also ErrLost
	// if the answer is to one of several copies that were sent.
	//
	// Answers to those whose words were run are given in the same step, and only if all of them
	// still wait and the caller's words were not run: their places are given up, too.
	Append(ctx context.Context, at Position, entry []byte, place Place, answers ...Answer) (*Tail, error)
	// After reads the entries behind a position. It is linearizable: it sees every entry whose
	// Append has returned before it was called. It fails with ErrNoLog if there is no log.
	After(ctx context.Context, at Position) (*Tail, error)
	// Snapshot reads the newest snapshot, whole.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Chain returns the chain of an entry that was trimmed, if Remember was told of it.
	Chain(ctx context.Context, n uint64) (chain [8]byte, known bool, err error)
	// Turn waits in the line until place is first; without a place it takes the last one. It
	// returns the entries behind a position when the turn came, which saves another call. A place
	// that is lost during the wait is taken again, at the end. The line is for fairness only.
	//
	// A new place has words, nil for none, which the first in the line may run. Then the Tail is
	// the answer, and there is no place. An error says that they were not run, nor will be; ErrLost
	// says that this is unknown.
	Turn(ctx context.Context, place Place, at Position, words []byte) (Place, *Tail, error)
}

// Place is one in the line, kept alive until it is left, or an Append with it has put its
// entry.
type Place interface {
	// While keeps the place alive only as long as working says that its owner works: it is
	// asked every few seconds from another goroutine. A place that is not kept alive is lost.
	While(working func() bool)
	// Leave gives the place up. It returns at once, and does nothing if the place is
	// given up already.
	Leave()
	// Withdraw gives up a place that has words, and returns their answer if they were run; nil
	// says that they were not, nor will be. It fails with ErrLost if that is not known.
	Withdraw(ctx context.Context) (answer []byte, err error)
}

// Snapshot is every row of a database at a position, as package replica writes it.
type Snapshot struct {
	At     Position
	Format uint32   // of the file
	SHA256 [32]byte // of Body
	Body   []byte
}

// Upkeep is what is seldom asked of a log.
type Upkeep interface {
	// Create makes a log that stands at s.At, which is id.Start(), with its first snapshot.
	// It fails with ErrLog if there is one, and changes nothing then.
	Create(ctx context.Context, id ID, s *Snapshot) error
	// Keep puts a snapshot in the place of the newest one, if that one's position is was
	// still; else it does nothing, and is false. The one before the newest is kept, too.
	Keep(ctx context.Context, was Position, s *Snapshot) (bool, error)
	// Earlier reads the snapshot before the newest, nil if there is none.
	Earlier(ctx context.Context) (*Snapshot, error)
	// Remember keeps the chains of entries from a position on, which Trim forgets next.
	Remember(ctx context.Context, from uint64, chains [][8]byte) error
	// Trim moves First to a position, unless it is there or behind it already, and only
	// then deletes the entries before it, and the snapshots that lie before first - 1.
	// What an earlier one has left it deletes, too.
	Trim(ctx context.Context, first uint64) error
	// Size tells how much there is.
	Size(ctx context.Context) (Size, error)
}

// Size is how much a log holds, and may hold. What is not known is 0.
type Size struct {
	Prefix int64 // bytes below the prefix
	Stored int64 // bytes of all that whoever keeps the log has stored
	Quota  int64 // how many those may be

	NoSpace bool // the log takes no more entries until it has room again
}

// Driver is a connection to a log.
type Driver interface {
	Log
	Upkeep
	// Watch returns when the log's head is not at a position, and fails when the context
	// ends. It may return early.
	Watch(ctx context.Context, at Position) error
	// Clock is how far this machine's clock is ahead of the log's: of the median of up to
	// three members.
	Clock(ctx context.Context) (time.Duration, error)
	// Close gives the connection up, and the places in the line that it has.
	Close() error
}

// Config is how a driver connects.
type Config struct {
	Scheme  string
	Members []string // HOST:PORT
	Prefix  string   // without / at either end
	Folder  string   // of the machine's replicas; "": there is none
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

// ErrNoDriver says that this build has no driver for a scheme.
var ErrNoDriver = errors.New("this build does not speak etcd: use placectl-etcd, or build it with -tags etcd")

// ErrName says that the name of a log is not spelt as one.
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

// Connect makes a connection to the log of a name, for a machine with a folder of replicas,
// or with none. It sends nothing.
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
