package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Salvaged reports what Salvage recovered from a damaged database.
type Salvaged struct {
	file.Content                 // of the new database
	Tables       []SalvagedTable // tables with rows missing or changed
	Missing      int64           // rows that are known to be missing
	Notes        []string        // findings about the file as a whole
}

// SalvagedTable reports what Salvage recovered of a table.
type SalvagedTable struct {
	Name    string
	Rows    int64    // rows in the new database
	Missing int64    // rows that should be there, too; -1 if unknown
	Notes   []string // the unreadable parts, and the rows left out or changed because of them
}

// SalvageOptions configure Salvage.
type SalvageOptions struct {
	Open        Open
	LockTimeout time.Duration                         // for the lock of the damaged database
	DryRun      bool                                  // do everything but the last step
	Watch       file.Watch                            // called for bytes of rows
	Last        func(tmp string, out *Salvaged) error // called with the verified file before it takes its place
}

// Salvage makes a new database of all rows of a damaged one that can be read and verified. It
// recomputes what is derived. If rows contradict each other because some are missing, it
// leaves them out, or changes them so that nothing runs that must not. For example, it holds a
// job that was on a lost node. It reports all of that. It fails with ErrNotOurs if nothing in
// the file leads to its rows, and ErrExists if there is a file of the new name.
func Salvage(damaged, to string, opt SalvageOptions) (*Salvaged, error) {
	create := file.Create
	if opt.DryRun {
		create = file.CreateTrial
	}
	out := new(Salvaged)
	err := create(to, func(tmp string) error {
		db, err := opt.Open(tmp)
		if err != nil {
			return err
		}
		s := &salvage{db: db, notes: make(map[row.Table][]string), more: make(map[row.Table]int)}
		err = s.run(damaged, opt)
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
		if out.Content, err = file.Verify(tmp, opt.Watch); err != nil {
			return err
		}
		s.tell(out)
		return opt.Last(tmp, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// salvage is a salvage in progress.
type salvage struct {
	db    Scratch
	read  *file.Salvaged
	notes map[row.Table][]string
	more  map[row.Table]int // number of notes left out
}

// maxNotes is the most notes about a table.
const maxNotes = 20

func (s *salvage) note(t row.Table, format string, args ...any) {
	if len(s.notes[t]) == maxNotes {
		s.more[t]++
		return
	}
	s.notes[t] = append(s.notes[t], fmt.Sprintf(format, args...))
}

func (s *salvage) run(damaged string, opt SalvageOptions) error {
	err := s.db.File().Bulk(func(b *file.Bulk) (err error) {
		s.read, err = file.Salvage(damaged, opt.LockTimeout, func(t row.Table, key, payload []byte) error {
			if opt.Watch != nil {
				if err := opt.Watch(int64(len(key) + len(payload))); err != nil {
					return err
				}
			}
			if cached(t) || row.IsItself(t, key) {
				return nil
			}
			if there, err := b.Has(t, key); t != row.Meta && (err != nil || there) {
				s.note(t, "%x is there twice", key)
				return err
			}
			return b.Put(t, bytes.Clone(key), bytes.Clone(payload))
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range s.read.Losses {
		s.note(l.Table, "%s", l.Why)
	}
	if err := s.mend(); err != nil {
		return err
	}
	return complete(s.db, "what could be read")
}

// cached reports whether the rows of a table only save work. They would be wrong about missing
// rows.
func cached(t row.Table) bool { return t == row.Invalidations }

// tell fills in the report about each table.
func (s *salvage) tell(out *Salvaged) {
	for t := range row.TableCount {
		if t.Derived() || cached(t) {
			continue
		}
		x := SalvagedTable{Name: t.String(), Rows: out.Rows[t], Notes: s.notes[t]}
		if n := s.more[t]; n > 0 {
			x.Notes = append(x.Notes, fmt.Sprintf("and %d more", n))
		}
		switch want := s.read.Want; {
		case want != nil && t != row.Meta:
			x.Missing = int64(want.Tables[t].Count) - int64(s.read.Rows[t])
			out.Missing += max(0, x.Missing)
		case len(x.Notes) > 0:
			x.Missing = -1
		}
		if x.Missing != 0 || len(x.Notes) > 0 {
			out.Tables = append(out.Tables, x)
		}
	}
	if s.read.Unsigned {
		out.Notes = append(out.Notes, "no meta page is valid: the newest list of tables that can be read was taken")
	}
	if s.read.Older {
		out.Notes = append(out.Notes,
			"the newest transaction cannot be read, or may be missing: this is the one before")
	}
	if s.read.Want == nil {
		out.Notes = append(out.Notes, "how many rows there were is not known")
	}
	out.Notes = append(out.Notes, s.notes[row.TableCount]...)
}
