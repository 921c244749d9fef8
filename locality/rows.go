package locality

import (
	"cmp"
	"slices"
)

// Rows reads and writes the rows of an operation, one at a time. You may change a returned
// value and put it back; nothing changes before that.
type Rows interface {
	JobRows
	HostRows
	CursorRows
	WaitingRows
	DueRows
}

// JobRows are the jobs in blocks of BlockJobs.
type JobRows interface {
	Jobs(block int) (*JobBlock, error)   // as created; not to be changed
	Before(block int) ([]Credit, error)  // the Before of that block, cheaper than the whole block
	Tasks(block int) (*TaskBlock, error) // an empty block if nothing has happened
	PutTasks(block int, t *TaskBlock) error
}

// HostRows are the hosts, and their records in the batch.
type HostRows interface {
	Host(number uint32) (*Host, error)
	PutHost(h *Host) error
	Member(host uint32) (*Member, error) // nil for a host that has never asked
	PutMember(m *Member) error
	EachMember(fn func(m *Member) error) error // in the order of host numbers
}

// CursorRows are the ranges, ordered twice: by slot and by time left.
type CursorRows interface {
	CursorAt(slot int) (*Cursor, error) // the one whose range has the slot
	PutCursor(c *Cursor) error
	// Longest calls fn for the ranges with something waiting, the greatest TimeLeft first and,
	// among equals, the lowest slot.
	Longest(fn func(c *Cursor) (more bool, err error)) error
}

// WaitingRows are the slots that a cursor has passed and that wait to be sent.
type WaitingRows interface {
	PutBack(slot int) error
	TakeBack(slot int) error
	EachBack(first, last int, fn func(slot int) (more bool, err error)) error // in order
}

// Due is something to check at a time: the lease of a slot that a host has, or, for slot -1,
// whether a host is still there.
type Due struct {
	At   int64 // Unix seconds
	Host uint32
	Slot int
}

// SortDues sorts dues by time.
func SortDues(list []Due) { slices.SortFunc(list, compareDues) }

func compareDues(x, y Due) int {
	return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Slot, y.Slot))
}

// DueRows are the dues, ordered by time.
type DueRows interface {
	PutDue(d Due) error
	TakeDue(d Due) error
	EachDue(until int64, fn func(d Due) (more bool, err error)) error
}

// Op is one operation on a batch. It changes rows at once, and the caller stores the batch's
// own row after success. After an error, discard all of it.
type Op struct {
	Rows
	Batch  *Batch
	Now    int64 // Unix seconds
	policy policy
}

// Begin starts an operation.
func Begin(rows Rows, b *Batch, now int64) (*Op, error) {
	p, err := findPolicy(b.Settings.Policy)
	if err != nil {
		return nil, err
	}
	return &Op{Rows: rows, Batch: b, Now: now, policy: p}, nil
}
