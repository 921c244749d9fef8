package kernel

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
)

// Options configure the opening of a database. The zero value works.
type Options struct {
	// LockTimeout is how long View and Update wait for the file; 0 means 30 s.
	LockTimeout time.Duration
	// Now is the clock; nil means time.Now. If it is more than 60 s ahead of time.Now, it
	// would lock out all other writers until then. So Update fails with ErrAnyTime, unless the
	// database was made with AnyTime.
	Now func() time.Time
	// Chosen means that Now returns a chosen time, not a clock's. Update then fails with
	// ErrAnyTime unless the database was made with AnyTime.
	Chosen bool
	// AnyTime creates a database to which any clock may write, for tests and simulations. Only
	// Create uses it.
	AnyTime bool
	// Behind lets Update succeed even if Now is before the file's time. The transaction is
	// then at the file's time. Use it for Tx.ResetClock.
	Behind bool
	// Beside lets readers continue while Update runs its function. They wait only while its
	// changes are written, and see the old state until then. Other writers wait as usual. Use
	// it for long transactions. It costs a second opening of the file. A database in a log
	// always works like this.
	Beside bool
	// Warn is called once for a problem that does not stop work: the newest transaction may be
	// missing, or the file lies on a file system whose locks may not exclude other machines. It may
	// be nil.
	Warn func(string)
	// LocksFail is called instead of Warn if locks of the file were tried, and do not exclude
	// others: changes get lost. It may be nil.
	LocksFail func(string)
	// Copied is called once, with an ErrCopy, if nothing is executed from the database. It may
	// be nil.
	Copied func(error)
	// Detail is called with details that help when debugging. It may be nil.
	Detail func(string)
	// Local implements the policy local. It returns the names of the candidates in the order in
	// which to take them; those it omits come last, as declared. It is called within a transaction
	// and must not begin another. If it is nil, nodes are taken as declared, unless the request has
	// a Ranking.
	Local func([]Candidate) []string
	// Actor is the user of the transactions, who may do only what its role allows. Nil permits
	// everything.
	Actor *Actor
	// Sign signs what a job executes if its submission has no signer. It may be nil.
	Sign func(text []byte) ([]byte, error)
	// UIDOf finds the uid of a user other than the actor, because jobs and roles of users are
	// stored by uid. If it is nil, they are stored by name.
	UIDOf func(user string) (uid uint32, ok bool)
	// Present reports whether a process on this host, whose name is Host, executes a user's
	// jobs of a database. If start is auto, jobs of other users wait. If it is nil, every user
	// is present.
	Present func(database Identity, uid uint32) bool
	Host    string
	// Replica configures databases that are kept in a log.
	Replica ReplicaOptions

	Plays bool // the queue is played forward, and jobs end normally at their walltime
}

func (opt *Options) LockWait() time.Duration {
	if opt.LockTimeout == 0 {
		return 30 * time.Second
	}
	return opt.LockTimeout
}

// OfStore translates an error of the index, which knows nothing of files, to an error that
// callers of a transaction expect.
func OfStore(err error) error {
	if errors.Is(err, index.ErrSignature) {
		return fmt.Errorf("%w: %w", row.ErrDamaged, err)
	}
	return err
}

// Identity distinguishes a database from others. A copy of its file has the same identity. A
// database loaded from a dump or restored from a backup has at least another epoch.
type Identity struct {
	ID    string // hexadecimal
	Epoch uint32
	// AnyTime means that the database is for tests: writers may use any time.
	AnyTime bool
}

// Identity returns the database's identity.
func (tx *Tx) Identity() (Identity, error) {
	id, err := tx.File.Identity()
	if err != nil || id.Epoch == 0 {
		return Identity{}, err
	}
	return Identity{hex.EncodeToString(id.ID[:]), id.Epoch, id.AnyTime}, nil
}

// URLScheme begins the name of a database on another host, which is reached by running the command
// there.
const URLScheme = "ssh://"

// SplitURL splits ssh://[USER@]HOST/PATH into the host to connect to, with its user, and the path
// there. It fails with ErrInvalid for anything else.
func SplitURL(url string) (host, path string, err error) {
	rest, is := strings.CutPrefix(url, URLScheme)
	at := strings.IndexByte(rest, '/')
	if !is || at < 1 || at == len(rest)-1 {
		return "", "", fmt.Errorf("%w: %q is not ssh://[USER@]HOST/PATH", row.ErrInvalid, url)
	}
	host, path = rest[:at], rest[at:]
	user, name, both := strings.Cut(host, "@")
	if strings.ContainsAny(host, " \t\r\n:'\"\\$`;&|<>()*?!~#") || host[0] == '-' ||
		both && (user == "" || name == "" || name[0] == '-') {
		return "", "", fmt.Errorf("%w: %q names no host: write ssh://[USER@]HOST/PATH; other settings for HOST go "+
			"into ~/.ssh/config", row.ErrInvalid, url)
	}
	return host, path, nil
}

// Rights compare uids: names are for people, and two machines may give one name to two users.
// The owner is a row of the file, written when it is made, and root counts as the owner. The
// owner of the file on disk matters only while no group and no others may write it. If a group
// may write the file, rights prevent mistakes, not malice: another program can write anything
// into it.

// Actor is the user of transactions, who may do only what its role allows.
type Actor struct {
	UID        uint32                  // the real one; events keep it
	User       string                  // its name
	Member     func(group string) bool // reports whether it is in a group; nil means that it is in none
	Namespaced bool                    // it is in a user namespace, whose creator chose the uid
}

// OnDisk reports whether a group or others may write a file, and returns its owner's uid.
func OnDisk(path string) (shared bool, uid uint32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, 0, err
	}
	if uid, err = ownerOf(info); err != nil {
		return false, 0, err
	}
	return info.Mode().Perm()&0o022 != 0, uid, nil
}

// MayOpen fails if the actor is in a user namespace and a group or others may write the file. In a
// namespace, the uid proves nothing.
func (a *Actor) MayOpen(path string) error {
	if a == nil || !a.Namespaced || IsLog(path) {
		return nil
	}
	if shared, _, err := OnDisk(path); err != nil || !shared {
		return nil
	}
	return fmt.Errorf("%w: %s is shared, and from a user namespace (unshare, a rootless container) placectl cannot "+
		"tell which user is asking: run it outside", ErrNotPermitted, path)
}

// ReplicaOptions configure databases kept in a log with a replica on each machine. The zero value
// works.
type ReplicaOptions struct {
	// Stale lets View answer from a replica that was up to date this long ago, without asking the
	// log. A negative value accepts any replica, even if the log cannot be reached.
	Stale time.Duration
	// Folder is the directory of replicas; "" means placectl in os.UserCacheDir.
	Folder string
	// Version and Verb are recorded in the log with each change: the program's version and what it
	// did.
	Version, Verb string
}

// IsLog reports whether a database's name, SCHEME://..., is that of a log rather than a file. The
// program decides which schemes are known: placectl-etcd knows etcd and etcds.
func IsLog(name string) bool {
	scheme, _, is := strings.Cut(name, "://")
	return is && scheme != "" && !strings.Contains(scheme, "/") && !strings.HasPrefix(name, URLScheme)
}

// logSkew is how many seconds a clock may be behind the time of a database in a log.
const logSkew = 10

// Skew returns how many seconds a writer's clock may be behind the database's time.
func (tx *Tx) Skew() int64 {
	if tx.Logged {
		return logSkew
	}
	return Skew
}
