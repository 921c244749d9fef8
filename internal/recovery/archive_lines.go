package recovery

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// archiveHead is the first line of an archive.
type archiveHead struct {
	Placectl string `json:"placectl"` // archiveKind
	Format   uint32 `json:"format"`   // of the rows
	DB       string `json:"db"`       // the id of their database
}

const archiveKind = "archive"

// WriteArchive writes a whole archive. It replaces an existing one, which must be of the same
// database and whose rows stay. It calls watch for rows.
func WriteArchive(db *check.Store, to string, old *Expired, watch file.Watch) error {
	id, err := db.Rows.Identity()
	if err != nil {
		return err
	}
	return file.Rewrite(to, func(was *os.File, tmp *os.File) error {
		var out io.WriteCloser = tmp
		if was != nil {
			if err := sameArchive(was, id.String()); err != nil {
				return err
			}
			if _, err := io.Copy(tmp, was); err != nil {
				return err
			}
		}
		if strings.HasSuffix(to, ".gz") {
			out = gzip.NewWriter(tmp)
		}
		lines := bufio.NewWriterSize(out, 1<<16)
		if was == nil {
			head, err := json.Marshal(archiveHead{archiveKind, row.Format, id.String()})
			if err != nil {
				return err
			}
			lines.Write(append(head, '\n')) //nolint:errcheck // Flush returns it
		}
		var line []byte
		err := old.each(db.Rows, telling(watch, func(t row.Table, key, payload []byte) (err error) {
			if line, err = row.AppendDocument(line[:0], t, key, payload); err == nil {
				_, err = lines.Write(line)
			}
			return err
		}))
		err = errors.Join(err, lines.Flush())
		if out != io.WriteCloser(tmp) {
			err = errors.Join(err, out.Close())
		}
		return err
	})
}

// sameArchive verifies that a file is an archive of a database, and rewinds it.
func sameArchive(f *os.File, id string) error {
	text, err := plain(f)
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(text).ReadSlice('\n')
	var head archiveHead
	if err != nil || json.Unmarshal(line, &head) != nil || head.Placectl != archiveKind {
		return fmt.Errorf("%s exists and is not an archive: %w", f.Name(), row.ErrConflict)
	}
	if head.DB != id {
		return fmt.Errorf("%s is an archive of another database: %w", f.Name(), row.ErrConflict)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
