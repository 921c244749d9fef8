// Package store is a placement database in one file: it knows the nodes of a cluster, what runs on
// them and what is planned, places jobs, and answers SQL about all of it. There is no server.
// Programs open the file, read or change it in a transaction, and close it.
//
//	db, err := store.Open("cluster.db", nil)
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	err = db.Update(func(tx *store.Tx) error {
//		job, err := tx.Place(placer.Request{Select: "2:ncpus=4", Walltime: time.Hour})
//		if errors.Is(err, placer.ErrNotNow) {
//			return nil // err says why, and when it would start
//		}
//		if err == nil {
//			fmt.Println(job.ID, "on", job.Nodes)
//		}
//		return err
//	})
//
// # Transactions
//
// View reads one state of the database, Update changes it: all of its changes are on disk when it
// returns nil, and none otherwise. Batch is Update for many goroutines: they share a commit, and each
// fails alone. Transactions are serializable across processes. Readers, too, wait for a function that
// changes something: keep it short. Inside it use its Tx, never the handle. What methods return is
// yours, and stays valid after the transaction. A transaction may run its function again if another
// process was faster, so the function must not change anything outside, except by setting it as a
// whole.
//
// # Jobs
//
// A job gets its nodes in one of two ways. Place, PlaceAt and PlaceEarliest choose nodes at once:
// the caller runs the command and calls Finish or Release. Submit puts a job into the queue, and
// Cycle, called now and then by any process, starts the jobs that fit in order. Package runner cycles
// and executes commands; package attempts is for programs that execute them in a way of their own.
//
// # Reading, and the cluster
//
// Everything in the database is a table for [DB.Query], now, and some of it at another instant:
// docs/sql.md lists them. The typed methods of Tx are for what programs act on. Nodes are put with
// PutNode. All else that an administrator declares is an [Item]: Set sets it, Remove removes it.
//
// # Rights
//
// Without an [Actor] everything is permitted. An Actor has the rights of its user: each user may
// change that user's own jobs, and reads all that the setting private does not hide; operators may
// change all jobs and what users share; the owner of the database may do anything. Where a method
// says nothing, everybody may call it.
//
// # Errors
//
// Test errors with errors.Is against the variables of this package, and placer.ErrNotNow,
// placer.ErrNever and placer.ErrRequest. Any method may also fail with ErrDamaged, and one that changes something with
// ErrReadOnly in a View, and with ErrNotPermitted. Instants are whole seconds; the zero time is none.
package store
