package tables

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// creditColumn returns credit as people count it.
func creditColumn[T any](name, doc string, get func(*T) locality.Credit) getter[T] {
	return realColumn(name, doc, func(r *T) float64 { return locality.Credits(get(r)) })
}

func batchesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[row.Batch]{[]getter[row.Batch]{
		textColumn("name", "name", func(b *row.Batch) string { return b.Name }),
		wordColumn("state", "new, running or finished", []string{"new", "running", "finished"},
			func(b *row.Batch) string { return b.State() }),
		textColumn("policy", "policy that assigns jobs to hosts", func(b *row.Batch) string {
			return b.Settings.Policy
		}),
		intColumn("jobs", "number of jobs", func(b *row.Batch) int64 { return int64(b.Jobs) }),
		intColumn("done", "number of jobs done", func(b *row.Batch) int64 { return int64(b.Done) }),
		intColumn("failed", "number of failed jobs", func(b *row.Batch) int64 { return int64(b.Failed) }),
		realColumn("progress", "part of the credit that is done, from 0 to 1", func(b *row.Batch) float64 {
			return b.DonePart()
		}),
		intColumn("files", "number of files", func(b *row.Batch) int64 { return int64(b.Files) }),
		intColumn("hosts", "number of hosts working on it now", func(b *row.Batch) int64 { return int64(b.Active) }),
		intColumn("transfers", "number of files sent", func(b *row.Batch) int64 { return int64(b.Transfers) }),
		intColumn("bound", "minimum possible number of transfers", func(b *row.Batch) int64 { return int64(b.Bound) }),
		realColumn("ratio", "transfers divided by bound", func(b *row.Batch) float64 { return b.TransferRatio() }),
		timeColumn("end", "actual or estimated end", func(b *row.Batch) int64 { return b.End(c.src.Now) }),
		unitColumn("bytes", "size of all files sent", tables.Bytes, func(b *row.Batch) int64 { return b.Bytes }),
		intColumn("quorum", "maximum results wanted of a job", func(b *row.Batch) int64 { return int64(b.Layers) }),
		intColumn("moves", "number of times a host changed its range", func(b *row.Batch) int64 {
			return int64(b.Moves)
		}),
		creditColumn("credit", "credit of all jobs", func(b *row.Batch) locality.Credit { return b.Total }),
		creditColumn("remaining_credit", "credit not finished", func(b *row.Batch) locality.Credit {
			return b.Remaining
		}),
		creditColumn("waiting_credit", "credit that no host has", func(b *row.Batch) locality.Credit {
			return b.Waiting
		}),
		creditColumn("expavg_credit", "average credit a day of its current hosts", func(b *row.Batch) locality.Credit {
			return b.Rate
		}),
		intColumn("team", "hosts for each range, for policies with teams", func(b *row.Batch) int64 {
			return int64(b.Settings.Team)
		}),
		intColumn("cushion", "instances kept ready ahead of a cursor", func(b *row.Batch) int64 {
			return int64(b.Settings.Cushion)
		}),
		timeColumn("created", "time of creation", func(b *row.Batch) int64 { return b.Created }),
	}, func(add func(row.Batch)) error {
		return c.eachBatch(func(b *row.Batch) error {
			add(*b)
			return nil
		})
	}}, nil
}

// batchRange is a range of a batch, with the hosts that work there.
type batchRange struct {
	batch *row.Batch
	*locality.Cursor
	at   locality.Progress
	team *locality.Team
}

func cursorsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[batchRange]{[]getter[batchRange]{
		textColumn("batch", "batch name", func(r *batchRange) string { return r.batch.Name }),
		intColumn("first_job", "first job of the range", func(r *batchRange) int64 { return int64(r.at.First) }),
		intColumn("last_job", "last job of the range", func(r *batchRange) int64 { return int64(r.at.Last) }),
		numberColumn("result", "which of the wanted results, from 1; NULL: all", func(r *batchRange) int64 {
			return int64(r.at.Result)
		}),
		intColumn("first_unfinished", "first unfinished job; if none, the one after the last",
			func(r *batchRange) int64 { return int64(r.at.Unfinished) }),
		intColumn("first_ungenerated", "first ungenerated job; if none, the one after the last",
			func(r *batchRange) int64 { return int64(r.at.Ungenerated) }),
		creditColumn("remaining_credit", "credit not finished", func(r *batchRange) locality.Credit {
			return r.Remaining()
		}),
		creditColumn("expavg_credit", "average credit a day of its hosts", func(r *batchRange) locality.Credit {
			return r.Rate()
		}),
		valueColumn("est_time_left", "estimated time until it is finished", values.IntegerAffinity, tables.Duration,
			func(r *batchRange) values.Value {
				if left, ok := r.Left(); ok {
					return values.Int(left)
				}
				return values.Value{}
			}),
		textColumn("hosts", "hosts, separated by commas", func(r *batchRange) string { return joined(r.team.Hosts) }),
		textColumn("rules", "soft rules its hosts break", func(r *batchRange) string {
			return strings.Join(r.team.Broken(), "; ")
		}),
	}, func(add func(batchRange)) error {
		return c.eachBatch(func(b *row.Batch) error {
			places, err := c.src.Places(b.Name)
			if err != nil {
				return err
			}
			return c.src.Rows.Each(row.BatchRanges, row.Key32(b.Number), func(key, payload []byte) (bool, error) {
				cur, err := row.DecodeRange(key, payload)
				if err == nil {
					add(batchRange{b, cur, b.Progress(cur), places.In(cur)})
				}
				return true, err
			})
		})
	}}, nil
}

// batchKeys reads the rows of a table whose keys begin with the number of a batch.
type batchKeys struct {
	c     *Catalog
	table row.Table
	names map[uint32]string
}

func (k *batchKeys) all() *file.Cursor { return k.c.src.Rows.Cursor(k.table) }

// of returns the rows of one batch, or nil if there is no such batch.
func (k *batchKeys) of(name values.Value) *file.Cursor {
	b, err := k.c.batch(name.String())
	if b == nil || err != nil {
		k.c.fail(err)
		return nil
	}
	return k.c.src.Rows.Range(k.table, row.Key32(b.Number), row.BatchBlockKey(b.Number, math.MaxUint32))
}

// split splits a key into the batch's name and the number of the block.
func (k *batchKeys) split(key []byte) (batch string, block int, err error) {
	if len(key) != 8 {
		return "", 0, fmt.Errorf("%w: the key %x of table %s", row.ErrDamaged, key, k.table)
	}
	if k.names == nil {
		k.names = make(map[uint32]string)
		if err := k.c.eachBatch(func(b *row.Batch) error {
			k.names[b.Number] = b.Name
			return nil
		}); err != nil {
			return "", 0, err
		}
	}
	return k.names[binary.BigEndian.Uint32(key)], int(binary.BigEndian.Uint32(key[4:])), nil
}

// eachBatch calls fn for the batches by name.
func (c *Catalog) eachBatch(fn func(*row.Batch) error) error {
	return c.src.Rows.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		b, err := row.BatchRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(b)
	})
}

// batch finds a batch, or nil if there is none.
func (c *Catalog) batch(name string) (*row.Batch, error) {
	payload, err := c.src.Rows.Get(row.Batches, []byte(name))
	if payload == nil || err != nil {
		return nil, err
	}
	return row.BatchRow.Decode([]byte(name), payload)
}

// batchTable returns a table of the parts of batches, found by the name of the batch.
func batchTable[T any](k *batchKeys, size int, columns []getter[T],
	read func(batch string, block int, key, payload []byte, out []T) ([]T, error)) tables.Table {
	return &rowsTable[T]{columns: columns, size: size, open: k.all, keys: map[string]func(values.Value) *file.Cursor{
		"batch": k.of},
		read: func(key, payload []byte, out []T) ([]T, error) {
			batch, block, err := k.split(key)
			if err != nil {
				return nil, err
			}
			return read(batch, block, key, payload, out)
		}}
}
