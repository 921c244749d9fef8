package engine

import (
	"github.com/placectl/placectl/internal/ask"
	"github.com/placectl/placectl/internal/batches"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/locality"
)

type (
	// CycleSpec configures a cycle.
	CycleSpec = queue.CycleSpec
	// CycleReport lists what a cycle did.
	CycleReport = queue.CycleReport
	// NeverRuns is a job that can never run on the present cluster.
	NeverRuns = queue.NeverRuns
	// Forecasts are the expected starts of waiting jobs.
	Forecasts = queue.Forecasts
	// Forecast is the expected start of a job.
	Forecast = queue.Forecast
	// PlaySpec says how to play the queue forward.
	PlaySpec = queue.PlaySpec
	// Played is a waiting job and its start in a play.
	Played = queue.Played
	// MadeWay is a job that a cycle would stop for another.
	MadeWay = queue.MadeWay
	// Priorities gives access to the order of jobs, and to the numbers it uses besides their own.
	Priorities = queue.Priorities
	// Number is a number set for a user, group, account, class or queue.
	Number = users.Number
)

type (
	// Bucket is nodes that are alike, and how many of them are in which class.
	Bucket = ask.Bucket
	// PlacementSet is a placement set with its name, key=value.
	PlacementSet = ask.PlacementSet
	// Stats holds counts of a store's contents.
	Stats = ask.Stats
	// Explained is an explanation of a request or a job, with facts that only the store knows.
	Explained = ask.Explained
	// Ahead is a job or reservation that has nodes of a planned job before that job starts.
	Ahead = ask.Ahead
	// Queueing is the position of a job that waits for its turn.
	Queueing = ask.Queueing
	// Awaited is a job that another depends on.
	Awaited = ask.Awaited
	// Metrics holds a store's current values for a monitoring system.
	Metrics = ask.Metrics
	// NodeCount is the number of nodes of a queue in a state.
	NodeCount = ask.NodeCount
	// ConsumableUse is how much of a consumable the nodes of a queue have, up or not. Sizes
	// are in bytes.
	ConsumableUse = ask.ConsumableUse
	// QueueMetrics counts the jobs of a queue.
	QueueMetrics = ask.QueueMetrics
	// ClassMetrics holds a class's target and actual share of the cluster.
	ClassMetrics = ask.ClassMetrics
	// Outlook tells why jobs wait and when they are expected to start, as things stand.
	Outlook = ask.Outlook
	// Wait is what a job waits for first.
	Wait = ask.Wait
	// Prospect tells why a job waits and when it may start.
	Prospect = ask.Prospect
)

const (
	WaitsNot   = ask.WaitsNot   // for nothing: it runs or has ended
	WaitsNever = ask.WaitsNever // for nothing: it can never run
	WaitsHeld  = ask.WaitsHeld  // for the release of its hold
	WaitsJob   = ask.WaitsJob   // for other jobs
	WaitsBegin = ask.WaitsBegin // for its begin time
	WaitsUser  = ask.WaitsUser  // for a process of its user
	WaitsClass = ask.WaitsClass // its class may start nothing more
	WaitsPlan  = ask.WaitsPlan  // for its planned start
	WaitsLate  = ask.WaitsLate  // for a new plan, because it could not start as planned
	WaitsLimit = ask.WaitsLimit // for others under a limit to finish, whether or not there is room
	WaitsNodes = ask.WaitsNodes // for nodes or devices that are out of service
	WaitsRoom  = ask.WaitsRoom  // for nodes
	WaitsTurn  = ask.WaitsTurn  // for nothing but a cycle
)

// WaitBounds lists the upper bounds of the counts in QueueMetrics.Waits.
var WaitBounds = row.WaitBounds

type (
	// Batch is the state of a batch.
	Batch = row.Batch
	// BatchFile is a file of a batch.
	BatchFile = row.BatchFile
	// BatchMaker takes in the files and then the jobs of a new batch, one by one.
	BatchMaker = batches.Maker
	// BatchGrant is a host's work, with its files by name.
	BatchGrant = batches.Grant
	// NumberedFile is a file of a batch and its number.
	NumberedFile = batches.File
)

// ErrBatchIdle and ErrBatchOver say why a host got no work: there is none for it now, or none
// is left.
var (
	ErrBatchIdle = locality.ErrIdle
	ErrBatchOver = locality.ErrOver
)
