// Package timeline answers questions about amounts over time: how much is free at a moment,
// whether an amount is free throughout a window, and the earliest moment from which an amount
// is free for some time.
//
// A Planner holds one quantity, a Multi several named ones that are taken and given back
// together. Both give the same answers as the planner of Flux (flux-sched, resource/planner).
// A Calendar knows which nodes are busy when, and how much is taken of shared ones. It finds
// the nodes of a set that are free throughout a window, the first moment at which enough of
// them are, and how much of a node is taken over a window. Because it knows nodes, it counts
// exactly. A plan of totals could not tell whether amounts free at two moments are free on the
// same nodes.
//
// Of the parts of Flux's planner, placectl uses a Planner where only totals count: limits
// (placer/limits) and machines of alike processors in traces (placer/backfill). A Calendar stands
// for the planners that Flux keeps on each vertex. In place of its aggregate planners, which tell a
// search early that a subtree has too little, a Calendar keeps lower bounds of when a node has
// room. A Planner and a Multi also serve a program alone, as an answer to "from when are n of
// these free for so long?".
//
// # Terms
//
// Time is an integer without a unit. A plan covers [start, end) and has a total. A span takes
// an amount for [s, s+d). The change points are the plan's start and every moment at which a
// live span begins or ends, whether or not the free amount differs on its two sides. The
// plan's end is not a change point, because nothing can begin there.
//
// # Invariants
//
//   - The amount that spans use never exceeds the total at the time they were added. Only
//     Resize can bring the total below it. Then zero is free there, not less, until spans are
//     removed.
//   - A refused call changes nothing, in no quantity of a Multi.
//   - Queries write nothing, so any number of goroutines may query at once. Changes need
//     exclusive access. A Calendar is the exception: its queries load blocks from its source
//     and keep them.
//   - Queries of a plan, and those of one node, allocate nothing.
//   - Answers depend only on the live spans, the total and the plan's bounds, never on the
//     order of events. Span ids do depend on it.
//
// # Cost
//
// With n live spans, a change or a query of one moment walks a tree of height log n with wide
// nodes. Adding a span over any number of change points touches two paths of the tree. A
// search for the earliest start skips subtrees that are free or blocked throughout, and those
// whose longest free run is too short. Run lengths are kept rounded upward, for a limited
// number of amounts. At worst, a plan's runs all hide in the rounding, and the search examines
// every change point once.
//
// Finding the earliest start for n of a set of nodes examines each of their stretches, and at
// worst sorts as many instants: see calendar_search.go. FindRoom examines the steps of each
// node, which are made once and then follow its changes. It examines few nodes closely: see
// rooms.go. So does RoomBefore, for an owner that would give back its own part.
//
// A Multi searches quantity by quantity, each moving the start further. It can take a step per
// change point if two quantities are free at alternating times.
//
// # Caveats
//
// A plan lives in memory and knows no clock: nothing expires by itself. A plan is at most
// math.MaxInt64 long.
package timeline
