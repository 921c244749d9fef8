package engine

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"go.etcd.io/bbolt"
)

var (
	long    = flag.Bool("long", false, "the long form of TestDamage")
	damaged = flag.Int("damaged", 0, "how many damaged files TestDamage reads; 0: 4000, 100000 in the long form")
	damage  = flag.Uint64("damage", 0, "the seed of TestDamage; 0: that of RAPID_SEED, or another each time")
)

// damageSeed returns the requested seed, or a new one.
func damageSeed() uint64 {
	if *damage != 0 {
		return *damage
	}
	if seed, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 10, 64); err == nil {
		return seed
	}
	return uint64(time.Now().UnixNano())
}

// damages are the ways in which files are damaged. Damage in place leaves the length of the
// file as it was, and is what disks do: nothing in such a file may be read wrongly without an
// error.
var damages = []struct {
	name    string
	inPlace bool
	shows   bool // by itself: each row that is read is the right one, or an error
	do      func(r *rand.Rand, sound, old []byte) []byte
}{
	{"a bit is flipped", true, true, func(r *rand.Rand, sound, _ []byte) []byte {
		sound[r.IntN(len(sound))] ^= 1 << r.IntN(8)
		return sound
	}},
	{"a sector has other bytes", true, true, func(r *rand.Rand, sound, _ []byte) []byte {
		for i, at := 0, r.IntN(len(sound)/512)*512; i < 512; i++ {
			sound[at+i] = byte(r.Uint32())
		}
		return sound
	}},
	{"a sector is zeroed", true, true, func(r *rand.Rand, sound, _ []byte) []byte {
		at := r.IntN(len(sound)/512) * 512
		clear(sound[at : at+512])
		return sound
	}},
	{"a page is zeroed", true, true, func(r *rand.Rand, sound, _ []byte) []byte {
		clear(pageOf(sound, r.IntN(len(sound)/osPage)))
		return sound
	}},
	{"two pages are swapped", true, false, func(r *rand.Rand, sound, _ []byte) []byte {
		a, b := 2+r.IntN(len(sound)/osPage-2), 2+r.IntN(len(sound)/osPage-2)
		kept := append([]byte(nil), pageOf(sound, a)...)
		copy(pageOf(sound, a), pageOf(sound, b))
		copy(pageOf(sound, b), kept)
		return sound
	}},
	{"a page is as it was", true, false, func(r *rand.Rand, sound, old []byte) []byte {
		i := 2 + r.IntN(min(len(sound), len(old))/osPage-2)
		copy(pageOf(sound, i), pageOf(old, i))
		return sound
	}},
	{"a row is another, with a right checksum", true, false, func(r *rand.Rand, sound, _ []byte) []byte {
		f, err := os.CreateTemp("", "changed-*.db")
		if err == nil {
			defer os.Remove(f.Name())
			_, err = f.Write(sound)
			err = errors.Join(err, f.Close())
		}
		if err == nil {
			_, err = changeUncounted(f.Name(), row.Table(r.IntN(int(row.TableCount))), r)
		}
		if err == nil {
			sound, err = os.ReadFile(f.Name())
		}
		if err != nil {
			panic(err)
		}
		return sound
	}},
	{"it is cut", false, false, func(r *rand.Rand, sound, _ []byte) []byte { return sound[:r.IntN(len(sound))] }},
	{"it is longer", false, false, func(r *rand.Rand, sound, _ []byte) []byte {
		return append(sound, make([]byte, 1+r.IntN(3*osPage))...)
	}},
}

const osPage = 4096

func pageOf(b []byte, i int) []byte { return b[i*osPage : (i+1)*osPage] }

// TestDamage damages files, then reads them, checks them and writes to them. A full read returns
// the correct rows or an error. check finds every damage that makes a reader fail or read something
// else. Nothing crashes, hangs or takes more than 64 MB, and a successful verb has not hidden what
// check finds.
func TestDamage(t *testing.T) {
	t.Parallel()
	seed := damageSeed()
	random := rand.New(rand.NewPCG(seed, 2))
	db, clock := lively(t)
	old := content(t, db)
	for range 6 {
		clock.t++
		job, _, err := place(db, "1:ncpus=1", 1000e9)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Release(job.ID); return err }); err != nil {
			t.Fatal(err)
		}
	}
	sound, want := content(t, db), dumpAll(t, db)
	rounds := *damaged
	switch {
	case rounds > 0:
	case *long:
		rounds = 100_000
	case testing.Short():
		rounds = 800
	default:
		rounds = 4000
	}
	rows := storedRows(t, db)
	found, missed := make(map[string]int), make(map[string]int)
	for i := range rounds {
		kind := &damages[i%len(damages)]
		bad := kind.do(random, append([]byte(nil), sound...), old)
		v := writeDamaged(t, fmt.Sprintf("seed %d, round %d: %s", seed, i, kind.name), bad, clock)
		v.want, v.rows, v.exact, v.random = want, rows, kind.shows && !inCount(sound, bad), random
		if v.read(kind.inPlace) {
			found[kind.name]++
		}
		missed[kind.name] += v.missed
		os.RemoveAll(filepath.Dir(v.path))
	}
	t.Logf("rows that are read by themselves, wrongly and without an error: %v", missed)
	for _, kind := range damages {
		if found[kind.name] == 0 && kind.name != "it is longer" && rounds > 500 {
			t.Errorf("%s: no damage was noticed", kind.name)
		}
	}
}

