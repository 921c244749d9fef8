package file

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// A wrong list of free pages stops writers, but no reader.
func TestDamagedFreePages(t *testing.T) {
	for name, damage := range map[string]func(list []byte, pages uint64){
		"a page behind the end": func(list []byte, pages uint64) { binary.NativeEndian.PutUint64(list, pages) },
		"a bit is flipped":      func(list []byte, _ uint64) { list[4] ^= 1 << 2 },
		"a meta page":           func(list []byte, _ uint64) { binary.NativeEndian.PutUint64(list, 1) },
		"a page twice":          func(list []byte, _ uint64) { copy(list[8:16], list[:8]) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			for range 3 {
				if err := change(f); err != nil {
					t.Fatal(err)
				}
			}
			content, err := os.ReadFile(f.Path())
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.Open(f.Path())
			if err != nil {
				t.Fatal(err)
			}
			m, err := newestMeta(data)
			data.Close()
			if err != nil {
				t.Fatal(err)
			}
			page := content[int64(m.freelist)*m.pageSize:]
			if n := binary.NativeEndian.Uint16(page[10:]); n < 2 {
				t.Fatalf("%d free pages are too few", n)
			}
			damage(page[pageHeaderSize:], m.pages)
			if err := os.WriteFile(f.Path(), content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := look(f); err != nil {
				t.Errorf("a reader: %v", err)
			}
			if err := change(f); !errors.Is(err, row.ErrDamaged) {
				t.Errorf("a writer: %v", err)
			}
			if info, err := os.Stat(f.Path()); err != nil || info.Size() != int64(len(content)) {
				t.Errorf("the file has %d bytes, and had %d (%v)", info.Size(), len(content), err)
			}
		})
	}
}
