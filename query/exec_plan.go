package query

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// selectPlan is a SELECT made ready to run.
type selectPlan struct {
	at       int         // where it stands in the text
	columns  []Column    // of the result
	windows  *runWindows // nil without window functions
	out      []code
	steps    []*runStep
	once     []func(*env) truth // conditions on no table of its own
	group    *runGrouping       // nil without aggregates and GROUP BY
	having   func(*env) truth   // nil for none
	distinct bool
	order    []orderKey
	limit    code
	limitAt  int // where it stands in the text
	offset   code
	offsetAt int
	limited  bool
	noIndex  bool
	strict   bool               // tables are joined as they are written, one after the other
	final    []func(*env) truth // of a strict one: WHERE
	counted  bool               // conditions are run on the parts of the table, which tells their sizes
	outer    slots              // sources of queries around that it looks at
	counts   counts
}

// counts are what EXPLAIN ANALYZE tells.
type counts struct {
	rows  int64
	nanos int64
}

// runSource is what a step reads: a table, a subquery, or a table function.
type runSource struct {
	slot    int
	name    string // alias or table
	of      string // the table, empty for none
	columns []Column
	table   Table             // nil for a subquery
	sub     producer          // nil for a table
	fn      Function          // a table function, with
	args    []code            // what it is called with, and
	place   func(error) error // what gives its errors their place
	used    []bool            // the columns that something looks at
}

// runStep joins one more source to those before.
type runStep struct {
	src     *runSource
	left    bool               // a row before it without a partner stays
	right   bool               // so does a row of its own
	rows    *roaring.Bitmap    // the only ones to look at; nil for all
	span    *between           // what to read of an Ordered table; nil for all
	notes   []string           // how those were found
	filters []func(*env) truth // on this source alone
	on      []func(*env) truth // of a LEFT JOIN: who is a partner
	after   []func(*env) truth // on this source and those before
	asked   []string           // filters that are run on parts of the table, as they were written
	words   []string           // filters, on and after, as they were written
	method  joinMethod
	key     []code // of a lookup or hash: by sources before
	mine    []code // of a hash: the same of this source
	column  int    // of a lookup
	match   []Affinity
	kept    []int // the columns that a hash or loop keeps
	place   []int // of each column among those kept
	fixed   bool  // what is kept does not depend on a query around
	varies  bool  // a filter looks at a query around
	coded   bool  // of a hash: by the codes of one domain
	buffer  *buffer
	bufOf   *env
	probe   []Value   // scratch: the key looked for
	keptRow bufferRow // scratch: the row found
	counts  counts
}

type joinMethod uint8

// The ways to join.
const (
	scanJoin   joinMethod = iota // the first source, or one row at a time
	lookupJoin                   // by key in the table
	hashJoin
	loopJoin
	lateralJoin // a table function, called anew for each row
)

// slots is a set of sources.
type slots uint64

func (s slots) has(slot int) bool { return s&(1<<slot) != 0 }

// maxSlots bounds the tables of a statement, those of subqueries included: sets of
// them are words of bits.
const maxSlots = 64
