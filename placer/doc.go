// Package placer decides where a request runs. It reads requests in the language of PBS
// (select and place), maps their chunks to the buckets of an index, and returns a Plan. It is
// pure: a Snapshot goes in and a Plan comes out. It changes nothing, and the caller verifies
// the plan again before applying it.
//
// The bucket path serves requests for whole nodes. It follows OpenPBS's node buckets
// (https://github.com/openpbs/openpbs, its recorded behaviour is in testdata), with these
// differences:
//   - Signatures are compared whole.
//   - An amount of 0 matches any node.
//   - A request whose chunks fit one by one but never together is refused for good.
//   - A placement set that could hold the whole request when empty is waited for, never left.
//   - If first fit over the chunks fails even on the empty cluster, any assignment is taken. With
//     Rules.ExactFit that holds whenever first fit fails.
//
// A request refused for now has a start, and is placed then. A request without one is refused for
// good.
//
// The node path serves all others: nodes that are shared, named, in reservations with access lists,
// or taken in the order of a policy. It examines nodes one by one, but only those that the bitmaps
// do not rule out, and only as many as the policy must see. The policies are those of the Maui
// scheduler, by its manual where its code differs, and two more.
//
// # Reading the source
//
// request.go, reader.go, select.go, place.go, reslist.go, access.go and prefer.go read what users
// write. bucketpath.go decides which path a request takes and what can ever run.
//
// On the bucket path, collect.go picks the nodes; assign.go settles chunks that compete for the
// same ones, when exact.go says so (assign_solve.go, assign_search.go).
//
// On the node path, nodepath.go hands out chunks and seeker.go computes what a node has left for a
// request. candidates.go visits nodes in order, rank.go by score (such as package priorityf's), and
// pool.go picks nodes that belong together. packing.go handles chunks that compete, host.go hosts
// of several nodes, grants.go reservations.
//
// On both, sets.go goes through placement sets and earliest.go moves along time. plan.go and
// refusal.go are the two answers, and explain.go puts both in words.
package placer
