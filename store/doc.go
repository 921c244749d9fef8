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
// Update returns nil once the change is on disk. Transactions are serializable across processes:
// a writer has the file to itself, and readers share it. With Options.Beside, readers go on while
// a writer computes. The file is open and locked only inside View and Update.
//
// Derived rows (bucket bitmaps, postings, the calendar) are stored beside the rows they follow
// from and updated with them, never rebuilt; Check recomputes them to compare. Reservations begin
// and end by the clock even while no process writes. The file records the instant that its bitmaps
// describe; each transaction applies the changes since, and a writer stores them.
//
// Caveats: a []byte or a bitmap read in a transaction is valid only until it ends; the types
// returned by Tx's methods are copies and stay valid. File locks do not exclude other machines on
// every network file system: see Options.Warn.
//
// Instants are of type time.Time, in whole seconds, and the zero time means none. Durations are of
// type time.Duration, in whole seconds, rounded up. The Plan and Ask of package placer are in Unix
// seconds.
//
// # Methods by topic
//
// Nodes: [Tx.Node], [Tx.NodeByNumber], [Tx.NodeNumber], [Tx.NodeNames], [Tx.ResolveNodes],
// [Tx.EachNode], [Tx.ScanNodes], [Tx.PutNode], [Tx.RemoveNode], [Tx.SetNodeState], [Tx.SetLoad]; what is on
// them: [Tx.Occupancy], [Tx.Allocations], [Tx.Owner], [Tx.Left], [Tx.Used]; how they are alike: [Tx.Buckets], [Tx.PlacementSets]; their devices:
// [Tx.DrainDevices], [Tx.ResumeDevices], [Tx.CutDevices], [Tx.Detected], [Tx.SplitNode],
// [Tx.JoinNode], [Tx.Moved], and the devices of jobs: [Tx.DevicesOfNode], [Tx.HeldBy],
// [Tx.Devices], [Tx.DevicesOn].
//
// Resources, queues and settings: [Tx.Resources], [Tx.AddResource], [Tx.RemoveResource];
// [Tx.Queue], [Tx.Queues], [Tx.AddQueue], [Tx.SetQueue], [Tx.RemoveQueue]; [Tx.Settings],
// [Tx.AllSettings], [Tx.Configure]. For making cycles: [Tx.Pending], [Tx.Startable],
// [Tx.NextChange], [Tx.LastCycleTook], [Tx.Overdue].
//
// Pools that belong to no node: [Tx.Pools]; limits: [Tx.Limits]; accounts: [Tx.Accounts]; named
// queries: [Tx.Views]; preemption rules: [Tx.Preemption].
//
// Placing: [Tx.Place], [Tx.PlaceAt], [Tx.PlaceOrReserve], [Tx.Release], [Tx.Extend]; asking
// first: [Tx.When], [Tx.Explain], [Tx.Route], [Tx.Policy], [Tx.Candidates], [Tx.Ask],
// [Tx.WaitsFor].
//
// Jobs and the queue: [Tx.Submit], [Tx.Alter], [Tx.Hold], [Tx.Unhold], [Tx.Cancel], [Tx.Requeue], [Tx.RequeueHeld], [Tx.Retry],
// [Tx.Finish], [Tx.SetCommand], [Tx.LaunchEnded], [Tx.Cycle]; looking: [Tx.Job], [Tx.EachJob],
// [Tx.ArrayJobs], [Tx.JobsNamed], [Tx.Payload], [Tx.Sign], [Tx.Signed], [Tx.Outlook], [Tx.Forecasts], [Tx.FreshForecasts], [Tx.WhenJob], [Tx.ExplainJob], [Tx.Asked],
// [Tx.ExecVNode]; what has happened: [Tx.EachEvent], [Tx.RecordedEvents], [Tx.Stats], [Tx.Metrics];
// passing events to the site's own program: [Tx.Hook].
//
// Use by month: [Tx.Usage]; the order of waiting jobs: [PrioritiesOf]; the effect of changes: [Tx.Suppose].
//
// Attempts, each a start of a job: [Tx.Claim], [Tx.BeforeClaim], [Tx.HoldUnsigned], [Tx.Report], [Tx.FinishAttempt], [Tx.GiveBack], [Tx.Lose], [Tx.Signal], [Tx.Signalled],
// [Tx.Attend], [Tx.AttendedOn],
// [Tx.LaunchBy]; looking: [Tx.Attempt], [Tx.EachAttempt], [Tx.Unclaimed], [Tx.Unreached], [Tx.ClaimedOn],
// [Tx.HostOf]; the hosts that execute them: [Tx.Hosts].
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
// After a wrong clock: [Tx.ResetClock]. SQL and the rest: [Tx.Query], [Tx.QueryTables]; [Tx.Now], [Tx.Writable], [Tx.Identity]. Idempotency keys:
// [Tx.Once], [Tx.Amend].
//
// Outside transactions: [DB.Check], [DB.Repair]; [DB.Backup], [DB.BackupTo] and
// [Restore]; [DB.Dump] and [Load]; [DB.Compact]; [Salvage]; [DB.Archive]; [DB.Copy].
//
// # Reading the source
//
// Package row defines what is in the file; package file opens and locks it, and all access to
// its rows goes through it. tx.go is the transaction, which works on rows; job.go and clock.go
// turn rows into what callers get. Package derived maintains what the index and the calendar
// read, and everything else that follows from rows; clock.go defines the current time.
//
// Code about one noun is a method of a type around the transaction: attempts, plans, allocations,
// waiting, overdue, payloads, reservations, queues, counters, nodeDevices, nodeIndex, classShares.
//
//   - The settings: setting_table.go.
//   - Operations: nodes.go, ask.go, place.go, begin.go, extend.go, finish.go, reserve.go and
//     standing.go. Package takings verifies them.
//   - Devices: device.go assigns them, with package nodes; device_node.go and device_change.go
//     handle a node that names other devices, is split or joined.
//   - Counters of what belongs to no node: pool.go and counter.go.
//   - Policy: limit.go (limits), sharing.go (permissions, accounts, preemption rules), shares.go
//     (class shares), usage.go (past use), priority.go (the order of waiting jobs).
//   - metrics.go serves monitoring systems, views.go keeps named queries, play.go plays the queue
//     forward.
//   - The queue: submit.go, payload.go, finish.go and launch.go change a job; attempt.go,
//     claim.go, ending.go and report.go its attempts; cycle.go and the files named after it make
//     the cycle, which package placer/cycle decides; event.go records what happened.
//   - batch.go and its like store package locality's batches, query.go offers the tables to
//     package query, check.go the rows to package check.
//   - recovery.go and archive.go repair and archive, with package recovery.
package store
