// Package runner executes the jobs of a database in any Go program, as placectl work --cycle does. No placectl needs to
// be installed, except on other hosts of the cluster. The node with the name of this host is this host.
//
//	db, err := store.Open("cluster.db", nil)
//	r, err := runner.New(db, runner.Options{})
//	go r.Work(ctx) // cycles and executes until ctx ends
//	err = db.Update(func(tx *store.Tx) error {
//		_, err := tx.Submit(store.Submission{Request: placer.Request{Select: "ncpus=1", Walltime: time.Minute},
//			Command: []string{"make", "test"}, Payload: runner.Here()})
//		return err
//	})
//
// Each attempt of a job is executed at most once, whichever process is killed at whatever moment. A command has a
// warden, a process of its own that records how the command ends. So a command goes on if this program ends or is
// killed, and the next Work, or placectl, takes it over.
//
// A keeper is what starts the wardens and hears from them. A program that calls Main first has its keeper in a process
// apart, which costs a job about 6 ms and goes on without the program. Any other program has it inside, in goroutines.
// Then this program executes itself once more for each warden, before its main begins: initialisation of packages
// should have no effects outside. That costs about 35 ms a job, whatever memory the program uses, and a warden has
// some megabytes.
package runner

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/hook"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/people"
	"github.com/placectl/placectl/internal/signing"
	"github.com/placectl/placectl/internal/work"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// ErrSystem says that this system executes no jobs: only Linux does.
var ErrSystem = keeper.ErrSystem

// Options configure a Runner. The zero value works.
type Options struct {
	Log *slog.Logger // receives what appears nowhere else; nil: nothing does
}

// Runner executes the jobs of a database on this host, for the user of this process. Its methods may be called from
// several goroutines.
type Runner struct {
	db       *engine.DB
	path     string
	log      *slog.Logger
	dispatch *dispatch.DB
	attempts *keeper.Runner
	once     sync.Mutex // around passes of Once
}

// New returns a Runner for a database, before others use the handle. Make one Runner for a database, and close the
// database after its Work has returned. It takes over what an earlier process of this user has left. The first Runner
// sets launch to work, so no other way executes jobs from then on. New fails if jobs are launched by a command of the
// site's, and with ErrSystem on any system but Linux. It fails with store.ErrCopy if the database is a copy of another
// one: nothing is executed from it until a person has made it a database of its own with placectl adopt.
func New(db *store.DB, opt Options) (*Runner, error) {
	if err := keeper.Executes(); err != nil {
		return nil, err
	}
	r := &Runner{db: engine.DBOf(db), log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler))}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	r.path = r.db.Path()
	if !engine.IsLog(r.path) {
		if r.path, err = filepath.Abs(r.path); err != nil {
			return nil, err
		}
	}
	var is work.Site
	err = r.db.View(func(tx *engine.Tx) (err error) {
		if err = engine.Executing(tx); err == nil {
			is, err = work.SiteOf(tx)
		}
		return err
	})
	if err == nil && is.Launch != engine.LaunchWork {
		err = r.db.Update(func(tx *engine.Tx) error { return tx.Attempts().LaunchBy(engine.LaunchWork) })
	}
	if err != nil {
		return nil, err
	}
	uid := uint32(os.Getuid())
	trusts := os.Getenv("PLACECTL_TRUST") == "1"
	r.dispatch = &dispatch.DB{View: r.db.View, Path: r.path, Host: host, UID: int(uid),
		Update:  func(fn func(*engine.Tx) error) error { return r.db.Update(fn) },
		Environ: func() []string { return slices.Concat(os.Environ(), environ.Missing(os.Environ(), work.Account)) },
		Distrusts: func() string {
			if trusts {
				return ""
			}
			return r.db.Others()
		}}
	var sign engine.Signer
	if r.db.Others() != "" {
		r.dispatch.Verify, sign = r.verify, r.sign
	}
	r.db.Executes(host, func(is engine.Identity, uid uint32) bool {
		return attend.Present(is.ID, dispatch.EpochOf(is), uid, keeper.Look)
	}, sign)
	r.attempts = &keeper.Runner{DB: r.dispatch, Stamp: r.stamp, Note: r.note,
		Trust: trusts, Site: keeper.Site{Host: host, User: people.System.Name(uid), Database: r.path,
			Account: work.Account, IdentityOf: identityOf, Words: r.words, Guest: true}}
	is.InReach(r.attempts, r.dispatch, !engine.IsLog(r.path))
	return r, nil
}

func (r *Runner) note(format string, args ...any)   { r.log.Info(fmt.Sprintf(format, args...)) }
func (r *Runner) warn(format string, args ...any)   { r.log.Warn(fmt.Sprintf(format, args...)) }
func (r *Runner) detail(format string, args ...any) { r.log.Debug(fmt.Sprintf(format, args...)) }

// sign signs what a job executes. If others can write to the database, only signed jobs are executed.
func (r *Runner) sign(text []byte) ([]byte, error) {
	k, err := signing.ReadOrMake(work.KeyPath(os.Getenv("HOME")))
	if err != nil {
		return nil, err
	}
	return k.Sign(text), nil
}

func (r *Runner) verify(text, signature []byte) bool {
	k, err := signing.Read(work.KeyPath(os.Getenv("HOME")))
	if err != nil && len(signature) > 0 {
		r.note("signatures cannot be verified here: %v", err)
	}
	return err == nil && k.Verify(text, signature)
}

