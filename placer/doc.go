// Package placer decides where a request runs: it reads requests in the
// language of PBS (select and place), maps their chunks to the buckets of an
// index, and returns a Plan. It is pure: a Snapshot in, a plan out; nothing is
// changed, and whoever applies the plan verifies it again.
//
// The bucket path serves requests for whole nodes. It follows OpenPBS's node
// buckets (https://github.com/openpbs/openpbs, its recorded behaviour is in
// testdata) with these differences: signatures are compared whole; an amount
// of 0 matches any node; a request whose chunks each fit alone but never
// together is refused for good; a placement set that could hold a request whole
// when empty is waited for, never left; and where first fit over the chunks leads
// nowhere on the empty cluster either, any assignment is taken, as it is where
// first fit fails at all if that is asked for (Rules.ExactFit).
//
// What is refused for now has a start, and is placed then. What has none is refused
// for good.
//
// The node path serves all others: nodes that are shared, named, reserved for
// somebody, or taken in the order of a policy. It looks at nodes one by one, but
// only at those that the bitmaps do not rule out, and at no more of them than the
// policy has to see. The policies are those of the Maui scheduler, by its manual
// rather than its code where the two differ, and two more.
//
// Reading the source: request.go, reader.go, select.go, place.go, reslist.go, access.go and
// prefer.go read what users write; bucketpath.go says which path a request takes
// and what can ever run. On the bucket path collect.go picks the nodes and
// assign.go settles chunks that compete for the same ones, when exact.go says so
// (assign_solve.go, assign_search.go). On the node path
// nodepath.go hands chunks out, seeker.go is what a node has left for a request,
// candidates.go goes through nodes in order, rank.go through them by score (that of
// package priorityf being one), pool.go picks nodes that belong together, packing.go is for chunks
// that get in each other's way, host.go for hosts of several nodes, grants.go for
// reservations. sets.go goes through placement sets and earliest.go moves along the
// clock on both; plan.go is the answer, refusal.go the other one, explain.go both
// in words.
package placer
