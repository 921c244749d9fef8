package file

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// meanwhile makes something happen before the first reads of a file.
type meanwhile struct{ next []func() }

func (m *meanwhile) Do(op Operation, fn func() error) error {
	if op.Kind == "read" && len(m.next) > 0 {
		now := m.next[0]
		m.next = m.next[1:]
		now()
	}
	return fn()
}

// lookWhile returns what a check without a lock says of a file to which something happens.
func lookWhile(t *testing.T, path string, happens ...func()) (string, error) {
	t.Helper()
	calls = &meanwhile{happens}
	defer func() { calls = direct{} }()
	return preflight(path)
}

// A commit that makes the file grow meanwhile does not damage it.
func TestLookWhileItGrows(t *testing.T) {
	f := newFile(t)
	before, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	warning, err := lookWhile(t, f.Path(), func() {
		calls = direct{}
		if err := f.Update(func(r *Recorder) (bool, error) {
			return true, r.Put(row.Config, []byte("a"), make([]byte, 2*before.Size()))
		}); err != nil {
			t.Fatal(err)
		}
	})
	if warning != "" || err != nil {
		t.Errorf("%q, %v", warning, err)
	}
	if after, err := os.Stat(f.Path()); err != nil || after.Size() == before.Size() {
		t.Errorf("%d bytes, %v", after.Size(), err)
	}
}

// A wrong number of tables, or of rows in a table that lies in the page of tables, is damage.
func TestCounts(t *testing.T) {
	f := newFile(t)
	if err := f.Update(func(r *Recorder) (bool, error) {
		return true, errors.Join(r.Put(row.Config, []byte("a"), []byte("1")),
			r.Put(row.Config, []byte("b"), []byte("2")))
	}); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	meta := readMetas(bytes.NewReader(sound), int64(len(sound)))[0]
	page := int64(meta.root) * meta.pageSize
	counts := []int64{page + 10}
	for i := range pageElements(sound[page:]) { // rows of the tables in it
		at := elementAt(i)
		value, ok := leafValue(sound[page:page+meta.pageSize], at)
		if ok && len(value) > bucketHeader && value[0] == 0 {
			key, _ := leafKey(sound[page:page+meta.pageSize], at)
			inline := int64(at) + int64(sound[page+int64(at)+4]) + int64(sound[page+int64(at)+5])<<8 + int64(len(key)) +
				bucketHeader
			counts = append(counts, page+inline+10)
		}
	}
	if len(counts) < 2 {
		t.Fatal("no table lies in the page of tables")
	}
	for _, at := range counts {
		for bit := range 8 {
			bad := bytes.Clone(sound)
			bad[at] ^= 1 << bit
			if err := os.WriteFile(f.Path(), bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := f.View(func(*Recorder) error { return nil }); !errors.Is(err, row.ErrDamaged) {
				t.Errorf("byte %d, bit %d: %v", at, bit, err)
			}
		}
	}
}

// A meta page that is read while it is being written is read again; one that stays as it is
// has lost a transaction.
func TestLookWhileAMetaPageIsWritten(t *testing.T) {
	f := newFile(t)
	data, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	size := int64(os.Getpagesize())
	write := func(b []byte) func() {
		return func() {
			file, err := os.OpenFile(f.Path(), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.WriteAt(b, size+pageHeaderSize); err != nil {
				t.Fatal(err)
			}
		}
	}
	torn, whole := write(make([]byte, metaSize/2)), write(data[size+pageHeaderSize:][:metaSize])
	same := func() {}
	if warning, err := lookWhile(t, f.Path(), torn, same, same, whole); warning != "" || err != nil {
		t.Errorf("a page that was being written: %q, %v", warning, err)
	}
	if warning, err := lookWhile(t, f.Path(), torn); warning == "" || err != nil {
		t.Errorf("a page that is not valid: %q, %v", warning, err)
	}
}

// A small table inside another page must not be read as one that begins at a page of its own,
// where rows of others are. Rows would be missing without an error.
func TestInlineTableLedAstray(t *testing.T) {
	f := newFile(t)
	if err := f.Update(func(r *Recorder) (bool, error) {
		for i := range uint64(500) {
			if err := r.Put(row.Jobs, row.Key64(i), make([]byte, 50)); err != nil {
				return false, err
			}
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	named := func(root byte) []byte { // the table as a page lists it; root 0 is inline
		return append(append([]byte(row.Config.String()), root), make([]byte, bucketHeader-1)...)
	}
	if !bytes.Contains(data, named(0)) {
		t.Fatal("the table is not inline")
	}
	for root := byte(1); root < 32; root++ {
		if err := os.WriteFile(f.Path(), bytes.ReplaceAll(data, named(0), named(root)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.View(func(r *Recorder) error {
			_, err := r.Get(row.Config, []byte("none"))
			return err
		}); !errors.Is(err, row.ErrDamaged) {
			t.Errorf("page %d: %v", root, err)
		}
	}
}