// inCount reports whether only a page's number of rows is damaged. Then rows seem to be missing, and only
// reading all of them shows it: docs/reliability.md has this among its limits.
func inCount(sound, bad []byte) bool {
	at := 0
	for at < min(len(sound), len(bad)) && sound[at] == bad[at] {
		at++
	}
	const count = 10 // its offset in bbolt's header of a page
	return at%osPage/2 == count/2 && len(sound) == len(bad) && bytes.Equal(sound[at+1:], bad[at+1:])
}

func content(t *testing.T, db *DB) []byte {
	t.Helper()
	b, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeDamaged(t *testing.T, what string, bad []byte, clock *clock) *damagedFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	return &damagedFile{T: t, what: what, path: path, clock: clock}
}

// damagedFile is a file that was damaged.
type damagedFile struct {
	*testing.T
	what   string
	path   string
	clock  *clock
	want   string
	rows   []storedRow
	random *rand.Rand
	exact  bool // a row that is read by itself is the right one, or an error
	missed int  // how many are not
	warned bool
}

// read reads, checks and writes a damaged file, and reports whether any of them noticed the
// damage.
func (v *damagedFile) read(inPlace bool) bool {
	before := allocated()
	db, err := Open(v.path, &Options{Now: v.clock.now, Warn: func(string) { v.warned = true }})
	if err != nil {
		v.named("open", err)
		return true
	}
	got, err := dump(db)
	v.named("read", err)
	if inPlace && !v.warned {
		v.single(db)
		v.scans()
	}
	wrong := err == nil && got != v.want
	if wrong && !v.warned {
		v.Errorf("%s: read without an error, and wrongly", v.what)
	}
	list := 0
	checked := db.Check(func(string) { list++ })
	v.named("check", checked)
	if bytes := allocated() - before; bytes > mostAllocated {
		v.measure()
	}
	if noticed := checked != nil || list > 0; (err != nil || wrong) && !noticed {
		v.Errorf("%s: check finds nothing; reading: %v", v.what, err)
	} else if !noticed {
		return false
	}
	v.write(db, inPlace)
	return true
}

// single reads each row by itself. It must be the right one, or there must be an error, also
// if the row is missing.
func (v *damagedFile) single(db *DB) {
	err := db.View(func(tx *Tx) error {
		for _, one := range v.rows {
			payload, err := tx.k.File.Get(one.table, one.key)
			if err != nil {
				return err
			}
			if !bytes.Equal(payload, one.payload) {
				v.missed++
				if v.exact {
					v.Errorf("%s: row %x of %s is read as %x, without an error", v.what, one.key, one.table, payload)
				}
				return nil
			}
		}
		return nil
	})
	v.named("a row", err)
}

// scans reads a table in the ways of scansOf.
func (v *damagedFile) scans() {
	table := row.Table(v.random.IntN(int(row.TableCount)))
	var rows []storedRow
	for _, one := range v.rows {
		if one.table == table {
			rows = append(rows, one)
		}
	}
	_, silent := v.scan(scansOf(table, rows, v.random))
	v.missed += len(silent)
	if v.exact && len(silent) > 0 {
		v.Errorf("%s: read silently and wrongly: %v", v.what, silent)
	}
}

// A storedRow is a row of the file before it was damaged.
type storedRow struct {
	table        row.Table
	key, payload []byte
}

