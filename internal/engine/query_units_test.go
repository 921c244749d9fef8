package engine

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	views "github.com/placectl/placectl/internal/tables"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// unitCase is an expression about one row, and its value, or a part of the error.
type unitCase struct{ text, want string }

// The row has t = 2026-11-21 02:00:00 UTC, d = two hours, s = 64 GiB, n = 3 and w = '2h';
// now is a day later. L is what the clocks of the zone show at t.
var unitCases = []unitCase{
	// comparisons, either side, every kind of literal
	{"t > 'now-2d'", "1"}, {"'now-2d' < t", "1"}, {"t = '2026-11-21T02:00:00Z'", "1"}, {"t = 'L'", "1"},
	{"'L' IS t", "1"}, {"t IS NOT 'L'", "0"},
	{"t = '1795226400'", "1"}, {"t = 1795226400", "1"}, {"t IN ('now', 'L')", "1"}, {"'L' IN (t, 'now')", "1"},
	{"t BETWEEN 'L' AND 'now'", "1"},
	{"'L' BETWEEN t AND t", "1"}, {"CASE t WHEN 'L' THEN 7 END", "7"}, {"CASE 'L' WHEN t THEN 7 END", "7"},
	{"t > 'soon'", "not a time"}, {"t IN ('soon')", "not a time"},
	{"d = '2h'", "1"}, {"'2h' = d", "1"}, {"d = '7200'", "1"}, {"d + 0 = '7200'", "1"}, {"d > 'x'", "not a duration"},
	{"d < t", "a time"}, {"d = s", "a size"},
	{"s = '64GiB'", "1"}, {"s > '100gb'", "0"}, {"s = d", "a duration"}, {"s > 'big'", "line 1"}, {"d > w", "0"},
	{"d = w", "1"}, {"w = d", "1"}, {"d = w || 'x'", "not a duration"},
	{"a > '60GiB'", "1"}, {"a = 68719476736", "1"}, {"'70GiB' > a", "1"},
	// sums
	{"t > 'now' - '2d'", "1"}, {"t < 'now' - '2d'", "0"}, {"t + '1h' > 'now'", "0"}, {"'1h' + t > 'now'", "0"},
	{"'now' - t > '23h'", "1"}, {"'now' - t > '2d'", "0"},
	{"t - 'L' = 0", "1"}, {"t - '2h' = t - d", "1"}, {"t - d + '2h' = t", "1"}, {"t + t", "means nothing"},
	{"t + s", "means nothing"}, {"t - s", "means nothing"},
	{"d - t", "means nothing"}, {"t * 2", "means nothing"}, {"t / 3600", "date_trunc"}, {"d * d", "means nothing"},
	{"d * 2 = '4h'", "1"}, {"2 * d = '4h'", "1"}, {"d / 2 = '1h'", "1"},
	{"d / '1h'", "2.0"}, {"d / d", "1.0"}, {"s / '1GiB'", "64.0"}, {"s / '100GiB'", "0.64"},
	{"s / '128GiB' > 0.4", "1"}, {"('now' - t) / d", "12.0"},
	// a division that converts gives a plain number; all others keep the unit
	{"d / 3600", "2.0"}, {"d / 86400.0", "0.08333333333333333"}, {"d / (60)", "120.0"}, {"d / 604800 < 1", "1"},
	{"sum(d) / 3600", "2.0"}, {"round(avg(d / 60), 1)", "120.0"}, {"sum(n * d) / 3600", "6.0"},
	{"s / 1024 = 67108864", "1"}, {"s / 1073741824.0", "64.0"}, {"s / 1e9", "68.719476736"},
	{"s / 1000 = 68719476.736", "1"}, {"d / 3601 = '1s'", "1"}, {"d / 7 = '1028s'", "1"}, {"d / 1000 = '7s'", "1"},
	{"s / 10 = '6871947673'", "1"}, {"s / 3600 = 19088743", "1"}, {"d / n / 60", "40.0"}, {"d / (30 * 2) = '2m'", "1"},
	{"sum(d) / count(*) = '2h'", "1"}, {"d / 60 = '2h'", "0"},
	{"CAST(d AS INTEGER) = '2h'", "0"}, {"CAST(d AS REAL)", "7200.0"}, {"CAST(t AS INTEGER)", "1795226400"},
	{"unixepoch(t)", "1795226400"}, {"unixepoch(t) - unixepoch('now')", "-86400"}, {"d * 'x'", "no number"},
	{"d / 'x'", "not a duration"}, {"d * n = '6h'", "1"}, {"d + s", "means nothing"},
	{"d + '30m' = '2h30m'", "1"}, {"d > '1h' + '1h'", "0"}, {"d >= '1h' + '1h'", "1"}, {"d > '1h' * 3", "taken|take"},
	{"d % '1h'", "0"}, {"s - '1GiB' = '63GiB'", "1"}, {"s & 1", "means nothing"},
	{"-d = '-2h'", "1"}, {"-t", "means nothing"}, {"~s", "means nothing"}, {"d || 'x'", "CAST"},
	{"t || ''", "datetime"}, {"t - t % '1d' = '2026-11-21T00:00:00Z'", "1"},
	// functions
	{"iif(n = 3, t, 'now') > 'now-2d'", "1"}, {"iif(n, d, '5h') = '2h'", "1"}, {"round(t - 'L') < '2h'", "1"},
	{"abs(d) = '2h'", "1"}, {"coalesce(NULL, d, '1h') = '2h'", "1"},
	{"coalesce(d, 'none')", "not a duration"}, {"ifnull(NULL, t) = 'L'", "1"}, {"nullif(d, '2h') IS NULL", "1"},
	{"max(d, '3h') = '3h'", "1"}, {"min(t, 'now') = t", "1"},
	{"min(d, t)", "a time"}, {"CASE WHEN n = 3 THEN d ELSE '1h' END = '2h'", "1"},
	{"CASE WHEN n THEN d ELSE t END", "a duration|a time"}, {"length(t)", "datetime"},
	{"substr(t, 1, 10) = '2026-11-21'", "datetime"}, {"t LIKE '2026-11-2%'", "datetime"}, {"d GLOB '7*'", "CAST"},
	{"upper(s)", "CAST"}, {"replace(d, '7', '')", "CAST"}, {"CAST(d AS TEXT)", "'7200'"},
	// dates
	{"date(t)", "'2026-11-21'"}, {"datetime(t)", "'2026-11-21 02:00:00'"}, {"time(t)", "'02:00:00'"},
	{"strftime('%Y', t)", "'2026'"}, {"unixepoch(t) = t", "1"},
	{"datetime(t, 'unixepoch')", "'2026-11-21 02:00:00'"}, {"datetime(t, 'auto')", "'2026-11-21 02:00:00'"},
	{"date(t, '+1 day')", "'2026-11-22'"}, {"datetime(t, 'localtime') || ''", "'L'"},
	{"datetime(t, 'localtime', 'utc')", "'2026-11-21 02:00:00'"}, {"datetime(t) = t", "1"},
	{"t >= datetime('now', '-1 day')", "1"}, {"t > datetime('now', '-1 day')", "0"},
	{"t = (SELECT datetime('now', '-1 day'))", "1"}, {"t IN (SELECT datetime('now', '-1 day'))", "1"},
	{"datetime(t) = '2026-11-21 02:00'", "1"}, {"date(t) = '2026-11-21'", "1"},
	{"date(t) = date('now', '-1 day')", "1"}, {"date(t) < 'now'", "1"}, {"t - datetime('now', '-1 day') = 0", "1"},
	{"date(t) + 1", "leave the function away"}, {"date(d)", "takes a time"},
	// subqueries
	{"d = (SELECT '2h')", "1"}, {"d = (SELECT w)", "1"}, {"(SELECT '3h') > d", "1"}, {"d IN (SELECT '2h')", "1"},
	{"'2h' IN (SELECT d)", "1"}, {"d > (SELECT 'x')", "not a duration"},
	{"d > (SELECT '1h' + 1)", "taken|take"}, {"t > (SELECT max('L'))", "0"},
	// vocabularies
	{"(SELECT count(*) FROM jobs WHERE state = 'runing')", "did you mean 'running'"},
	{"(SELECT count(*) FROM jobs WHERE state IN ('held', 'Queued'))", "did you mean 'queued'"},
	{"(SELECT count(*) FROM nodes WHERE state <> 'up')", "one of free"},
	{"(SELECT count(*) FROM events WHERE event = 'finish')", "is never"},
	{"(SELECT count(*) FROM (SELECT state AS x FROM jobs) WHERE x = 'done')", "is never"},
	{"(SELECT CASE state WHEN 'gone' THEN 1 END FROM jobs)", "is never"},
}

