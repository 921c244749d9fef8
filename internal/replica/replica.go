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

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Options configure a replica. All fields but Folder may be zero.
type Options struct {
	Folder      string        // where replicas are; made if it does not exist
	LockTimeout time.Duration // how long a transaction waits for the file, and for the log
	Stale       time.Duration // readers accept a replica that was fresh this long ago; negative accepts any
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
	link   string        // the file that names the log of Name
	beat   time.Duration // how often the one whose turn it is must show that it works

	closing sync.Once
	closed  error

	mu   sync.Mutex
	id   ID
	file *file.File
	due  float64 // how many times over a snapshot is due
}

// Open makes a handle on the replica of the log with a name, SCHEME://... If the options name no
// folder, the replica is below the system's cache folder.
func Open(name string, opt Options) (*Replica, error) {
	if opt.Folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("the folder of replicas: %w; PLACECTL_REPLICAS names it", err)
		}
		opt.Folder = filepath.Join(cache, "placectl")
	}
	d, c, err := Connect(name, fmt.Sprint(machineID(), os.Getuid(), opt.Folder), opt.Detail)
	if err != nil {
		return nil, err
	}
	rep, err := Connected(name, d, c, opt)
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return rep, nil
}

// Connected makes a handle through a driver. It makes the local replica if there is none, and
// does not examine an existing one.
func Connected(name string, d Driver, c Config, opt Options) (*Replica, error) {
	rep := &Replica{Name: name, driver: d, opt: opt, beat: beatEvery}
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

// folder makes the folder of replicas. The content of a folder that others may write cannot be
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

// path returns the path of a log's replica. It changes with each reboot, after which it is
// unknown how much of the old replica is on disk.
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

// machineID distinguishes this machine from others with the same folder, because a home may be
// shared.
var machineID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/etc/machine-id") // several machines may have the same id, or none
	sum := sha256.Sum256(append(id, hostName()...))
	return hex.EncodeToString(sum[:4])
})

// use makes a handle on the replica of a log, which must exist.
func (rep *Replica) use(id ID) error {
	f, err := file.Open(rep.path(id), file.Options{LockTimeout: rep.opt.LockTimeout, Replica: true, Warn: rep.opt.Warn,
		Detail: rep.opt.Detail})
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

// PutLocal puts a row that belongs to this replica only, and is in no entry of the log: see
// row.Local.
func (rep *Replica) PutLocal(t row.Table, key, payload []byte) error {
	return rep.File().Follow(func(r *file.Recorder) (bool, error) {
		r.Unrecorded()
		return true, r.Put(t, key, payload)
	})
}

// ID returns the log's id.
func (rep *Replica) ID() ID {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	return rep.id
}

// Close closes the connection.
func (rep *Replica) Close() error {
	rep.closing.Do(func() { rep.closed = errors.Join(rep.File().Close(), rep.driver.Close()) })
	return rep.closed
}

// until returns when a transaction that begins now times out.
func (rep *Replica) until() time.Time { return time.Now().Add(rep.opt.LockTimeout) }

// within returns a context for a call with that timeout.
func within(until time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.Background(), until)
}

// freshPath returns the file whose modification time is when the replica was last fresh.
func (rep *Replica) freshPath() string { return rep.path(rep.ID()) + ".fresh" }

// wasFresh records that the replica held everything that the log held at an instant.
func (rep *Replica) wasFresh(at time.Time) { touch(rep.freshPath(), at) }

// touch sets the modification time of a file, which it makes if necessary.
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

// linePath returns the file whose modification time is when a writer last had to wait.
func (rep *Replica) linePath() string { return rep.path(rep.ID()) + ".line" }

// crowded reports whether a writer of this machine had to wait for others lately. Then the
// next writer should enter the line at once, instead of first losing to them.
func (rep *Replica) crowded() bool {
	info, err := os.Stat(rep.linePath())
	return err == nil && time.Since(info.ModTime()).Abs() < crowdedFor
}

// noteCrowd records whether a writer had to wait.
func (rep *Replica) noteCrowd(waited bool) {
	if waited {
		touch(rep.linePath(), time.Now())
	} else {
		_ = os.Remove(rep.linePath())
	}
}

// Age returns how long ago the replica was fresh, or false if unknown.
func (rep *Replica) Age() (time.Duration, bool) {
	info, err := os.Stat(rep.freshPath())
	if err != nil {
		return 0, false
	}
	age := time.Since(info.ModTime())
	return age, age >= 0
}

// contentWith reports whether readers accept the replica as it is.
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

// now returns the writer's clock.
func (opt *Options) now() int64 {
	if opt.Now == nil {
		return time.Now().Unix()
	}
	return opt.Now().Unix()
}
