package listing

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/locality"
)

// Batch is a batch at an instant, as shown in answers.
type Batch struct {
	*engine.Batch
	Now int64 // Unix seconds
}

// BatchFields are the fields of batches in answers.
var BatchFields = output.Fields[Batch]{
	{Name: "name", Value: func(b Batch) any { return b.Name }},
	{Name: "state", Value: func(b Batch) any { return b.State() }},
	{Name: "policy", Value: func(b Batch) any { return b.Settings.Policy }},
	{Name: "jobs", Kind: output.Integer, Value: func(b Batch) any { return b.Jobs }},
	{Name: "done", Kind: output.Integer, Value: func(b Batch) any { return b.Done }},
	{Name: "failed", Kind: output.Integer, Value: func(b Batch) any { return b.Failed }},
	{Name: "progress", Kind: output.Number, Value: func(b Batch) any { return b.DonePart() }},
	{Name: "files", Kind: output.Integer, Value: func(b Batch) any { return b.Files }},
	{Name: "hosts", Kind: output.Integer, Value: func(b Batch) any { return b.Active }},
	{Name: "transfers", Kind: output.Integer, Value: func(b Batch) any { return b.Transfers }},
	{Name: "bound", Kind: output.Integer, Value: func(b Batch) any { return b.Bound }},
	{Name: "ratio", Kind: output.Number, Value: func(b Batch) any { return b.TransferRatio() }},
	{Name: "end", Kind: output.Time, Value: func(b Batch) any { return output.OrNil(b.End(b.Now)) }},
	{Name: "bytes", Kind: output.Size, Detail: true, Value: func(b Batch) any { return b.Bytes }},
	{Name: "quorum", Kind: output.Integer, Detail: true, Value: func(b Batch) any { return b.Layers }},
	{Name: "moves", Kind: output.Integer, Detail: true, Value: func(b Batch) any { return b.Moves }},
	{Name: "credit", Kind: output.Number, Detail: true, Value: func(b Batch) any { return locality.Credits(b.Total) }},
	{Name: "remaining_credit", Kind: output.Number, Detail: true, Value: func(b Batch) any {
		return locality.Credits(b.Remaining)
	}},
	{Name: "waiting_credit", Kind: output.Number, Detail: true, Value: func(b Batch) any {
		return locality.Credits(b.Waiting)
	}},
	{Name: "expavg_credit", Kind: output.Number, Detail: true, Value: func(b Batch) any {
		return locality.Credits(b.Rate)
	}},
	{Name: "team", Kind: output.Integer, Detail: true, Value: func(b Batch) any { return b.Settings.Team }},
	{Name: "cushion", Kind: output.Integer, Detail: true, Value: func(b Batch) any { return b.Settings.Cushion }},
	{Name: "created", Kind: output.Time, Detail: true, Value: func(b Batch) any { return b.Created }},
}
