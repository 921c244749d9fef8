package tables

import (
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
)

// beatsTable returns the heartbeats: which users' processes execute attempts on which hosts.
func beatsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &rowsTable[row.Beat]{
		columns: []getter[row.Beat]{
			textColumn("host", "host", func(b *row.Beat) string { return b.Host }),
			textColumn("user", "user of the attempts", func(b *row.Beat) string { return b.User }),
			textColumn("boot", "boot id of the host", func(b *row.Beat) string { return b.Boot }),
			timeColumn("seen", "time of its last sign of life", func(b *row.Beat) int64 { return b.Seen }),
		},
		size: manyRows,
		open: func() *file.Cursor { return c.src.Rows.Cursor(row.Meta) },
		read: row.Beats,
	}, nil
}
