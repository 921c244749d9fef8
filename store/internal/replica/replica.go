package replica

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Options are how a replica is used. The zero value works but for Folder.
type Options struct {
	Folder      string        // where replicas lie; it is made where it is not there
	LockTimeout time.Duration // how long a transaction waits: for the file, and for the log
	Stale       time.Duration // readers are content with a replica that was fresh so long ago; negative: with any
	Version     string        // of the program
	Verb        string        // the verb
	Now         func() time.Time
	Warn        func(string)
	Detail      func(string)
}

// Replica is a handle on a log through this machine's copy of it. Its methods may be called
// from several goroutines.
type Replica struct {
	Name   string // of the log
	driver Driver
	opt    Options
	link   string // the file that says which log's replica is the one of Name

	closing sync.Once
	closed  error

	mu   sync.Mutex
	id   ID
	file *file.File
	due  float64 // how often the bound at which a snapshot is due has been reached
}

// Connected makes a handle through a driver. The local replica is made where there is none,
// and is not looked at where there is.
func Connected(name string, d Driver, c Config, opt Options) (*Replica, error) {
	rep := &Replica{Name: name, driver: d, opt: opt}
	if err := rep.folder(); err != nil {
		return nil, err
	}
	rep.link = filepath.Join(opt.Folder, c.Sum()+".log")
	if id, err := readLink(rep.link); err == nil {
		if err := rep.use(id); err == nil {
			return rep, nil
		}
	}
	return rep, rep.join(rep.until())
}

// folder makes the folder of replicas. What lies in one that others may write is not to be
// trusted.
func (rep *Replica) folder() error {
	if err := os.MkdirAll(rep.opt.Folder, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(rep.opt.Folder)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: others may write the folder of replicas, %s", file.ErrUnsafe, rep.opt.Folder)
	}
	return err
}

// readLink reads which log a name leads to.
func readLink(path string) (id ID, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return id, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != len(id) {
		return id, fs.ErrNotExist
	}
	return ID(b), nil
}

// path returns the path of a log's replica. After a reboot it is unknown how much of it is on disk: it
// has another name then.
func (rep *Replica) path(id ID) string {
	return filepath.Join(rep.opt.Folder, fmt.Sprintf("%s-%s-%s-%d.db", id, bootID(), machineID(), os.Getuid()))
}

var bootID = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "-", "")
})

// machineID tells this machine from others that have the folder, too: a home may be shared.
var machineID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/etc/machine-id") // several may have the same, or none
	sum := sha256.Sum256(append(id, hostName()...))
	return hex.EncodeToString(sum[:4])
})

// use makes a handle on the replica of a log, which has to be there.
func (rep *Replica) use(id ID) error {
	f, err := file.Open(rep.path(id), file.Options{LockTimeout: rep.opt.LockTimeout, Replica: true, Warn: rep.opt.Warn, Detail: rep.opt.Detail})
	if err != nil {
		return err
	}
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.id, rep.file = id, f
	return nil
}

// File returns the local replica, as it is.
func (rep *Replica) File() *file.File {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	return rep.file
}

// PutLocal puts a row that is of this replica alone, and in no entry of the log: see row.Local.
func (rep *Replica) PutLocal(t row.Table, key, payload []byte) error {
	return rep.File().Follow(func(r *file.Recorder) (bool, error) {
		r.Unrecorded()
		return true, r.Put(t, key, payload)
	})
}

// ID returns the log's.
func (rep *Replica) ID() ID {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	return rep.id
}

// Driver returns the connection to the log.
func (rep *Replica) Driver() Driver { return rep.driver }

// Close gives the connection up.
func (rep *Replica) Close() error {
	rep.closing.Do(func() { rep.closed = errors.Join(rep.File().Close(), rep.driver.Close()) })
	return rep.closed
}

// until returns when who begins now gives up.
func (rep *Replica) until() time.Time { return time.Now().Add(rep.opt.LockTimeout) }

// within returns a context for a call that may take until then.
func within(until time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.Background(), until)
}

// freshPath returns the file whose time of change says when the replica was fresh.
func (rep *Replica) freshPath() string { return rep.path(rep.ID()) + ".fresh" }

// wasFresh notes that the replica held all that the log held at an instant.
func (rep *Replica) wasFresh(at time.Time) { touch(rep.freshPath(), at) }

// touch says by the time of a file, which it makes, when something was.
func touch(path string, at time.Time) {
	if err := os.Chtimes(path, at, at); errors.Is(err, fs.ErrNotExist) {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.Close()
			_ = os.Chtimes(path, at, at)
		}
	}
}

// crowdedFor is how long a machine remembers that its writers had to wait for others.
const crowdedFor = time.Second

// linePath returns the file whose time of change says when a writer had to.
func (rep *Replica) linePath() string { return rep.path(rep.ID()) + ".line" }

// crowded reports whether a writer of this machine had to wait for others lately: who
// writes next had better line up than lose to them first.
func (rep *Replica) crowded() bool {
	info, err := os.Stat(rep.linePath())
	return err == nil && time.Since(info.ModTime()).Abs() < crowdedFor
}

// noteCrowd notes whether a writer had to wait.
func (rep *Replica) noteCrowd(waited bool) {
	if waited {
		touch(rep.linePath(), time.Now())
	} else {
		_ = os.Remove(rep.linePath())
	}
}

// Age returns how long ago the replica was fresh; false if that is not known.
func (rep *Replica) Age() (time.Duration, bool) {
	info, err := os.Stat(rep.freshPath())
	if err != nil {
		return 0, false
	}
	age := time.Since(info.ModTime())
	return age, age >= 0
}

// contentWith reports whether readers are content with the replica as it is.
func (rep *Replica) contentWith() bool {
	if rep.opt.Stale == 0 {
		return false
	}
	age, known := rep.Age()
	switch {
	case rep.opt.Stale < 0 && rep.opt.Warn == nil, rep.opt.Stale < 0 && known && age <= time.Second:
	case rep.opt.Stale < 0 && known:
		rep.opt.Warn("the answer is from a replica that was fresh " + strconv.Itoa(int(age/time.Second)) + " s ago")
	case rep.opt.Stale < 0:
		rep.opt.Warn("the answer is from a replica that may be out of date by an unknown time")
	default:
		return known && age <= rep.opt.Stale
	}
	return true
}

// now returns the clock of whoever writes.
func (opt *Options) now() int64 {
	if opt.Now == nil {
		return time.Now().Unix()
	}
	return opt.Now().Unix()
}
