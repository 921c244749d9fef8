package store

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/replica"
	"github.com/placectl/placectl/store/internal/row"
)

// oldestTried is the oldest format that is tested. Logs exist since format 8; files of earlier
// formats stand for what will be upgraded from now on.
const oldestTried = 5

// TestOldLog: a log of an older format is readable as it is. It takes no writes until it is
// upgraded if it is older than any format of a log. After that it equals an upgraded file of that
// format: for replicas that existed before, that catch up, and that are new.
func TestOldLog(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "db", "v*.db"))
	if err != nil || len(files) < Format {
		t.Fatalf("%d files for %d formats: %v", len(files), Format, err)
	}
	for _, path := range files {
		name, format := strings.TrimSuffix(filepath.Base(path), ".db"), 0
		if _, err := fmt.Sscanf(name, "v%d", &format); err != nil {
			t.Fatal(err)
		}
		if format < oldestTried {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			oldLog(t, path, format)
		})
	}
}

func oldLog(t *testing.T, path string, format int) {
	opt := Options{Now: (&clock{t: 1_000_500}).now}
	m, plain := logOf(t, path)
	machine := func() *DB { return onMachine(t, "memory", opt) }
	one, two := machine(), machine()
	change := func(tx *Tx) error { return tx.Config().Set("default_walltime", "3600") }
	if list := findings(t, one); len(list) > 0 {
		t.Errorf("as it is: %q", list)
	}
	newest := format == Format
	if format < kernel.FirstLog {
		err := one.Update(change)
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "placectl upgrade") {
			t.Errorf("a change before it is upgraded: %v", err)
		}
		if m.Head().N != 0 {
			t.Errorf("refused, and the log has %d entries", m.Head().N)
		}
	}
	for range 2 { // the second time there is nothing to do
		if _, err := one.Upgrade(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.Head().N; newest != (n == 0) || n > 1 {
		t.Errorf("it was upgraded by %d entries", n)
	}
	if err := two.Update(change); err != nil {
		t.Fatal(err)
	}
	db, err := Open(plain, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Upgrade(); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	want := ofNoFile(lastingRows(t, db))
	for i, there := range []*DB{one, two, machine()} {
		if diff := cmp.Diff(want, ofNoFile(lastingRows(t, there))); diff != "" {
			t.Errorf("machine %d (-file +log)\n%s", i, diff)
		}
		if list := findings(t, there); len(list) > 0 {
			t.Errorf("machine %d: %q", i, list)
		}
	}
}

// ofNoFile omits the identity of a database, which is random and drawn when it is migrated.
func ofNoFile(rows map[string]string) map[string]string {
	for key := range rows {
		if strings.HasPrefix(key, row.Meta.String()+" ") {
			delete(rows, key)
		}
	}
	return rows
}

// first is a driver for machines with a version that knows no format after that of the first
// logs: it refuses what such a version would refuse.
type first struct{ replica.Driver }

// known refuses an entry of a later format. The test checks which tables it has.
func (d *first) known(t *replica.Tail, err error) (*replica.Tail, error) {
	if err != nil || t == nil {
		return t, err
	}
	for _, b := range t.Entries {
		if h, err := replica.DecodeHead(b); err != nil || h.Format > kernel.FirstLog {
			return nil, errors.Join(ErrNewer, err)
		}
	}
	return t, nil
}

func (d *first) Append(ctx context.Context, at replica.Position, entry []byte, place replica.Place) (
	*replica.Tail, error) {
	return d.known(d.Driver.Append(ctx, at, entry, place))
}

func (d *first) After(ctx context.Context, at replica.Position) (*replica.Tail, error) {
	return d.known(d.Driver.After(ctx, at))
}

func (d *first) Turn(ctx context.Context, place replica.Place, at replica.Position) (replica.Place, *replica.Tail,
	error) {
	place, t, err := d.Driver.Turn(ctx, place, at)
	t, err = d.known(t, err)
	return place, t, err
}

func (d *first) Snapshot(ctx context.Context) (*replica.Snapshot, error) {
	s, err := d.Driver.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(s.Body)))
	if err != nil {
		return nil, err
	}
	if s.Format > kernel.FirstLog {
		return nil, ErrNewer
	}
	for in := bytes.NewBuffer(body[1:]); in.Len() > 0; { // newer than its version
		name := string(in.Next(number(in)))
		if t, known := row.TableNamed(name); !known || t.Since() > kernel.FirstLog {
			return nil, fmt.Errorf("%w: table %s", ErrNewer, name)
		}
		for range 2 * number(in) { // keys and rows
			in.Next(number(in))
		}
	}
	return s, nil
}

