// Package etcd keeps logs of replicas in etcd. It speaks to etcd's JSON gateway, which is
// part of every etcd since 3.4, over net/http: one call compares the head of a log and
// appends to it, or reads what is missing.
//
// It is compiled with -tags etcd only, into placectl-etcd: net/http and TLS cost each
// start of a command time and memory, and one machine needs neither.
//
// What is below the prefix of a log:
//
//	meta              "placectl-log", version 1, the log's id, when it was made
//	head              position and chain of the last entry
//	log/<n>           entry n, or what tells where its parts are
//	part/<n>/<id>/<i> part i of entry n where that is too long for one request
//	snap              the newest snapshot: position, format, pieces, bytes, SHA-256
//	snap/<n>/<i>      piece i of the snapshot at position n
//	earlier           the snapshot before that, as snap
//	chain/<n>         the chains of entries that were trimmed, 8 bytes each, from entry n on
//	first             the oldest entry that is still there
//	line/<id>         a writer waiting for its turn, bound to a lease; its value, if any: where the
//	                  writer's replica stood, and what it wants, in words
//	answer/<n>/<id>   the answer to the words of a place whose writer stood at n
//
// n is 16 hexadecimal digits, i 6 of them, so that keys are in the order of numbers.
//
// # Invariants
//
//   - head, log/<n> and what takes the parts of entry n off their lease are put in one
//     transaction, which compares head.
//   - meta is put in one transaction with head, first and snap, if there was none.
//   - Pieces and parts are put under a lease, and only where there was no such key: a copy
//     of a request that arrives late neither changes them nor binds them to a lease again.
//   - Words are run by the transaction that puts an entry, deletes their line/<id> and puts their
//     answer, if line/<id> is still what was read. A place is taken with words only if there
//     is no such answer, and none can have been trimmed.
//   - first is moved before anything that it makes needless is deleted.
//
// # Caveats
//
// A request that got no answer may be carried out much later: a member that was stopped
// has it in its buffers. Append therefore says ErrLost as long as a copy of its request
// may be under way and head has not moved; moved, it lets no copy through any more.
package etcd
