package store

import "github.com/placectl/placectl/store/internal/recovery"

// Salvaged is what Salvage got out of a damaged database.
type Salvaged struct {
	Content                 // of the new one
	Tables  []SalvagedTable // those of which rows are missing, or were changed
	Missing int64           // rows that are known to be missing
	Notes   []string        // what was found out of the file as a whole
}

// SalvagedTable is what became of a table.
type SalvagedTable struct {
	Name    string
	Rows    int64    // that are in the new database
	Missing int64    // that should be there, too; -1 where nobody knows
	Notes   []string // what could not be read, and what was left out or changed because of it
}

// SalvageOptions are how a database is salvaged. The zero value works.
type SalvageOptions struct {
	Options      // how the new database is opened
	DryRun  bool // everything is done but for the last step
	Watch   Watch
}

// Salvage makes a new database of all rows of a damaged one that can be read and
// verified. What is derived is made anew. Rows that contradict the others now that some
// are missing are left out, or changed so that nothing runs that may not: a job that was
// on a node which is lost is held, for example. All of that is said. It fails with
// ErrNotOurs where nothing in the file leads to its rows, and ErrExists when there is a
// file of the new name.
func Salvage(damaged, to string, opt *SalvageOptions) (*Salvaged, error) {
	if opt == nil {
		opt = new(SalvageOptions)
	}
	got, err := recovery.Salvage(damaged, to, recovery.SalvageOptions{Open: scratchOf(opt.Options), LockTimeout: opt.lockTimeout(), DryRun: opt.DryRun, Watch: opt.Watch})
	if err != nil {
		return nil, err
	}
	return &Salvaged{newContent(got.Content), converted(got.Tables, func(t recovery.SalvagedTable) SalvagedTable { return SalvagedTable(t) }), got.Missing, got.Notes}, nil
}
