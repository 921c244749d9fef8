// Package index knows the nodes of a cluster by what they offer: resources and
// their values, signatures, buckets, the inverted index from a value to the
// buckets that have it, and placement sets.
//
// A bucket is the set of nodes that share a resource signature, a queue and a
// priority (OpenPBS's node buckets). It holds four bitmaps over node numbers:
// all; free (nothing on it, nothing planned); later (free now, something
// planned); busy (something on it now). A node that is down, offline or drained
// is in all only.
//
// The invariants, which store's check recomputes from the rows:
//   - every node is in exactly one bucket's all, the one whose signature, queue
//     and priority are its own;
//   - free, later and busy are disjoint and together hold the bucket's nodes
//     that are up;
//   - a bucket's counts are the cardinalities of its bitmaps, and First is the
//     smallest number of a node of it that is up;
//   - a level's bitmap holds exactly the busy nodes that are shared and have that
//     much left now;
//   - a value's posting holds exactly the buckets whose signature has it; an
//     attribute's bitmap exactly the nodes that have it.
//
// Everything is faulted in from a [Source] when it is first asked for, and what
// was changed is told by [Index.Changed]: the cost of a request follows what it
// touches. The package knows nothing of files and clocks. An Index is not safe
// for concurrent use, and bitmaps that a Source backs with memory of its own
// live as long as that memory does.
//
// Reading the source: resource.go and value.go say what a resource is; node.go
// and signature.go what a node is; bits.go and bucket.go hold the bitmaps;
// index.go keeps them up to date; match.go answers which buckets serve a chunk,
// room.go which shared nodes have room for one, mark.go which nodes are not like
// the others of their bucket; set.go splits them into placement sets.
package index