func storedRows(t *testing.T, db *DB) (list []storedRow) {
	t.Helper()
	err := db.View(func(tx *Tx) error {
		for t := range row.TableCount {
			err := tx.k.File.Each(t, nil, func(key, payload []byte) (bool, error) {
				if row.Counted(t, key) {
					list = append(list, storedRow{t, bytes.Clone(key), bytes.Clone(payload)})
				}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// write places a job in a file in which check finds something. If that succeeds, the damage is
// not in anything that the verb has read. It must still be found, unless it was in pages that
// are no longer in use.
func (v *damagedFile) write(db *DB, inPlace bool) {
	sum, err := os.ReadFile(v.path)
	if err != nil {
		v.Fatal(err)
	}
	err = db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: 1000e9})
		return err
	})
	v.named("write", err)
	if now, other := os.ReadFile(v.path); err != nil && (other != nil || string(now) != string(sum)) && inPlace &&
		!v.warned {
		v.Errorf("%s: %v, and the file has changed", v.what, err)
	}
}

// named verifies that an error says what it is.
func (v *damagedFile) named(what string, err error) {
	if err == nil {
		return
	}
	for _, is := range []error{ErrDamaged, ErrNotOurs, ErrNewer, ErrNotFound, ErrConflict, ErrClock, placer.ErrNotNow,
		placer.ErrNever} {
		if errors.Is(err, is) {
			return
		}
	}
	v.Errorf("%s: %s: %v", v.what, what, err)
}

// mostAllocated is the most memory that reading and checking a small file may take.
const mostAllocated = 64 << 20

// measure reads and checks a copy of the file, which must not take too much memory. The runtime counts
// the memory of all tests that run at the moment, so the least of several times counts.
func (v *damagedFile) measure() {
	bad, err := os.ReadFile(v.path)
	if err != nil {
		v.Fatal(err)
	}
	again, least := writeDamaged(v.T, v.what, bad, v.clock), uint64(math.MaxUint64)
	for range 10 {
		before := allocated()
		if db, err := Open(again.path, &Options{Now: v.clock.now, Warn: func(string) {}}); err == nil {
			dump(db)                  //nolint:errcheck // it was read before
			db.Check(func(string) {}) //nolint:errcheck // it was checked before
			db.Close()
		}
		least = min(least, allocated()-before)
	}
	if least > mostAllocated {
		v.Errorf("%s: reading and checking took %d MB", v.what, least>>20)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestDamagedRows changes a row of each table, with a right checksum, in a commit that claims
// to be the last one: the sums show it.
func TestDamagedRows(t *testing.T) {
	seed := damageSeed()
	random := rand.New(rand.NewPCG(seed, 3))
	for table := range row.TableCount {
		db, _ := lively(t)
		if changed, err := changeUncounted(db.Path(), table, random); err != nil {
			t.Fatal(err)
		} else if !changed {
			continue
		}
		if list := findings(t, db); len(list) == 0 {
			t.Errorf("seed %d: a row of %s was changed, and check finds nothing", seed, table)
		}
		_, err := dump(db)
		renamed := table == row.Meta && errors.Is(err, ErrConflict) // the row that names the database
		if !errors.Is(err, ErrDamaged) && !renamed {
			t.Errorf("seed %d: a row of %s was changed, and reading it all says %v", seed, table, err)
		}
	}
}

// changeUncounted changes a row of a table without the store. There may be none.
func changeUncounted(path string, table row.Table, random *rand.Rand) (changed bool, err error) {
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		return false, err
	}
	defer b.Close()
	err = b.Update(func(tx *bbolt.Tx) error {
		var keys [][]byte
		bucket := tx.Bucket([]byte(table.String()))
		if err := bucket.ForEach(func(k, _ []byte) error {
			if row.Counted(table, k) {
				keys = append(keys, bytes.Clone(k))
			}
			return nil
		}); err != nil || len(keys) == 0 {
			return err
		}
		key := keys[random.IntN(len(keys))]
		value := bytes.Clone(bucket.Get(key))
		payload := value[:len(value)-4]
		payload[random.IntN(len(payload))] ^= 1 << random.IntN(8)
		changed = true
		if err := bucket.Put(key, row.Seal(key, payload)); err != nil {
			return err
		}
		var sums row.Sums
		meta := tx.Bucket([]byte(row.Meta.String()))
		stored, err := row.Unseal(row.Meta, row.KeySums, meta.Get(row.KeySums))
		if err == nil {
			err = row.SumsRow.Read(&sums, row.KeySums, stored)
		}
		if err != nil {
			return err
		}
		sums.Transaction = uint64(tx.ID())
		return meta.Put(row.KeySums, row.Seal(row.KeySums, row.SumsRow.Encode(&sums)))
	})
	return changed, err
}

// TestStaleMeta replaces a meta page by what it was some commits ago. Readers take the other
// one; check reports it.
func TestStaleMeta(t *testing.T) {
	for slot := range 2 {
		db, _ := lively(t)
		old := content(t, db)
		for i := range 5 {
			if err := db.Update(func(tx *Tx) error {
				return tx.Config().Set("default_walltime", strconv.Itoa(60+i))
			}); err != nil {
				t.Fatal(err)
			}
		}
		bad := content(t, db)
		copy(pageOf(bad, slot), pageOf(old, slot))
		if err := os.WriteFile(db.Path(), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if list := findings(t, db); len(list) == 0 {
			t.Errorf("meta page %d is of five commits ago, and check finds nothing", slot)
		}
	}
}
