package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// testCatalog has a few tables in memory.
type testCatalog map[string]tables.Table

func (c testCatalog) Table(name string, _ values.Value) (tables.Table, error) {
	if t, ok := c[name]; ok {
		return t, nil
	}
	return nil, nil
}

func (c testCatalog) Function(string, int) (tables.Function, error) { return nil, nil }

func (c testCatalog) Names() (names []string) {
	for name := range c {
		names = append(names, name)
	}
	return names
}

func (c testCatalog) Literal(u tables.Unit, text string) (values.Value, error) {
	var n int64
	var unit string
	if _, err := fmt.Sscanf(text, "%d%s", &n, &unit); err != nil {
		return values.Value{}, fmt.Errorf("%q is no %s", text, u)
	}
	switch unit {
	case "k":
		n *= 1024
	case "h":
		n *= 3600
	default:
		return values.Value{}, fmt.Errorf("%q is no %s", text, u)
	}
	return values.Int(n), nil
}

func smallCatalog() testCatalog {
	t := &tables.IndexedMemory{Memory: tables.Memory{
		Cols: []tables.Column{{Name: "a", Type: values.IntegerAffinity}, {Name: "b", Type: values.TextAffinity},
			{Name: "size", Type: values.IntegerAffinity, Unit: tables.Bytes}},
		Rows: [][]values.Value{{values.Int(1), values.String("one"), values.Int(1024)},
			{values.Int(2), values.String("two"), values.Int(4096)}, {values.Int(3), {}, {}},
			{{}, values.String("none"), values.Int(0)}},
	}, By: map[int]bool{0: true, 1: true}}
	return testCatalog{"t": t, "u": &tables.Memory{Cols: t.Cols, Rows: t.Rows}}
}

func runAll(t *testing.T, c tables.Catalog, text string, opt Options) ([]string, error) {
	t.Helper()
	list, err := Parse(text)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range list {
		st, err := Prepare(c, text, s, opt)
		if err != nil {
			return nil, err
		}
		for row, err := range st.Rows() {
			if err != nil {
				return nil, err
			}
			line := ""
			for i, v := range row {
				if i > 0 {
					line += "|"
				}
				line += v.Literal()
			}
			out = append(out, line)
		}
	}
	return out, nil
}

func TestSmall(t *testing.T) {
	for _, text := range []string{
		"SELECT 1+1, 'x'||2, 7/2, 7/2.0, NULL+1, 1e20, 0.1+0.2, -9223372036854775808, 9223372036854775807+1",
		"SELECT a, b FROM t WHERE a > 1 OR b = 'one' ORDER BY a DESC",
		"SELECT count(*) FROM t WHERE NOT (a = 1) AND b IS NOT NULL",
		"SELECT t.a, u.b FROM t JOIN u ON t.a = u.a ORDER BY 1",
		"SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a AND u.a > 1 ORDER BY 1",
		"SELECT sum(a), avg(a), total(a), min(b), max(b), group_concat(b) FROM t",
		"SELECT a IN (SELECT a FROM u), EXISTS (SELECT 1 FROM u WHERE u.a > t.a), (SELECT max(u.a) FROM u WHERE u.a " +
			"< t.a) FROM t",
		"SELECT size FROM t WHERE size >= '1k'",
		"SELECT size, count(*) FROM t GROUP BY size HAVING count(*) > 0 ORDER BY size LIMIT 2 OFFSET 1",
		"EXPLAIN SELECT count(*) FROM t WHERE a > 1 OR b = 'one'",
		"EXPLAIN ANALYZE SELECT t.a, count(*) FROM t JOIN u USING (a) WHERE u.size > 3 GROUP BY t.a ORDER BY 2 LIMIT 1",
		"SELECT * FROM t JOIN u USING (a)",
		"SELECT date('2024-01-31','+1 month'), strftime('%Y %j %W','2024-02-29'), unixepoch('2024-01-01'), " +
			"printf('%05d|%-5s|%.2f|%,d', 42,'a',1.005, 1234567), round(2.5), round(-1.25,1)",
		"SELECT x FROM t", "SELECT bb FROM t", "SELECT a FROM t WHERE size > '1z'", "SELEC 1",
		"SELECT a FROM t GROUP BY b",
	} {
		out, err := runAll(t, smallCatalog(), text, Options{})
		t.Logf("%s\n   %q %v", text, out, err)
	}
}

// TestViewsAsTables: a view can be used as a table, with its own column names, and its errors
// are reported where it is used.
func TestViewsAsTables(t *testing.T) {
	view := func(text string) *syntax.View {
		list, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].View
	}
	opt := Options{Views: map[string]*syntax.View{"v": view("CREATE VIEW v(x, n) AS SELECT b, size FROM t WHERE a > 0"),
		"w":   view("CREATE VIEW w AS SELECT max(x) AS m FROM v"),
		"bad": view("CREATE VIEW bad AS SELECT nosuch FROM t"), "loop": view("CREATE VIEW loop AS SELECT * FROM loop")}}
	for text, want := range map[string]string{
		"SELECT x FROM v WHERE n = '1k'": "'one'", "SELECT m FROM w": "'two'",
		"SELECT count(*) FROM v x JOIN V y ON x.x = y.x": "2",
		"SELECT * FROM bad":        "line 1, column 15: view bad: no column \"nosuch\" in t",
		"SELECT * FROM v AT 'now'": "line 1, column 20: \"now\" is no time",
	} {
		rows, err := runAll(t, smallCatalog(), text, opt)
		got := strings.Join(rows, "\n")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if _, err := runAll(t, smallCatalog(), "SELECT * FROM loop", opt); err == nil ||
		!strings.Contains(err.Error(), "explained by itself") {
		t.Errorf("a view of itself: %v", err)
	}
}

