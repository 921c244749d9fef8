// Package etcd keeps logs of replicas in etcd. It uses etcd's JSON gateway, which is part of
// every etcd since 3.4, over net/http. One call compares the head of a log and appends to it,
// or reads what is missing.
//
// It is compiled only with -tags etcd, into placectl-etcd, because net/http and TLS cost time
// and memory at each start of a command, and a single machine needs neither.
//
// The keys below the prefix of a log:
//
//	meta              "placectl-log", version 1, the log's id, when it was made
//	head              position and chain of the last entry
//	log/<n>           entry n, or a stub that describes its parts
//	part/<n>/<id>/<i> part i of entry n, if that is too long for one request
//	snap              the newest snapshot: position, format, pieces, bytes, SHA-256
//	snap/<n>/<i>      piece i of the snapshot at position n
//	earlier           the snapshot before that, as snap
//	chain/<n>         the chains of entries that were trimmed, 8 bytes each, from entry n on
//	first             the oldest existing entry
//	line/<id>         a writer waiting for its turn, bound to a lease
//
// n has 16 hexadecimal digits, and i has 6, so that keys sort as numbers.
//
// # Invariants
//
//   - One transaction, which compares head, puts head and log/<n> and detaches the parts of
//     entry n from their lease.
//   - meta is put in one transaction with head, first and snap, if there was none.
//   - Pieces and parts are put under a lease, and only if there was no such key. So a late
//     copy of a request neither changes them nor binds them to a lease again.
//   - first is moved before anything before it is deleted.
//
// # Caveats
//
// A request that got no answer may be carried out much later, because a stopped member has it
// in its buffers. So Append returns ErrLost while a copy of its request may be under way and
// head has not moved. Once head has moved, no copy can get through.
package etcd
