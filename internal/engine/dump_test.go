package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// dumped returns a dump of a database.
func dumped(t testing.TB, db *DB) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := db.Dump(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// loadedFrom loads a dump into a new database.
func loadedFrom(t testing.TB, dump string, clock *clock) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loaded.db")
	opt := &Options{Now: clock.now}
	if _, err := Load(path, strings.NewReader(dump), &LoadOptions{Options: *opt}); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestDump loads a dump, which gives the same database: its rows, and what is derived.
func TestDump(t *testing.T) {
	db, clock := lively(t)
	dump := dumped(t, db)
	rest := func(all string) string { // behind the row that tells the two apart; and what is counted begins again
		_, all, _ = strings.Cut(all, "\n")
		all = regexp.MustCompile("(?m)^meta "+hex.EncodeToString(row.KeyItself)+" .*\n").ReplaceAllString(all, "")
		return regexp.MustCompile("(?m)^tallies .*\n").ReplaceAllString(all, "")
	}
	if strings.Contains(dump, `"raw"`) {
		t.Error("rows are written as they are encoded:\n", dump)
	}
	again := loadedFrom(t, dump, clock)
	if diff := cmp.Diff(dump, dumped(t, again)); diff != "" {
		t.Errorf("(-dumped +loaded and dumped)\n%s", diff)
	}
	if diff := cmp.Diff(rest(dumpAll(t, db)), rest(dumpAll(t, again))); diff != "" {
		t.Errorf("(-then +loaded)\n%s", diff)
	}
	if list := findings(t, again); len(list) > 0 {
		t.Errorf("%q", list)
	}
}

// TestLoadMoved moves all instants of a dump, and back: the rows are unchanged, and sound in
// between.
func TestLoadMoved(t *testing.T) {
	db, clock := lively(t)
	dump := dumped(t, db)
	moved := func(dump string, by int64) (*DB, string) {
		path := filepath.Join(t.TempDir(), "moved.db")
		clock.t += by
		opt := &Options{Now: clock.now}
		if _, err := Load(path, strings.NewReader(dump),
			&LoadOptions{Options: *opt, Moved: time.Duration(by) * time.Second}); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		return db, dumped(t, db)
	}
	const by = 86400 + 11
	then, text := moved(dump, by)
	if list := findings(t, then); len(list) > 0 {
		t.Errorf("%q", list)
	}
	instants := regexp.MustCompile(`"(?:asOf|submit|start|end|time)":([0-9]+)`)
	before, after := instants.FindAllStringSubmatch(dump, -1), instants.FindAllStringSubmatch(text, -1)
	for i := range before {
		was, _ := strconv.ParseInt(before[i][1], 10, 64)
		is, _ := strconv.ParseInt(after[i][1], 10, 64)
		if is-was != by {
			t.Errorf("%s became %s", before[i][0], after[i][0])
		}
	}
	if len(before) < 20 {
		t.Errorf("%d instants", len(before))
	}
	if _, again := moved(text, -by); again != dump {
		t.Errorf("(-dumped +moved there and back)\n%s", cmp.Diff(dump, again))
	}
}

// TestLoadRefuses loads invalid dumps: each is refused with its line, and leaves no file.
func TestLoadRefuses(t *testing.T) {
	db, clock := lively(t)
	lines := strings.SplitAfter(dumped(t, db), "\n")
	lines = lines[:len(lines)-1]
	all := func(change func(l []string) []string) string {
		return strings.Join(change(append([]string(nil), lines...)), "")
	}
	at := func(i int, with string) string {
		return all(func(l []string) []string { l[i] = with; return l })
	}
	for name, c := range map[string]struct {
		dump string
		want error
		line int
	}{
		"empty":         {"", ErrInvalid, 1},
		"something":     {"name,ncpus\nn1,2\n", ErrInvalid, 1},
		"newer":         {at(0, `{"placectl":"dump","format":99}`+"\n"), ErrNewer, 0},
		"cut":           {strings.Join(lines[:10], ""), ErrInvalid, 11},
		"cut in a line": {strings.TrimSuffix(strings.Join(lines[:10], ""), "\n"), ErrInvalid, 10},
		"a row less": {strings.Join(append(append([]string(nil), lines[:9]...), lines[10:]...), ""), ErrInvalid,
			len(lines) - 1},
		"twice":         {at(10, lines[9]), ErrInvalid, 11},
		"no JSON":       {at(4, "nodes\n"), ErrInvalid, 5},
		"no such field": {at(4, `{"table":"nodes","key":4,"row":{"name":"x","colour":"red"}}`+"\n"), ErrInvalid, 5},
		"no such table": {at(4, `{"table":"noodles","key":4,"row":{"name":"x"}}`+"\n"), ErrInvalid, 5},
		"derived":       {at(4, `{"table":"node_names","key":"n1","raw":"AQAAAAA="}`+"\n"), ErrInvalid, 5},
		"no key":        {at(4, `{"table":"nodes","row":{"name":"x"}}`+"\n"), ErrInvalid, 5},
		"too wide":      {at(4, `{"table":"nodes","key":4294967296,"row":{"name":"x"}}`+"\n"), ErrInvalid, 5},
		"another key":   {at(4, `{"table":"nodes","key":77,"row":{"name":"x","number":3}}`+"\n"), ErrInvalid, 5},
		"raw and row":   {at(4, `{"table":"nodes","key":77,"row":{},"raw":"AA=="}`+"\n"), ErrInvalid, 5},
		"not to be had": {at(4, `{"table":"jobs","key":77,"raw":"AwUB"}`+"\n"), ErrDamaged, 5},
		"more":          {strings.Join(lines, "") + "{}\n", ErrInvalid, len(lines) + 1},
		"contradiction": {strings.Replace(strings.Join(lines, ""), `"name":"n1"`, `"name":"n0"`, 1), ErrDamaged, 0},
	} {
		path := filepath.Join(t.TempDir(), "new.db")
		_, err := Load(path, strings.NewReader(c.dump), &LoadOptions{Options: Options{Now: clock.now}})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
		var in *LineError
		if errors.As(err, &in); c.line > 0 && (in == nil || in.Line != c.line) {
			t.Errorf("%s: %v, not in line %d", name, err, c.line)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); left != nil {
			t.Errorf("%s: %q is left", name, left)
		}
	}
}

// TestLoadWithoutARow omits each row of a dump in turn. The dump is refused as damaged, or the
// database that it makes is sound, and stays so when jobs and batches come and go in it.
func TestLoadWithoutARow(t *testing.T) {
	db, clock := lively(t)
	lines := strings.SplitAfter(dumped(t, db), "\n")
	rows := lines[1 : len(lines)-2]
	end := fmt.Sprintf("{\"rows\":%d}\n", len(rows)-1)
	refused := 0
	for i, left := range rows {
		if testing.Short() && i%7 != 0 {
			continue
		}
		dump := lines[0] + strings.Join(rows[:i], "") + strings.Join(rows[i+1:], "") + end
		path := filepath.Join(t.TempDir(), "new.db")
		opt := &Options{Now: clock.now}
		switch _, err := Load(path, strings.NewReader(dump), &LoadOptions{Options: *opt}); {
		case errors.Is(err, ErrDamaged) || errors.Is(err, ErrInvalid):
			refused++
			continue
		case err != nil:
			t.Errorf("without %.100s: %v", left, err)
			continue
		}
		db, err := Open(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(tx *Tx) error{
			"cycle":  func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err },
			"submit": func(tx *Tx) error { _, err := tx.Jobs().Submit(Submission{}); return err },
		} {
			if err := db.Update(change); errors.Is(err, ErrDamaged) {
				t.Errorf("without %.100s: %s: %v", left, what, err)
			}
		}
		addBatch(t, db, "another", locality.Settings{Hosts: 4}, someJobs(20))
		if err := db.Check(func(f string) { t.Errorf("without %.100s: %s", left, f) }); err != nil {
			t.Errorf("without %.100s: %v", left, err)
		}
		db.Close()
	}
	t.Logf("%d rows, %d of them missed at once", len(rows), refused)
	if refused == 0 {
		t.Error("no row was missed")
	}
}
