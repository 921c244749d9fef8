package exec

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Plan is a SELECT made ready to run.
type Plan struct {
	At       int             // where it stands in the text
	Columns  []tables.Column // of the result
	Windows  *Windows        // nil without window functions
	Out      []Code
	Steps    []*Step
	Once     []func(*Env) values.Truth // conditions on no table of its own
	Group    *Grouping                 // nil without aggregates and GROUP BY
	Having   func(*Env) values.Truth   // nil for none
	Distinct bool
	Order    []OrderKey
	Limit    Code
	LimitAt  int // where it stands in the text
	Offset   Code
	OffsetAt int
	Limited  bool
	NoIndex  bool
	Strict   bool                      // tables are joined as they are written, one after the other
	Final    []func(*Env) values.Truth // of a strict one: WHERE
	Counted  bool                      // conditions are run on the parts of the table, which tells their sizes
	Outer    Slots                     // sources of queries around that it looks at
	Counts   counts
}

// counts are what EXPLAIN ANALYZE tells.
type counts struct {
	Rows  int64
	Nanos int64
}

// Source is what a step reads: a table, a subquery, or a table function.
type Source struct {
	Slot    int
	Name    string // alias or table
	Of      string // the table, empty for none
	Columns []tables.Column
	Table   tables.Table      // nil for a subquery
	Sub     Producer          // nil for a table
	Fn      tables.Function   // a table function, with
	Args    []Code            // what it is called with, and
	Place   func(error) error // what gives its errors their place
	Used    []bool            // the columns that something looks at
}

// Step joins one more source to those before.
type Step struct {
	Src     *Source
	Left    bool                      // a row before it without a partner stays
	Right   bool                      // so does a row of its own
	Rows    *roaring.Bitmap           // the only ones to look at; nil for all
	Span    *Span                     // what to read of an Ordered table; nil for all
	Notes   []string                  // how those were found
	Filters []func(*Env) values.Truth // on this source alone
	On      []func(*Env) values.Truth // of a LEFT JOIN: which rows match
	After   []func(*Env) values.Truth // on this source and those before
	Asked   []string                  // filters that are run on parts of the table, as they were written
	Words   []string                  // filters, on and after, as they were written
	Method  joinMethod
	Key     []Code // of a lookup or hash: by sources before
	Mine    []Code // of a hash: the same of this source
	Column  int    // of a lookup
	Match   []values.Affinity
	Kept    []int // the columns that a hash or loop keeps
	Place   []int // of each column among those kept
	Fixed   bool  // what is kept does not depend on a query around
	Varies  bool  // a filter looks at a query around
	Coded   bool  // of a hash: by the codes of one domain
	buffer  *buffer
	bufOf   *Env
	probe   []values.Value // scratch: the key looked for
	keptRow bufferRow      // scratch: the row found
	counts  counts
}

type joinMethod uint8

// The ways to join.
const (
	ScanJoin   joinMethod = iota // the first source, or one row at a time
	LookupJoin                   // by key in the table
	HashJoin
	LoopJoin
	LateralJoin // a table function, called again for each row
)

// Slots is a set of sources.
type Slots uint64

func (s Slots) Has(slot int) bool { return s&(1<<slot) != 0 }

// MaxSlots bounds the tables of a statement, those of subqueries included: sets of
// them are words of bits.
const MaxSlots = 64