// TestUnits: what is combined with a column of a unit is read in that unit or refused, in any
// time zone.
func TestUnits(t *testing.T) {
	at := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	db, c := newDB(t)
	c.t = at.Unix() + 86400
	for _, name := range []string{"UTC", "America/New_York", "Asia/Tokyo"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip(err)
		}
		local := at.In(zone).Format("2006-01-02 15:04:05")
		for _, u := range unitCases {
			text := strings.ReplaceAll(u.text, "'L'", "'"+local+"'")
			got := askIn(db, zone, c, "SELECT "+text+" FROM one")
			if want := strings.ReplaceAll(u.want, "'L'", "'"+local+"'"); !fits(got, want) {
				t.Errorf("%s: %s\n got %s\nwant %s", name, text, got, want)
			}
		}
	}
}

// fits compares with a value, or searches for one of the parts of an error.
func fits(got, want string) bool {
	if !strings.HasPrefix(got, "error: ") {
		return got == want
	}
	return strings.Contains(got, "line 1, column") && slices.ContainsFunc(strings.Split(want, "|"),
		func(part string) bool { return len(part) > 3 && strings.Contains(got, part) })
}

// unitCatalog has the tables of a store, and one of one row.
type unitCatalog struct{ tables.Catalog }

func (c unitCatalog) Table(name string, at values.Value) (tables.Table, error) {
	if name != "one" {
		return c.Catalog.Table(name, at)
	}
	column := func(name string, a values.Affinity, u tables.Unit) tables.Column {
		return tables.Column{Name: name, Type: a, Unit: u}
	}
	return &tables.Memory{Cols: []tables.Column{column("t", values.IntegerAffinity, tables.Time),
		column("d", values.IntegerAffinity, tables.Duration),
		column("s", values.IntegerAffinity, tables.Bytes), column("n", values.IntegerAffinity, tables.NoUnit),
		column("w", values.TextAffinity, tables.NoUnit), column("a", values.NumericAffinity, tables.Amount)},
		Rows: [][]values.Value{{values.Int(1795226400), values.Int(7200), values.Int(64 << 30), values.Int(3),
			values.String("2h"), values.Int(64 << 30)}}}, nil
}

func askIn(db *DB, zone *time.Location, c *clock, text string) string {
	list, err := query.Parse(text)
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	err = db.View(func(tx *Tx) error {
		catalog := unitCatalog{tx.catalog(zone)}
		s, err := query.Prepare(catalog, text, list[0],
			query.Options{Ahead: aheadIn(zone), Now: func() int64 { return c.t }, Context: context.Background()})
		if err != nil {
			return err
		}
		for row, err := range s.Rows() {
			if err != nil {
				return err
			}
			out = append(out, row[0].Literal())
		}
		return nil
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(out, "\n")
}

// TestEventWords: queries may compare events with exactly the words that events have.
func TestEventWords(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`Event: +"([a-z]+)"`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range said.FindAllStringSubmatch(string(data), -1) {
			if !slices.Contains(views.EventWords, m[1]) {
				t.Errorf("%s: events are called %s, which the words of events lack", file, m[1])
			}
		}
	}
	for _, word := range kernel.JobEvents {
		if !slices.Contains(views.EventWords, word) {
			t.Errorf("events are called %s, which the words of events lack", word)
		}
	}
}
