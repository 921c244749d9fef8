package tables

import (
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// hostName returns the name of a host of batches.
func (c *Catalog) hostName(number uint32) string {
	name, ok := c.hosts[number]
	if !ok {
		h, err := c.host(number)
		if c.fail(err); err != nil {
			return ""
		}
		if c.hosts == nil {
			c.hosts = make(map[uint32]string)
		}
		name = h.Name
		c.hosts[number] = name
	}
	return name
}

func (c *Catalog) host(number uint32) (*locality.Host, error) {
	key := row.Key32(number)
	payload, err := c.src.Rows.Get(row.Hosts, key)
	if err == nil && payload == nil {
		err = fmt.Errorf("%w: host number %d is missing", row.ErrDamaged, number)
	}
	if err != nil {
		return nil, err
	}
	return row.HostRow.Decode(key, payload)
}

func hostsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &rowsTable[locality.Host]{
		columns: []getter[locality.Host]{
			textColumn("name", "name", func(h *locality.Host) string { return h.Name }),
			textColumn("user", "owner; NULL: a user of its own", func(h *locality.Host) string { return h.User }),
			realColumn("credit", "credit earned, weighted towards recent work", func(h *locality.Host) float64 {
				return h.Earned / locality.Micro
			}),
			realColumn("seconds", "time spent on it, weighted alike", func(h *locality.Host) float64 {
				return h.Spent
			}),
			timeColumn("seen", "time of its last sign of life", func(h *locality.Host) int64 { return h.Seen }),
		},
		size: manyRows,
		open: func() *file.Cursor { return c.src.Rows.Cursor(row.Hosts) },
		read: func(key, payload []byte, out []locality.Host) ([]locality.Host, error) {
			h, err := row.HostRow.Decode(key, payload)
			if err != nil {
				return nil, err
			}
			return append(out, *h), nil
		},
	}, nil
}

// batchHost is a host's part in a batch.
type batchHost struct {
	batch *row.Batch
	*locality.Member
}

func batchHostsTable(c *Catalog, _ int64) (tables.Table, error) {
	rows := make(map[string]*row.Batch)
	k := &batchKeys{c: c, table: row.BatchHosts}
	return batchTable(k, manyRows, []getter[batchHost]{
		textColumn("batch", "batch name", func(h *batchHost) string { return h.batch.Name }),
		textColumn("host", "host name", func(h *batchHost) string { return c.hostName(h.Host) }),
		boolColumn("active", "it is working on a range", func(h *batchHost) bool { return h.Placed }),
		valueColumn("at_job", "job it is at; NULL: none", values.IntegerAffinity, tables.NoUnit,
			func(h *batchHost) values.Value {
				if !h.Placed {
					return values.Value{}
				}
				job, _ := h.batch.JobOf(h.At)
				return values.Int(int64(job))
			}),
		textColumn("side", "end of the range it works from: low or high", func(h *batchHost) string {
			return sideWord(h.Member)
		}),
		creditColumn("expavg_credit", "average credit a day", func(h *batchHost) locality.Credit { return h.Rate }),
		intColumn("jobs", "number of jobs it has done", func(h *batchHost) int64 { return int64(h.Jobs) }),
		intColumn("in_hands", "number of jobs it has now", func(h *batchHost) int64 { return int64(len(h.Live)) }),
		intColumn("files", "number of files it has", func(h *batchHost) int64 {
			n := 0
			for _, s := range h.Held {
				n += s.B - s.A + 1
			}
			return int64(n)
		}),
		timeColumn("joined", "time of its first request", func(h *batchHost) int64 { return h.Joined }),
		timeColumn("moved", "when it last changed its range", func(h *batchHost) int64 { return h.Moved }),
		timeColumn("seen", "time of its last sign of life", func(h *batchHost) int64 { return h.Seen }),
	}, func(batch string, _ int, key, payload []byte, out []batchHost) ([]batchHost, error) {
		b := rows[batch]
		if b == nil {
			var err error
			if b, err = c.batch(batch); err == nil && b == nil {
				err = row.Missing("batch", batch)
			}
			if err != nil {
				return nil, err
			}
			rows[batch] = b
		}
		m, err := row.MemberRow.Decode(key, payload)
		if err != nil {
			return nil, err
		}
		return append(out, batchHost{b, m}), nil
	}), nil
}

func sideWord(m *locality.Member) string {
	switch {
	case !m.Placed:
		return ""
	case m.Side == locality.HighEnd:
		return "high"
	}
	return "low"
}
