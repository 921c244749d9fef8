package recovery

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// A dump is lines of JSON: a head, each row that is not derived, table by table in key order,
// and a last line with the number of rows. Without the last line it was cut off. Package row
// defines the lines.
type (
	dumpHead struct {
		Placectl string `json:"placectl"` // dumpKind
		Format   uint32 `json:"format"`   // of the rows
	}
	dumpEnd struct {
		Rows *int64 `json:"rows"`
	}
)

const dumpKind = "dump"

// Dump writes every row of a file that is not derived, at one instant.
func Dump(f *file.File, w io.Writer, watch file.Watch) (content file.Content, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	err = f.View(func(r *file.Recorder) error {
		content, err = dumpRows(r, out, watch)
		return err
	})
	return content, errors.Join(err, out.Flush())
}

func dumpRows(r *file.Recorder, out *bufio.Writer, watch file.Watch) (content file.Content, err error) {
	var rows int64
	head, err := json.Marshal(dumpHead{dumpKind, row.Format})
	if err != nil {
		return content, err
	}
	out.Write(append(head, '\n')) // its first error is returned later
	var line []byte
	for t := range row.TableCount {
		if t.Derived() || t == row.Tallies { // a loaded database starts to count anew
			continue
		}
		err := r.Each(t, nil, func(key, payload []byte) (bool, error) {
			if !row.Counted(t, key) || row.Local(t, key) {
				return true, nil // it describes the file, not the contents
			}
			if line, err = row.AppendDocument(line[:0], t, key, payload); err != nil {
				return false, err
			}
			content.Rows[t]++
			rows++
			if watch != nil {
				if err := watch(1); err != nil {
					return false, err
				}
			}
			_, err := out.Write(line)
			return true, err
		})
		if err != nil {
			return content, err
		}
	}
	_, err = fmt.Fprintf(out, "{\"rows\":%d}\n", rows)
	return content, err
}
