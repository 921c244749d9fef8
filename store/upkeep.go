package store

import (
	"io"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Upkeep configures the operations on whole databases. The zero value and nil work.
type Upkeep struct {
	Options *Options               // how a database that is made is opened; its actor may make it
	DryRun  bool                   // do everything but the last step
	Watch   func(more int64) error // called with progress, in bytes or rows; an error stops it all
	Finish  func(*Tx) error        // Restore, Load, Salvage: last changes to the database before it gets its name
	Shift   time.Duration          // Load: added to all instants, in whole seconds
}

func (u *Upkeep) or() *Upkeep {
	if u == nil {
		return new(Upkeep)
	}
	return u
}

// finish runs Finish.
func (u *Upkeep) finish(tx *engine.Tx) error {
	if u.Finish == nil {
		return nil
	}
	return u.Finish(&Tx{tx})
}

// Content describes what an operation made or moved.
type Content struct {
	Bytes                     int64    // of the file
	Rows, Nodes, Jobs, Events int64    // rows in all tables, and some of them
	Missing                   int64    // Salvage: rows known to be lost
	Stay                      int64    // Archive: ended jobs that stay, because others depend on them
	Held                      []uint64 // Restore: the jobs that are held
	Kept                      string   // Restore: the path of the replaced database, "" if there was none
	Notes                     []string // Salvage: what was found about the file as a whole
}

func contentOf(c engine.Content, err error) (*Content, error) {
	if err != nil {
		return nil, err
	}
	return &Content{Bytes: c.Bytes, Rows: c.Rows, Nodes: c.Nodes, Jobs: c.Jobs, Events: c.Events}, nil
}

// Check reports damage and contradictions: the checksum of each row, each derived table against the
// rows, and that no node is taken twice. An error means that it could not check. A badly damaged file may end the
// process that reads it.
func (db *DB) Check(report func(finding string)) error { return db.db.Check(report) }

// Repair rebuilds derived tables, and fails with ErrDamaged rather than guess about rows. It needs the rights of the
// owner.
func (db *DB) Repair(report func(finding string), opt *Upkeep) error {
	if opt.or().DryRun {
		return db.db.DryRepair(report)
	}
	return db.db.Repair(report)
}

// Backup makes a verified copy of the database as a file, while others use it. It fails with ErrExists if the name is
// taken. For actors other than the owner it leaves out what others' jobs carry.
func (db *DB) Backup(path string, opt *Upkeep) (*Content, error) {
	return contentOf(db.db.Backup(path, opt.or().Watch))
}

// Dump writes all rows that are not derived as lines of JSON, for Load of this or a later version. For actors other
// than the owner it leaves out what others' jobs carry.
func (db *DB) Dump(w io.Writer, opt *Upkeep) (*Content, error) {
	return contentOf(db.db.Dump(w, opt.or().Watch))
}

// Compact rewrites the file without its free pages, in one step, while others wait. Content has its new size. It
// needs the rights of the owner.
func (db *DB) Compact(opt *Upkeep) (*Content, error) {
	opt = opt.or()
	compact := db.db.Compact
	if opt.DryRun {
		compact = db.db.CompactTrial
	}
	is, err := compact(opt.Watch)
	return contentOf(engine.Content{Bytes: is.After}, err)
}

// Archive moves jobs, batches and events that ended before an instant into a file of lines as Dump writes them, named
// *.jsonl or *.jsonl.gz, which it extends if it exists. If the process is killed, the same call goes on. It needs the
// rights of the owner.
func (db *DB) Archive(to string, before time.Time, opt *Upkeep) (*Content, error) {
	opt = opt.or()
	is, err := db.db.Archive(to, before, &engine.ArchiveOptions{DryRun: opt.DryRun, Watch: opt.Watch})
	if err != nil {
		return nil, err
	}
	return &Content{Jobs: is.Jobs, Events: is.Events, Rows: is.Jobs + is.Events + is.Batches, Stay: is.Stay}, nil
}

// Restore replaces the database at a path by a backup, in one step, and keeps the old one under Content.Kept. Jobs
// that may have run since the backup are held. It fails with ErrConflict if jobs run that the backup does not know. It
// needs the rights of the owner of the old one.
func Restore(path, backup string, opt *Upkeep) (*Content, error) {
	opt = opt.or()
	is, err := engine.Restore(path, backup, &engine.RestoreOptions{Options: *opt.Options.engine(), DryRun: opt.DryRun,
		Watch: opt.Watch, Last: func(tx *engine.Tx, _ *engine.Restored) error { return opt.finish(tx) }})
	if err != nil {
		return nil, err
	}
	out, err := contentOf(is.Content, nil)
	out.Held, out.Kept = is.Held, is.Kept
	return out, err
}

// Load makes a database from a dump, which may be compressed by gzip: all of it or nothing. It fails with a
// LineError for a line that makes no sense, with ErrDamaged if rows contradict each other, ErrNewer for the
// dump of a newer version, and ErrExists if the name is taken.
func Load(path string, dump io.Reader, opt *Upkeep) (*Content, error) {
	opt = opt.or()
	return contentOf(engine.Load(path, dump, &engine.LoadOptions{Options: *opt.Options.engine(), DryRun: opt.DryRun,
		Watch: opt.Watch, Moved: opt.Shift, Last: func(tx *engine.Tx,
			_ engine.Content) error {
			return opt.finish(tx)
		}}))
}

// Salvage makes a database from the readable rows of a damaged one. What contradicts itself because rows are
// missing is left out, or changed so that nothing runs that must not. It fails with ErrNotOurs if nothing in
// the file leads to its rows, and ErrExists if the new name is taken.
func Salvage(damaged, to string, opt *Upkeep) (*Content, error) {
	opt = opt.or()
	is, err := engine.Salvage(damaged, to, &engine.SalvageOptions{Options: *opt.Options.engine(), DryRun: opt.DryRun,
		Watch: opt.Watch, Last: func(tx *engine.Tx, _ *engine.Salvaged) error { return opt.finish(tx) }})
	if err != nil {
		return nil, err
	}
	out, err := contentOf(is.Content, nil)
	out.Missing, out.Notes = is.Missing, is.Notes
	return out, err
}
