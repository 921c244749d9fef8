package exec

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Plan is a SELECT that is ready to run.
type Plan struct {
	At       int             // its place in the text
	Columns  []tables.Column // of the result
	Windows  *Windows        // nil without window functions
	Out      []Code
	Steps    []*Step
	Once     []func(*Env) values.Truth // conditions on none of its tables
	Group    *Grouping                 // nil without aggregates and GROUP BY
	Having   func(*Env) values.Truth   // nil for none
	Distinct bool
	Order    []OrderKey
	Limit    Code
	LimitAt  int // its place in the text
	Offset   Code
	OffsetAt int
	Limited  bool
	NoIndex  bool
	Outer    Slots // the sources of outer queries that it uses
	Counts   counts
}

// counts are shown by EXPLAIN ANALYZE.
type counts struct {
	Rows  int64
	Nanos int64
}

// Source is what a step reads: a table, a subquery, or a table function.
type Source struct {
	Slot    int
	Name    string // alias or table
	Of      string // the table, "" for none
	Columns []tables.Column
	Table   tables.Table      // nil for a subquery
	Sub     Producer          // nil for a table
	Fn      tables.Function   // a table function
	Args    []Code            // its arguments
	Place   func(error) error // gives its errors their place
	Used    []bool            // the columns in use
}

// Step joins one more source to those before it.
type Step struct {
	Src     *Source
	Left    bool                      // rows before it without a partner stay
	Rows    *roaring.Bitmap           // the only rows to read; nil for all
	Span    *Span                     // the part to read of an Ordered table; nil for all
	Notes   []string                  // how these were found
	Filters []func(*Env) values.Truth // conditions on this source alone
	On      []func(*Env) values.Truth // of a LEFT JOIN: which rows match
	After   []func(*Env) values.Truth // conditions on this source and those before
	Words   []string                  // filters, on and after, as written
	Method  joinMethod
	Key     []Code // of a lookup or hash: from the sources before
	Mine    []Code // of a hash: from this source
	Column  int    // of a lookup
	Match   []values.Affinity
	Kept    []int // the columns that a hash or loop keeps
	Place   []int // the place of each column among these
	Fixed   bool  // kept rows do not depend on an outer query
	Varies  bool  // a filter uses an outer query
	Coded   bool  // of a hash: by the codes of one domain
	buffer  *buffer
	bufOf   *Env
	probe   []values.Value // scratch: the key to look for
	keptRow bufferRow      // scratch: the row found
	counts  counts
}

type joinMethod uint8

// The ways to join.
const (
	ScanJoin   joinMethod = iota // the first source, or one row at a time
	LookupJoin                   // by a key of the table
	HashJoin
	LoopJoin
	LateralJoin // a table function, called again for each row
)

// Slots is a set of sources.
type Slots uint64

func (s Slots) Has(slot int) bool { return s&(1<<slot) != 0 }

// MaxSlots limits the tables of a statement with its subqueries, because a set of them is one word of
// bits.
const MaxSlots = 64
