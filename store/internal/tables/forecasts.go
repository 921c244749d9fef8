package tables

import (
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
)

func forecastsTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[Foretold]{[]getter[Foretold]{
		intColumn("job", "which job", func(f *Foretold) int64 { return int64(f.Job) }),
		timeColumn("likely", "it starts sooner about as often as later", func(f *Foretold) int64 { return f.Likely }),
		timeColumn("safe", "nine of ten such jobs have started by then", func(f *Foretold) int64 { return f.Safe }),
		timeColumn("asked", "when it starts if all jobs run as long as they asked for, and no other comes", func(f *Foretold) int64 { return f.Asked }),
		timeColumn("as_of", "when the queue was played", func(f *Foretold) int64 { return f.AsOf }),
	}, func(add func(Foretold)) error {
		list, _, err := c.src.Forecasts()
		for _, f := range list {
			add(f)
		}
		return err
	}}, nil
}

func forecastRecordTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[row.Foretold]{[]getter[row.Foretold]{
		intColumn("job", "which job", func(f *row.Foretold) int64 { return int64(f.Job) }),
		timeColumn("said", "when the forecast was made", func(f *row.Foretold) int64 { return f.At }),
		timeColumn("likely", "the start that it said was likely", func(f *row.Foretold) int64 { return f.Says }),
		timeColumn("safe", "and the safe one", func(f *row.Foretold) int64 { return f.Safe }),
		timeColumn("started", "when the job started", func(f *row.Foretold) int64 { return f.Start }),
	}, func(add func(row.Foretold)) error {
		_, list, err := c.src.Forecasts()
		for _, f := range list {
			add(f)
		}
		return err
	}}, nil
}
