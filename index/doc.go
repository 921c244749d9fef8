// Package index finds the nodes of a cluster by what they offer: resources and their values,
// signatures, buckets, the inverted index from a value to the buckets that have it, and
// placement sets.
//
// A bucket is the set of nodes that share a resource signature, a queue and a priority
// (OpenPBS's node buckets). It has four bitmaps over node numbers: all; free (nothing on it,
// nothing planned); later (free now, something planned); busy (something on it now). A node
// that is down, offline or drained is in all only.
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
// Everything is loaded from a [Source] when it is first needed, and [Index.Changed] returns
// what was changed, so the cost of a request depends on what it touches. The package uses no
// files or clocks. An Index is not safe for concurrent use. Bitmaps that a Source backs with
// memory of its own are valid as long as that memory.
//
// Reading the source: resource.go and value.go say what a resource is; node.go
// and signature.go what a node is; bits.go and bucket.go hold the bitmaps;
// index.go keeps them up to date; match.go answers which buckets serve a chunk,
// room.go which shared nodes have room for one, mark.go which nodes are not like
// the others of their bucket; set.go splits them into placement sets.
package index