// TestPlaces: errors that occur while rows are read have a position in the statement, too.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1 + abs(-9223372036854775807 - " +
			"1)": "line 1, column 12: integer overflow",
		"SELECT 1,\n sum(9223372036854775807) FROM " +
			"t": "line 2, column 2: integer overflow",
		"SELECT a, sum(9223372036854775807) OVER () FROM " +
			"t": "line 1, column 11: integer overflow",
		"SELECT lower(abs(-9223372036854775807 - a)) FROM t": "line 1, column 14: integer overflow",
		"SELECT 2, json('x') FROM t":                         "line 1, column 11: malformed JSON: 'x'",
		"SELECT percentile(a, 200) FROM t": "line 1, column 8: the second argument of percentile is the same " +
			"number for all rows, from 0 to 100",
		"SELECT in_nodelist(b, 'n[') FROM " +
			"t": "line 1, column 8: bad node list: the '[' at character 2 of \"n[\" is not closed",
		"SELECT row_number() FROM t": "line 1, column 8: row_number is a window function: write row_number(...) " +
			"OVER (ORDER BY ...)",
		"SELECT generate_series(1, " +
			"2)": "line 1, column 8: generate_series makes a table: write FROM generate_series(...)",
		"SELECT * FORM t": "line 1, column 10: expected ;, not \"FORM\"; did you mean FROM?",
		"SELECT a FROM (SELECT abs(a - 9223372036854775807 - 3) AS a FROM t) WHERE a > " +
			"0": "line 1, column 23: integer overflow",
	} {
		if _, err := runAll(t, smallCatalog(), text, Options{}); err == nil || err.Error() != want ||
			!errors.Is(err, fault.ErrQuery) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestGone: what SQLite has and queries do not is refused with its name, and what does the same.
func TestGone(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT '{}' -> 'a'":                 "->: queries write JSON",
		"SELECT '{}' ->> 'a'":                "->>: queries write JSON",
		"SELECT json_extract('{}', '$')":     "json_extract: queries write JSON",
		"SELECT value FROM json_each('[1]')": "json_each: queries write JSON",
		"SELECT 1 IN json_tree('[1]')":       "json_tree: queries write JSON",

		"SELECT 1 FROM t NATURAL JOIN u":                        "NATURAL: name the columns",
		"SELECT 1 FROM t RIGHT OUTER JOIN u ON 1":               "RIGHT: exchange the tables",
		"SELECT 1 FROM t FULL JOIN u USING (a)":                 "FULL: write ... LEFT JOIN",
		"SELECT 1 FROM (t JOIN u)":                              "a table or join in parentheses: leave",
		"SELECT 1 FROM t INDEXED BY x":                          "INDEXED: the tables know",
		"WITH x AS MATERIALIZED (SELECT 1) SELECT 1 FROM x":     "MATERIALIZED: queries of WITH",
		"WITH x AS NOT MATERIALIZED (SELECT 1) SELECT 1 FROM x": "MATERIALIZED: queries of WITH",

		"SELECT (a, 1) = (1, 1) FROM t":                   "a row of values: compare",
		"SELECT a FROM t WHERE (a, b) IN (VALUES (1, 2))": "a row of values: compare",

		"SELECT b COLLATE NOCASE FROM t":           "COLLATE: compare and sort by lower(x)",
		"SELECT b FROM t ORDER BY b COLLATE RTRIM": "COLLATE: compare and sort by lower(x)",

		"SELECT quantile(a, 0.5) FROM t":                               "quantile: write percentile_cont",
		"SELECT quantiles(a, 0, 1) FROM t":                             "quantiles: write percentile_cont",
		"SELECT stddev_samp(a), 1 FROM t":                              "stddev_samp: write stddev",
		"SELECT var_samp(a) OVER () FROM t":                            "var_samp: write variance",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t": "WITHIN: write percentile_cont",

		"SELECT nth_value(a, 2) OVER (ORDER BY a) FROM t":                         "nth_value: number the rows",
		"SELECT ntile(4) OVER (ORDER BY a) FROM t":                                "ntile: write 1 + (row_number()",
		"SELECT ntile(4) FROM t":                                                  "ntile: write 1 + (row_number()",
		"SELECT sum(a) OVER (ORDER BY a GROUPS 1 PRECEDING) FROM t":               "GROUPS: count with dense_rank()",
		"SELECT sum(a) OVER (ORDER BY a ROWS CURRENT ROW EXCLUDE TIES)":           "EXCLUDE: subtract the row's own",
		"SELECT sum(a) OVER (ORDER BY a RANGE 1 PRECEDING) FROM t":                "RANGE with a distance: join",
		"SELECT 1 FROM t WINDOW w AS (RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)": "RANGE with a distance: join",
	} {
		words, hint, _ := strings.Cut(want, ": ")
		if _, err := runAll(t, smallCatalog(), text, Options{}); err == nil || !errors.Is(err, fault.ErrQuery) ||
			!strings.Contains(err.Error(), words+" is not supported: "+hint) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestHexLiterals: the smallest integer has no hexadecimal form with a sign, as in SQLite,
// which says "hex literal too big".
func TestHexLiterals(t *testing.T) {
	for _, text := range []string{"SELECT -0x8000000000000000", "SELECT 1 - -(0x8000000000000000)",
		"SELECT 0x10000000000000000"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Parse("SELECT 0x8000000000000000 - 0x8000000000000000, -0x7fffffffffffffff"); err != nil {
		t.Error(err)
	}
}
