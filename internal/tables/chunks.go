package tables

import (
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// chunkRow is a chunk of a job.
type chunkRow struct {
	job   *row.Job
	chunk int
}

func chunksTable(c *Catalog, _ int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	columns := []getter[chunkRow]{
		intColumn("job", "job number", func(r *chunkRow) int64 { return int64(r.job.ID) }),
		intColumn("chunk", "number of the chunk in the select, from 0", func(r *chunkRow) int64 {
			return int64(r.chunk)
		}),
		intColumn("count", "number requested", func(r *chunkRow) int64 { return int64(r.job.Chunks[r.chunk].Count) }),
		textColumn("asks", "requested resources of each", func(r *chunkRow) string { return asks(r.job, r.chunk) }),
		valueColumn("nodes", "node list, folded", values.TextAffinity, tables.Nodes, func(r *chunkRow) values.Value {
			one := row.JobFacts{Chunks: r.job.Chunks[r.chunk : r.chunk+1]}
			return c.nodeNames(one.NodeNumbers())
		}),
	}
	columns = append(columns, amountColumns(defs, func(r *chunkRow, id index.ResID) (int64, bool) {
		wants, err := c.wants(r.job)
		if c.fail(err); err != nil || r.chunk >= len(wants) {
			return 0, false
		}
		for _, w := range wants[r.chunk].Wants {
			if w.Res == id {
				return w.Value.Num, true
			}
		}
		return 0, false
	})...)
	return &listTable[chunkRow]{columns, func(add func(chunkRow)) error {
		return c.src.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
			j, err := row.DecodeJob(key, payload)
			if err != nil {
				return false, err
			}
			for i := range j.Chunks {
				add(chunkRow{j, i})
			}
			return true, nil
		})
	}}, nil
}

// asks returns a chunk of a job's select, without its count.
func asks(j *row.Job, chunk int) string {
	parts := strings.Split(j.Select, "+")
	if len(parts) != len(j.Chunks) {
		return ""
	}
	_, what, _ := strings.Cut(parts[chunk], ":")
	return what
}
