package replica

import (
	"bytes"
	"testing"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// FuzzEntry: bytes are an entry or not, and an entry is encoded as the same bytes.
func FuzzEntry(f *testing.F) {
	e := &Entry{Head: Head{Position: 7, Format: row.Format, Version: "v1", Host: "h", User: "u", Verb: "place", Now: 5},
		tables: []tableChange{
			{name: "config", cleared: true, ops: []op{{opPut, []byte("k"), []byte("v")},
				{kind: opDelete, key: []byte("l")}}},
			{name: "jobs", ops: []op{{opChange, []byte("k"), bytes.Repeat([]byte("v"), 9000)}}}}}
	b, err := e.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	e.tables = nil
	if b, err = e.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, sealed := range [][]byte{b, sealEntry(b)} { // with a checksum that fits more of it is read
			e, err := decodeEntry(sealed)
			if err != nil {
				continue
			}
			again, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			other, err := decodeEntry(again)
			if err != nil {
				t.Fatalf("%+v was encoded, and cannot be read: %v", e, err)
			}
			if third, err := other.Encode(); err != nil || !bytes.Equal(again, third) {
				t.Fatalf("%+v became %+v: %v", e, other, err)
			}
		}
	})
}

// FuzzSnapshot: bytes are a snapshot or not, and reading them ends.
func FuzzSnapshot(f *testing.F) {
	var snap *Snapshot
	if err := emptyFile(f).View(func(r *file.Recorder) (err error) {
		snap, err = TakeSnapshot(r, Position{})
		return err
	}); err != nil {
		f.Fatal(err)
	}
	body := snap.Body
	f.Add(body)
	rows, err := inflate(body, nil, 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(rows)
	f.Fuzz(func(t *testing.T, b []byte) {
		packed, err := deflate(b, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range [][]byte{b, packed} {
			_ = (&Snapshot{Body: body}).rows(func(_ row.Table, key, value []byte) error {
				if len(key) > rowMost || len(value) > rowMost {
					return file.ErrNewer
				}
				return nil
			})
		}
	})
}