func number(in *bytes.Buffer) int {
	n, _ := binary.ReadUvarint(in)
	return int(n)
}

// TestOldAndNewOnOneLog: machines with this version and with the first that knew logs take
// turns on a log of the first format. Every answer is that of a file, nothing in the log is
// newer than its format, and everything is sound. After an upgrade, the older version stops.
func TestOldAndNewOnOneLog(t *testing.T) {
	t.Parallel()
	clock := &clock{t: 1_000_500}
	opt := Options{Now: clock.now}
	m, path := logOf(t, filepath.Join("..", "testdata", "db", fmt.Sprintf("v%d.db", kernel.FirstLog)))
	plain, err := Open(path, &opt)
	if err != nil {
		t.Fatal(err)
	}
	newer, older := onMachine(t, "memory", opt), onMachine(t, "first", opt)
	rng := seeded(t)
	for i := range 80 {
		db, n := []*DB{newer, older}[rng.IntN(2)], rng.IntN(len(deeds))
		one, two := plain.Update(deeds[n]), db.Update(deeds[n])
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Fatalf("step %d of kind %d: %v in the file, and %v in the log", i, n, one, two)
		}
		clock.t += rng.Int64N(1000)
		switch rng.IntN(20) {
		case 0:
			err = db.Log().Trim()
		case 1:
			err = db.Repair(func(f string) { t.Errorf("step %d: repaired: %s", i, f) })
		case 2:
			if db == newer {
				newer = onMachine(t, "memory", opt)
			} else {
				older = onMachine(t, "first", opt)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, db := range []*DB{newer, older} {
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("%q", list)
		}
	}
	_, err = newer.Query(context.Background(), fmt.Sprintf("SELECT name FROM nodes AT %d", clock.t-1))
	if err == nil || !strings.Contains(err.Error(), "placectl upgrade") {
		t.Errorf("what nodes were: %v", err)
	}
	want := ofFirst(lastingRows(t, plain))
	for _, db := range []*DB{newer, older, onMachine(t, "first", opt)} {
		if diff := cmp.Diff(want, ofFirst(lastingRows(t, db))); diff != "" {
			t.Errorf("(-file +log)\n%s", diff)
		}
	}
	backup, restored := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "restored.db")
	if _, err := older.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{restored, "memory://x/" + t.Name()} {
		if _, err := Restore(name, backup, &RestoreOptions{Options: newer.opt}); err != nil {
			t.Fatal(err)
		}
	}
	err = newer.Log().Each(0, func(e *LogEntry) error {
		for _, name := range e.Tables {
			if table, _ := row.TableNamed(name); e.Format != kernel.FirstLog || table.Since() > kernel.FirstLog {
				t.Errorf("entry %d of %s has format %d, and rows of table %s", e.Position, e.Verb, e.Format, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	at := m.Head().N
	if was, err := newer.Upgrade(); was != kernel.FirstLog || err != nil || m.Head().N != at+1 {
		t.Errorf("upgraded from %d by %d entries: %v", was, m.Head().N-at, err)
	}
	if err := older.View(func(*Tx) error { return nil }); !errors.Is(err, ErrNewer) {
		t.Errorf("the older version, then: %v", err)
	}
	newest := onMachine(t, "memory", opt)
	if list := findings(t, newest); len(list) > 0 {
		t.Errorf("upgraded: %q", list)
	}
	if plain, err = Open(restored, &opt); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ofNoFile(lastingRows(t, plain)), ofNoFile(lastingRows(t, newest))); diff != "" {
		t.Errorf("restored and upgraded (-file +log)\n%s", diff)
	}
}

// ofFirst omits the identity of a database, and what the first format of logs does not have.
func ofFirst(rows map[string]string) map[string]string {
	for key := range ofNoFile(rows) {
		name, _, _ := strings.Cut(key, " ")
		if t, _ := row.TableNamed(name); t.Since() > kernel.FirstLog {
			delete(rows, key)
		}
	}
	return rows
}

// logOf makes a log with the content of an old file, by the test's name, and a copy of that
// file.
func logOf(t *testing.T, path string) (m *replica.Memory, plain string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain = filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(plain, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(plain, file.Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	m = replica.NewMemory()
	if err := replica.Create(m, time.Minute, f); err != nil {
		t.Fatal(err)
	}
	logsMu.Lock()
	defer logsMu.Unlock()
	logs[t.Name()] = m
	return m, plain
}

// onMachine opens the log of the test's name on another machine.
func onMachine(t *testing.T, scheme string, opt Options) *DB {
	t.Helper()
	opt.Replica.Folder = t.TempDir()
	db, err := Open(scheme+"://x/"+t.Name(), &opt)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
