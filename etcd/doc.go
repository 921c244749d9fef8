// Package etcd keeps logs of replicas in etcd, through etcd's own client. Importing it registers databases
// named etcd://HOST:PORT,.../PREFIX, and etcds:// with TLS. It is a module of its own, so that programs with a
// database in a file need nothing of it.
//
// The keys below the prefix of a log:
//
//	meta                "placectl-log", version 1, the log's id, when it was made
//	head                position and chain of the last entry
//	log/<n>             entry n, or a stub that describes its parts
//	part/<n>/<id>/<i>   part i of entry n, if that is too long for one request; id is drawn for each sending
//	snap                the newest snapshot: position, format, pieces, bytes, SHA-256
//	snap/<n>/<id>/<i>   piece i of the snapshot at position n
//	earlier             the snapshot before that, as snap
//	first               the oldest existing entry
//	line/<owner>        a writer waiting for its turn, bound to a lease
//
// n has 16 hexadecimal digits, and i has 6, so that keys sort as numbers. A machine has one key in the line,
// because etcd goes through all that ever existed until it compacts its history. A process that finds the key
// there was preceded by one that was killed, and takes over its place.
//
// # Invariants
//
//   - One transaction compares head, puts head and log/<n>, and takes the lease off the parts of entry n.
//   - meta is put in one transaction with head, first and snap, if there was none.
//   - Pieces and parts are put under a lease, and only if there was no such key. So a late copy of a request
//     neither changes them nor binds them to a lease again.
//   - first is moved before anything before it is deleted.
//
// # Caveats
//
// A request that got no answer may be carried out much later. The client never repeats a transaction; package
// replica sends an entry again, and an entry's bytes tell whose it is.
package etcd
