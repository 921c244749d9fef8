// Package store is placectl's embedding API: a placement database in one file.
// It keeps nodes, jobs and reservations as rows, and the node index and the
// calendar beside them, and changes them in transactions:
//
//	db, err := store.Open("cluster.db", nil)
//	err = db.Update(func(tx *store.Tx) error {
//		job, err := tx.Place(placer.Request{Select: "2:ncpus=4", Place: "scatter:excl", Walltime: time.Hour})
//		...
//	})
//
// Update returns nil once the change is on disk. Transactions are serializable
// across processes: a writer has the file to itself, readers share it. The file
// is open, and locked, only inside View and Update.
//
// What is derived (bucket bitmaps, postings, the calendar) is stored beside the
// rows and updated with them, never rebuilt; Check recomputes it to compare.
// Reservations begin and end by the clock while nobody writes: the file says
// for which instant its bitmaps stand, each transaction walks the changes
// since, and a writer folds them in.
//
// Caveats: nothing read in a transaction that is a []byte or a bitmap may
// outlive it; the types returned by Tx's methods are copies and may. File locks
// do not exclude on every network file system: see Options.Warn.
//
// Reading the source: package row says what is in the file, package file opens and locks
// it and is the one door to its rows; tx.go is the transaction; source.go is what index
// and calendar are lent, clock.go the notion of now; nodes.go, ask.go and place.go, begin.go, extend.go, release.go, reserve.go and
// standing.go are what can be done, conflict.go verifies it; shares.go, share_state.go
// and share_unit.go are class shares. The queue: submit.go, depend.go, finish.go and
// launch.go are what happens to a job, cycle.go and the files named after it the cycle,
// whose decisions are package placer/cycle's, memory.go what it hands on to the next one,
// event.go what has become of all of them. batch.go and its like keep package locality's
// batches, query.go and its like lend the tables to package query. check.go and
// derive.go prove it.
package store
