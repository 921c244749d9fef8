// Package timeline answers questions about amounts over time: how much is free
// then, is this much free throughout that window, and when is the earliest
// moment from which this much is free for this long.
//
// A Planner holds one quantity, a Multi several named ones that are taken and
// given back together. Both follow the planner of Flux (flux-sched,
// resource/planner) in what they answer. A Calendar knows which nodes are busy
// when, and what is taken of those that are shared; it says which nodes of a set
// are free throughout a window, when enough of them are for the first time, and
// how much of a node is taken over a window. It knows nodes, so it counts exactly
// where a plan of totals could not tell whether what is free at two moments is
// free on the same nodes.
//
// # Terms
//
// Time is an integer without a unit. A plan covers [start, end) and has a
// total. A span takes an amount for [s, s+d). A change point is the plan's
// start and every moment at which a live span begins or ends, whether or not
// the free amount differs on its two sides. The moment end itself is no
// change point, for nothing can begin there.
//
// # Invariants
//
//   - What spans use never exceeds the total that stood when they were added.
//     Only Resize can bring the total below it; then zero is free there, not
//     less, until spans go.
//   - A refused call changes nothing, in no quantity of a Multi.
//   - Queries write nothing, so any number of goroutines may ask at once. Changes
//     need the plan for themselves. A Calendar is the exception: it keeps what
//     its source lends when it is first asked for it.
//   - Queries of a plan, and those of one node, allocate nothing.
//   - Answers depend on the live spans, the total and the plan's bounds alone,
//     never on the order in which things happened. Span ids do depend on it.
//
// # Cost
//
// With n live spans a change or a look at one moment walks a tree of height
// log n with wide nodes; adding a span over any number of change points
// touches two paths of the tree. A search for the earliest start passes over
// subtrees that are free or blocked throughout, and over those whose longest
// free run is too short. The run lengths are kept rounded upward, for a
// limited number of amounts, so a plan can be built whose runs all hide in the
// rounding; the search then looks at every change point once, never more.
//
// The earliest start for n of a set of nodes costs a look at each of their
// stretches, and at worst a sort of as many instants: calendar_search.go says
// how. FindRoom looks at the steps of each node, which are made once and then follow
// its changes, and at those of few nodes closely: rooms.go says how. So does RoomBefore,
// for an owner that would give back what it has.
//
// A Multi searches quantity by quantity, each moving the start further. It can
// take a step per change point where two quantities are free at alternating
// times.
//
// # Caveats
//
// A plan lives in memory and knows no clock: nothing expires by itself.
// A plan may be at most math.MaxInt64 long.
package timeline
