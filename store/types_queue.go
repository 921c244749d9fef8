package store

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/ask"
	"github.com/placectl/placectl/store/internal/batch"
	"github.com/placectl/placectl/store/internal/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

type (
	// CycleSpec configures a cycle.
	CycleSpec = cycle.CycleSpec
	// CycleReport lists what a cycle did.
	CycleReport = cycle.CycleReport
	// NeverRuns is a job that can never run on the cluster as it is.
	NeverRuns = cycle.NeverRuns
	// Forecasts are the expected starts of waiting jobs.
	Forecasts = cycle.Forecasts
	// Forecast is the expected start of a job.
	Forecast = cycle.Forecast
	// PlaySpec says how to play the queue forward.
	PlaySpec = cycle.PlaySpec
	// Played is a waiting job and its start in a play.
	Played = cycle.Played
	// MadeWay is a job that a cycle would stop for another.
	MadeWay = cycle.MadeWay
	// Priorities gives access to the order of jobs, and to the numbers it uses besides their own.
	Priorities = cycle.Priorities
	// Number is a number set for a user, group, account, class or queue.
	Number = cycle.Number
)

type (
	// Bucket is nodes that are alike, and how many of them are in which class.
	Bucket = ask.Bucket
	// PlacementSet is a placement set with its name, key=value.
	PlacementSet = ask.PlacementSet
	// Stats are a store's numbers.
	Stats = ask.Stats
	// Explained is an explanation with what only the store knows: of a request, or of a job.
	Explained = ask.Explained
	// Ahead is an owner of nodes of a planned job before that job.
	Ahead = ask.Ahead
	// Queueing is where a job stands that waits for its turn.
	Queueing = ask.Queueing
	// Awaited is a job that another depends on.
	Awaited = ask.Awaited
	// Metrics are a store's numbers for a monitoring system, as of now.
	Metrics = ask.Metrics
	// NodeCount is how many nodes of a queue are in a state.
	NodeCount = ask.NodeCount
	// ConsumableUse is how much of a consumable the nodes of a queue have, up or not: sizes in bytes.
	ConsumableUse = ask.ConsumableUse
	// QueueMetrics are the jobs of a queue.
	QueueMetrics = ask.QueueMetrics
	// ClassMetrics is the part of the cluster that a class is meant to have, and has.
	ClassMetrics = ask.ClassMetrics
	// Outlook tells why jobs wait and when they are expected to start, as things stand.
	Outlook = ask.Outlook
	// Wait is what a job waits for before all else.
	Wait = ask.Wait
	// Prospect is how a job stands.
	Prospect = ask.Prospect
)

const (
	WaitsNot   = ask.WaitsNot   // it runs, or has ended
	WaitsNever = ask.WaitsNever // it can never run
	WaitsHeld  = ask.WaitsHeld  // to be released from its hold
	WaitsJob   = ask.WaitsJob   // for other jobs
	WaitsBegin = ask.WaitsBegin // for its begin time
	WaitsUser  = ask.WaitsUser  // for a process of its user
	WaitsClass = ask.WaitsClass // its class may start nothing more
	WaitsPlan  = ask.WaitsPlan  // for its planned start
	WaitsLate  = ask.WaitsLate  // to be planned anew, because its planned start was not to be had
	WaitsLimit = ask.WaitsLimit // for others under a limit to give back, whether or not there is room
	WaitsRoom  = ask.WaitsRoom  // for nodes
	WaitsTurn  = ask.WaitsTurn  // for nothing but a cycle
)

// WaitBounds are the upper bounds of the counts in QueueMetrics.Waits.
var WaitBounds = row.WaitBounds

type (
	// Batch is the state of a batch.
	Batch = batch.Batch
	// BatchFile is a file of a batch.
	BatchFile = batch.BatchFile
	// BatchMaker takes in the files and then the jobs of a new batch, one by one.
	BatchMaker = batch.BatchMaker
	// BatchGrant is a host's work, with its files by name.
	BatchGrant = batch.BatchGrant
	// NumberedFile is a file of a batch and its number.
	NumberedFile = batch.NumberedFile
)

// ErrBatchIdle and ErrBatchOver say why a host was given nothing: there is nothing
// for it now, or nothing waits any more.
var (
	ErrBatchIdle = locality.ErrIdle
	ErrBatchOver = locality.ErrOver
)
