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
// across processes: a writer has the file to itself, readers share it; with
// Options.Beside they go on while a writer thinks. The file
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
// Instants are of type time.Time, in whole seconds, and the zero time is none; lengths are
// of type time.Duration, and count in seconds, rounded up. What package placer decides,
// as a Plan and an Ask, is in Unix seconds.
//
// # What a transaction does
//
// Nodes: [Tx.Node], [Tx.NodeByNumber], [Tx.NodeNumber], [Tx.NodeNames], [Tx.ResolveNodes],
// [Tx.EachNode], [Tx.ScanNodes], [Tx.PutNode], [Tx.RemoveNode], [Tx.SetNodeState], [Tx.SetLoad]; what is on
// them: [Tx.Occupancy], [Tx.Allocations], [Tx.Owner], [Tx.Left], [Tx.Used]; how they are alike: [Tx.Buckets], [Tx.PlacementSets]; their devices:
// [Tx.DrainDevices], [Tx.ResumeDevices], [Tx.CutDevices], [Tx.Detected], [Tx.SplitNode],
// [Tx.JoinNode], [Tx.Moved], and which of them jobs have: [Tx.DevicesOfNode], [Tx.HeldBy],
// [Tx.Devices], [Tx.DevicesOn].
//
// Resources, queues and settings: [Tx.Resources], [Tx.AddResource], [Tx.RemoveResource];
// [Tx.Queue], [Tx.Queues], [Tx.AddQueue], [Tx.SetQueue], [Tx.RemoveQueue]; [Tx.Settings],
// [Tx.AllSettings], [Tx.Configure]. For those that make cycles: [Tx.Pending], [Tx.Startable],
// [Tx.NextChange], [Tx.LastCycleTook], [Tx.Overdue].
//
// What belongs to no node: [Tx.Pools]; who may have how much at once: [Tx.Limits];
// who pays: [Tx.Accounts]. Queries with names: [Tx.Views].
// Who makes way for whom: [Tx.Preemption].
//
// Placing: [Tx.Place], [Tx.PlaceAt], [Tx.PlaceOrReserve], [Tx.Release], [Tx.Extend]; asking
// first: [Tx.When], [Tx.Explain], [Tx.Route], [Tx.Policy], [Tx.Candidates], [Tx.Ask],
// [Tx.WaitsFor].
//
// Jobs and the queue: [Tx.Submit], [Tx.Alter], [Tx.Hold], [Tx.Unhold], [Tx.Cancel], [Tx.Requeue], [Tx.RequeueHeld], [Tx.Retry],
// [Tx.Finish], [Tx.SetCommand], [Tx.LaunchEnded], [Tx.Cycle]; looking: [Tx.Job], [Tx.EachJob],
// [Tx.ArrayJobs], [Tx.JobsNamed], [Tx.Payload], [Tx.Sign], [Tx.Signed], [Tx.Outlook], [Tx.Forecasts], [Tx.FreshForecasts], [Tx.WhenJob], [Tx.ExplainJob], [Tx.Asked],
// [Tx.ExecVNode]; what has happened: [Tx.EachEvent], [Tx.RecordedEvents], [Tx.Stats], [Tx.Metrics];
// handing it to the site's own program: [Tx.Hook].
//
// What jobs have had, by month: [Tx.Usage]; in which order they wait: [PrioritiesOf]; what would come of changes: [Tx.Suppose].
//
// Attempts, each a start of a job: [Tx.Claim], [Tx.BeforeClaim], [Tx.HoldUnsigned], [Tx.Report], [Tx.FinishAttempt], [Tx.GiveBack], [Tx.Lose], [Tx.Signal], [Tx.Signalled],
// [Tx.Attend], [Tx.AttendedOn],
// [Tx.LaunchBy]; looking: [Tx.Attempt], [Tx.EachAttempt], [Tx.Unclaimed], [Tx.Unreached], [Tx.ClaimedOn],
// [Tx.HostOf]; who executes them: [Tx.Hosts].
//
// Reservations: [Tx.Reserve], [Tx.ReserveNodes], [Tx.AddReservation], [Tx.Unreserve],
// [Tx.Reservation], [Tx.EachReservation], [Tx.Standing], [Tx.EachStanding], [Tx.Occurrences].
//
// Class shares: [Tx.Shares], [Tx.SetShares], [Tx.ClassOf], [Tx.ShareState], [Tx.ShareTimer],
// [Tx.SetShareTimer].
//
// Batches of package locality: [Tx.MakeBatch], [Tx.Batch], [Tx.EachBatch], [Tx.RemoveBatch],
// [Tx.BatchNext], [Tx.BatchDone], [Tx.BatchFail], [Tx.BatchExpire], [Tx.BatchRecompute],
// [Tx.BatchPlaces], [Tx.EachBatchJob], [Tx.EachBatchHost], [Tx.EachBatchRange], [Tx.Host].
//
// A clock that was wrong: [Tx.ResetClock]. SQL and the rest: [Tx.Query], [Tx.QueryTables]; [Tx.Now], [Tx.Writable], [Tx.Identity]. Idempotency keys:
// [Tx.Once], [Tx.Amend].
//
// Of a [DB], beside transactions: [DB.Check], [DB.Repair]; [DB.Backup], [DB.BackupTo] and
// [Restore]; [DB.Dump] and [Load]; [DB.Compact]; [Salvage]; [DB.Archive]; [DB.Copy].
//
// # Reading the source
//
// Package row says what is in the file, package file opens and locks it and is the one
// door to its rows; tx.go is the transaction, which works on rows, job.go and clock.go
// make of them what callers get; package derived is what index and calendar are lent, and
// what else follows from rows, clock.go the notion of now. What is about one noun alone is
// a method of a type around the transaction: attempts, plans, allocations, waiting,
// overdue, payloads, reservations, queues, counters, nodeDevices, nodeIndex, classShares. setting_table.go
// has the settings that there are. nodes.go, ask.go and place.go, begin.go, extend.go, finish.go, reserve.go and standing.go are what
// can be done, package takings verifies it; device.go is which devices a job has, whom
// package nodes has given them, device_node.go and device_change.go what becomes of them when a
// node names others, is split or joined; pool.go and counter.go
// count what belongs to no node; limit.go is who may have how much, sharing.go who may do what, who pays, and whose jobs make way for whose, usage.go says what jobs have had, priority.go reads what those that wait are put in order by; metrics.go
// tells a monitoring system; views.go keeps queries; shares.go is class shares,
// play.go plays the queue forward.
// The queue: submit.go, payload.go, finish.go and launch.go are what happens to a job,
// attempt.go, claim.go, ending.go and report.go to the attempts at it, cycle.go
// and the files named after it the cycle, whose decisions are package placer/cycle's,
// event.go what has become of all of them. batch.go and its like keep package locality's
// batches, query.go lends the tables to package query, check.go the rows to package check,
// which proves it all. recovery.go and archive.go get out of trouble, with
// package recovery.
package store