// identityOf returns the id of the database at a path, or "" if there is none.
func identityOf(path string) (id string) {
	db, err := engine.Open(path, nil)
	if err != nil {
		return ""
	}
	defer db.Close()
	db.View(func(tx *engine.Tx) error { //nolint:errcheck // then it is ""
		is, err := tx.Identity()
		id = is.ID
		return err
	})
	return id
}

// stamp returns a text that changes with the state of the database.
func (r *Runner) stamp() string {
	if !engine.IsLog(r.path) {
		return work.Stamp(r.path)
	}
	at := uint64(0)
	err := r.db.View(func(tx *engine.Tx) error { at = tx.RecordedEvents(); return nil })
	if err != nil {
		return ""
	}
	return strconv.FormatUint(at, 10)
}

// passes returns what makes passes, each after a cycle if something may start. A keeper inside works until inside ends,
// or until nothing is left for a while; running waits for it.
func (r *Runner) passes(ctx, inside context.Context) (p *keeper.Passes, running *sync.WaitGroup) {
	attempts := *r.attempts
	running = new(sync.WaitGroup)
	if !apart {
		attempts.Start = func(lock *os.File) error {
			fd, err := unix.FcntlInt(lock.Fd(), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				return err
			}
			held := os.NewFile(uintptr(fd), lock.Name())
			running.Go(func() {
				if err := r.attempts.Keep(inside, gate.Plain(), held); err != nil && inside.Err() == nil {
					r.note("%v", err)
				}
			})
			return nil
		}
	}
	p = attempts.NewPasses()
	p.Cycle = func() (is keeper.Cycled, err error) {
		var committed func()
		err = r.db.Update(func(tx *engine.Tx) (err error) {
			is, err = work.Cycle(tx, func(tx *engine.Tx) (others bool, err error) {
				_, more, after, err := r.attempts.EndAttended(tx)
				committed = after
				return more > 0, err
			}, func(*engine.Tx) error { return nil })
			return err
		})
		if err == nil && committed != nil {
			committed()
		}
		return is, err
	}
	return p, running
}

func (r *Runner) hook() *hook.Hook {
	return &hook.Hook{Database: r.path, Update: r.dispatch.Update, Distrusts: r.dispatch.Distrusts, Note: r.note,
		Warn: r.warn}
}

// Work cycles and executes until ctx ends, and returns its error. It is then the queue runner of this user and host:
// commands wake it, it plays forecasts, sends this host's heartbeat, hands events and mail to the setting hook, and
// tells the cycles of other users that it is there. Beside another process that works it waits to take its place.
// Jobs that run when it returns go on. It fails with store.ErrCopy if a copy has taken the place of the database, and
// with store.ErrClosed if db is closed.
func (r *Runner) Work(ctx context.Context) error {
	var stateDir string
	err := r.db.View(func(tx *engine.Tx) error {
		settings, err := tx.Config().Settings()
		stateDir = settings.StateDir
		return err
	})
	if err != nil {
		return err
	}
	seat := &work.Seat{Place: work.PlaceOf(stateDir, r.path), Clock: time.Now, Note: r.note, Detail: r.detail}
	ctx, leave := context.WithCancel(ctx)
	p, running := r.passes(ctx, ctx)
	defer running.Wait()
	defer leave()
	p.Idle = work.Forecasts(ctx, func() (*engine.DB, error) { return r.db, nil }, r.detail)
	return work.Serve(ctx, p, r.wakes(ctx), seat, r.hook())
}

// wakes says until ctx ends when there may be something to do.
func (r *Runner) wakes(ctx context.Context) keeper.Wakes {
	if engine.IsLog(r.path) {
		return keeper.Wakes{Every: time.Second}
	}
	return work.Wakes(ctx, r.path)
}

// Once makes one cycle, has what waits for this host executed, and hands events on. n is the number of attempts that
// waited. It does not wait for their ends. If the keeper is inside, the program must go on until then: commands go on
// without it, but the database learns how they ended only from the next Once or Work.
func (r *Runner) Once(ctx context.Context) (n int, err error) {
	r.once.Lock()
	defer r.once.Unlock()
	p, _ := r.passes(ctx, context.Background())
	if err = ctx.Err(); err == nil {
		_, err = p.Cycle()
	}
	if err != nil {
		return 0, err
	}
	p.After = func(v *keeper.View) {
		n = len(v.Unclaimed)
		if v.Hooked {
			err = r.hook().Run(ctx)
		}
	}
	return n, cmp.Or(p.Once(ctx), err)
}

// Here returns what a job carries that should run as this process does: in its folder, with its environment, umask
// and resource limits, as its user.
func Here() *store.Payload {
	dir, _ := os.Getwd() //nolint:errcheck // a submission without a folder is refused
	host, _ := os.Hostname()
	uid := uint32(os.Getuid())
	p := &store.Payload{Dir: dir, Env: os.Environ(), Umask: environ.Umask(),
		Owner: &store.Submitter{UID: uid, Name: people.System.Name(uid), Host: host}}
	for _, l := range environ.Limits() {
		p.Limits = append(p.Limits, store.ResourceLimit(l))
	}
	return p
}
