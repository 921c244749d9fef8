// Package store is placectl's embedding API: a placement database in one file.
// It keeps nodes, jobs and reservations as rows, and the node index and the
// calendar beside them, and changes them in transactions:
//
//	db, err := store.Open("cluster.db", nil)
//	err = db.Update(func(tx *store.Tx) error {
//		job, err := tx.Jobs().Place(placer.Request{Select: "2:ncpus=4", Place: "scatter:excl", Walltime: time.Hour})
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
// What a transaction can do is grouped: tx.Jobs().Place(request). The groups and their
// methods, documented by `go doc github.com/placectl/placectl/store/internal/jobs.Jobs` and
// the like:
//
//   - [Tx.Jobs], the jobs, placed at an instant or submitted to the queue. Alter, Array, Asked,
//     Cancel, Counterparts, Each, ExecVNode, Extend, Finish, Get, Hold, IsArray, JobOrArray, Named, Next,
//     Payload, Place, PlaceAt, PlaceOrReserve, Release, Requeue, RequeueHeld, Retry, SetCommand,
//     Sign, Signed, Submit, Unhold.
//   - [Tx.Attempts], the starts of jobs: who executes them, how they ended. Attend, AttendedOn,
//     BeforeClaim, Claim, ClaimedOn, Each, Finish, Get, GiveBack, HoldUnsigned, HostOf, LaunchBy,
//     LaunchEnded, LeftOver, Lose, PutBack, Report, Signal, Signalled, StopAgain, Unclaimed,
//     Unreached.
//   - [Tx.Cycle], running the queue, and playing it forward. Forecasts, FreshForecasts, LastBegan,
//     LastTook, MayStop, NextChange, Overdue, Pending, Play, Run, Startable, WouldStop.
//   - [Tx.Reservations], single and repeating reservations. Add, Each, EachStanding, Get,
//     Occurrences, Remove, Reserve, ReserveNodes, Standing.
//   - [Tx.Nodes], the nodes, and what is on them. Allocations, Beginning, ByNumber, Each, Get,
//     Left, Moved, Names, Number, Occupancy, Owner, Put, Remove, Resolve, Scan, SetLoad, SetState,
//     Used.
//   - [Tx.Devices], the devices of nodes, and which jobs have them. Cut, Detected, Drain, HeldBy,
//     JoinNode, Of, OfNode, On, Resume, SplitNode.
//   - [Tx.Config], settings and resources. AddResource, AllSettings, RemoveResource, Resources,
//     Set, Settings.
//   - [Tx.Queues], the queues. Add, All, Get, Remove, Set.
//   - [Tx.Shares], class shares. ClassOf, Get, Set, SetTimer, State, Timer.
//   - [Tx.Ask], questions: when something starts, why it waits, how the cluster is used. Ask,
//     Buckets, Candidates, Explain, ExplainJob, Guess, Metrics, Outlook, PlacementSets, Policy,
//     Route, Stats, WaitsFor, When, WhenJob.
//   - [Tx.Batches], the batches of package locality. Done, Each, EachHost, EachJob, EachRange,
//     Expire, Fail, Files, Get, Make, Next, Places, Recompute, Remove.
//
// [Tx.Limits], [Tx.Pools], [Tx.Accounts], [Tx.Preemption], [Tx.Roles], [Tx.Priorities] and
// [Tx.Usage] are about sharing the cluster. [Tx.Hosts] is about the hosts that execute
// attempts, [Tx.Hook] about the site's own program, and [Tx.Views] about named queries.
//
// The rest: [Tx.Now], [Tx.Writable], [Tx.Identity]; [Tx.Query], [Tx.QueryTables]; [Tx.EachEvent],
// [Tx.RecordedEvents]; idempotency keys: [Tx.Once], [Tx.Amend]; the effect of changes:
// [Tx.Suppose]; after a wrong clock: [Tx.ResetClock]; copies of a file: [Tx.Copy], [Tx.Adopt].
//
// Outside transactions: [DB.Check], [DB.Repair]; [DB.Backup], [DB.BackupTo] and
// [Restore]; [DB.Dump] and [Load]; [DB.Compact]; [Salvage]; [DB.Archive]; [DB.Copy].
//
// # Reading the source
//
// Package row defines what is in the file; package file opens and locks it, and all access to its
// rows goes through it. Package derived maintains what the index and the calendar read, and
// everything else that follows from rows. On them stand the packages that work in a transaction,
// each on those before it:
//
//   - kernel: the transaction itself, its rows as callers get them, settings, index and calendar.
//   - access: who may do what.
//   - booking: reading requests, taking nodes, devices and counters; reservations.
//   - jobs: the states of jobs, one machine for all; submissions, attempts, hosts.
//   - cycle: the passing of time, the cycle and its play, the order of jobs, forecasts.
//   - cluster: what an administrator changes: nodes, queues, settings, limits, shares, the hook.
//   - batch: package locality's batches.
//   - ask: explanations, prospects, metrics.
//
// The files of this package open, copy, repair and archive databases, keep them in logs, answer
// SQL, and give the types of these packages their names.
package store
