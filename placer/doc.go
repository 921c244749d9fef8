// Package placer decides where a request runs: it reads requests in the
// language of PBS (select and place), maps their chunks to the buckets of an
// index, and returns a Plan. It is pure: a Snapshot in, a plan out; nothing is
// changed, and whoever applies the plan verifies it again.
//
// The bucket path serves requests for whole nodes. It follows OpenPBS's node
// buckets (https://github.com/openpbs/openpbs, its recorded behaviour is in
// testdata) with these differences: signatures are compared whole; an amount
// of 0 matches any node; a request whose chunks each fit alone but never
// together is refused for good; a placement set that could serve a request
// when empty is waited for, never left; and where first fit over the chunks
// fails, an exact assignment can be asked for (Rules.ExactFit).
//
// Reading the source: request.go, select.go, place.go and reslist.go read what
// users write; bucketpath.go says what can ever run and what runs now,
// collect.go picks the nodes, assign.go settles chunks that compete for the
// same nodes, sets.go goes through placement sets, earliest.go moves along the
// clock; plan.go is the answer, refusal.go the other one.
package placer
