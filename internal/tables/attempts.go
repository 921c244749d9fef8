package tables

import (
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// attemptsTable lists the starts of jobs, in the order of jobs and starts. It reads the jobs,
// because an unclaimed attempt has no row of its own.
func attemptsTable(c *Catalog, _ int64) (tables.Table, error) {
	part := func(from, to int64) *file.Cursor { return c.src.Rows.Numbers(row.Jobs, from, to) }
	return &orderedTable[row.Attempt]{rowsTable[row.Attempt]{
		columns: attemptColumns(c),
		size:    int(c.src.NextJob),
		open:    func() *file.Cursor { return c.src.Rows.Cursor(row.Jobs) },
		read: func(key, payload []byte, out []row.Attempt) ([]row.Attempt, error) {
			j, err := row.DecodeJob(key, payload)
			if err != nil {
				return nil, err
			}
			for number := 1; number <= j.CurrentAttempt(); number++ {
				a, err := c.src.Attempt(j, number)
				if err != nil {
					return nil, err
				}
				if number == j.CurrentAttempt() && len(j.Devices) > 0 {
					a.Devices = c.heldBy(j)
				}
				out = append(out, *a)
			}
			return out, nil
		},
		keys: map[string]func(values.Value) *file.Cursor{"job": func(v values.Value) *file.Cursor {
			if v.Kind() != values.Integer || v.Int64() < 0 {
				return nil
			}
			return part(v.Int64(), v.Int64())
		}},
	}, part}, nil
}

func attemptColumns(c *Catalog) []getter[row.Attempt] {
	return []getter[row.Attempt]{
		intColumn("job", "job number", func(a *row.Attempt) int64 { return int64(a.Job) }),
		intColumn("attempt", "number of the start, from 1", func(a *row.Attempt) int64 { return int64(a.Number) }),
		wordColumn("state", "started (not claimed yet), claimed, ending (being stopped) or ended",
			words(row.AttemptStarted, row.AttemptEnded),
			func(a *row.Attempt) string { return a.State.String() }),
		wordColumn("by", "what executes it: supervisor (a keeper), run or launcher",
			words(row.BySupervisor, row.ByLauncher), func(a *row.Attempt) string { return a.By.String() }),
		textColumn("host", "host", func(a *row.Attempt) string { return a.Host }),
		numberColumn("pid", "process that executes it", func(a *row.Attempt) int64 { return int64(a.PID) }),
		timeColumn("began", "when the job got its nodes", func(a *row.Attempt) int64 { return a.Began }),
		timeColumn("claimed", "when a process claimed it", func(a *row.Attempt) int64 { return a.Claimed }),
		timeColumn("ended", "when it ended", func(a *row.Attempt) int64 { return a.Ended }),
		wordColumn("outcome", "exited, signal, walltime, oom, unbegun, refused, lost or stopped",
			words(row.OutcomeExited, row.OutcomeStopped), func(a *row.Attempt) string { return a.Outcome.String() }),
		valueColumn("exit", "exit status of its command, or 128 plus the signal that ended it", values.IntegerAffinity,
			tables.NoUnit, exitValue),
		numberColumn("signal", "signal that ended it", func(a *row.Attempt) int64 { return int64(a.Signal) }),
		textColumn("why", "details of its end", func(a *row.Attempt) string { return a.Why.String() }),
		secondsColumn("cpu_user", "user cpu time of its processes, in seconds", func(a *row.Attempt) int64 {
			return a.Use.CPUUser
		}),
		secondsColumn("cpu_sys", "system cpu time of its processes, in seconds", func(a *row.Attempt) int64 {
			return a.Use.CPUSystem
		}),
		sizeColumn("max_rss", "memory of its largest process", func(a *row.Attempt) int64 { return a.Use.MaxRSS }),
		sizeColumn("mem_peak", "peak memory of all its processes; NULL: not measured", func(a *row.Attempt) int64 {
			return a.Use.MemPeak
		}),
		numberColumn("leftover", "number of processes that outlived its command and were killed",
			func(a *row.Attempt) int64 { return int64(a.Use.Leftover) }),
		valueColumn("nodes", "its nodes, folded", values.TextAffinity, tables.Nodes, func(a *row.Attempt) values.Value {
			return c.nodeNames(a.AllNodes())
		}),
		textColumn("devices", "its devices by node: g1:ngpus=0,3:ncpus=0-7", func(a *row.Attempt) string {
			return a.Devices
		}),
	}
}

// exitValue returns the exit status of an attempt whose command was executed and whose end was observed.
func exitValue(a *row.Attempt) values.Value { return ifInt(a.HasExit(), a.Exit) }

// secondsColumn returns a time of microseconds in seconds, NULL for 0.
func secondsColumn[T any](name, doc string, get func(*T) int64) getter[T] {
	return valueColumn(name, doc, values.RealAffinity, tables.NoUnit, func(r *T) values.Value {
		if n := get(r); n != 0 {
			return values.Float(float64(n) / 1e6)
		}
		return values.Value{}
	})
}

// sizeColumn returns a number of bytes, NULL for 0.
func sizeColumn[T any](name, doc string, get func(*T) int64) getter[T] {
	return valueColumn(name, doc, values.IntegerAffinity, tables.Bytes, func(r *T) values.Value {
		if n := get(r); n != 0 {
			return values.Int(n)
		}
		return values.Value{}
	})
}
