package tables

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
)

func forecastsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[foretold]{[]getter[foretold]{
		intColumn("job", "job number", func(f *foretold) int64 { return int64(f.Job) }),
		timeColumn("likely", "likely start: as often too early as too late", func(f *foretold) int64 {
			return f.Likely
		}),
		timeColumn("safe", "safe start: 90 % of such jobs have started by then", func(f *foretold) int64 {
			return f.Safe
		}),
		timeColumn("asked", "start if every job runs as long as it asked and none is added", func(f *foretold) int64 {
			return f.Asked
		}),
		timeColumn("as_of", "when the queue was played", func(f *foretold) int64 { return f.AsOf }),
	}, func(add func(foretold)) error {
		list, _, err := c.src.Forecasts()
		for _, f := range list {
			add(f)
		}
		return err
	}}, nil
}

func forecastRecordTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[row.Foretold]{[]getter[row.Foretold]{
		intColumn("job", "job number", func(f *row.Foretold) int64 { return int64(f.Job) }),
		timeColumn("said", "when the forecast was made", func(f *row.Foretold) int64 { return f.At }),
		timeColumn("likely", "likely start at that time", func(f *row.Foretold) int64 { return f.Says }),
		timeColumn("safe", "safe start at that time", func(f *row.Foretold) int64 { return f.Safe }),
		timeColumn("started", "when the job started", func(f *row.Foretold) int64 { return f.Start }),
	}, func(add func(row.Foretold)) error {
		_, list, err := c.src.Forecasts()
		for _, f := range list {
			add(f)
		}
		return err
	}}, nil
}
