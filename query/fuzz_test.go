package query

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// seeds are statements of every kind.
func seeds() []string {
	return []string{
		"SELECT DISTINCT a, t.b AS x, * FROM t AS q JOIN u ON t.a = u.a LEFT JOIN t z USING (a) WHERE NOT a IN (1, " +
			"'x') AND b LIKE 'a%' ESCAPE '!' ORDER BY 1 DESC NULLS LAST LIMIT 1 OFFSET 2",
		"SELECT CASE a WHEN 1 THEN 2 ELSE -3 END, CAST(b AS REAL), EXISTS (SELECT 1), (SELECT max(a) FROM u), " +
			"count(*) FILTER (WHERE a > 1) FROM (SELECT 1 AS a) s GROUP BY a HAVING count(*) > 1",
		"EXPLAIN ANALYZE SELECT ?1, :n, @x FROM t AT 'now+2h' WHERE a BETWEEN 1 AND 2 AND b NOT GLOB '[a-z]*' AND a " +
			"IS NOT NULL",
		"SELECT printf('%5.2f|%s', 1.5, 'x'), strftime('%Y', 'now', '+1 month'), a || b FROM t",
		"SELECT 1; SELECT 2 -- x",
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3 ORDER BY 1 LIMIT 9), d AS " +
			"(VALUES (1, 2), (3, 4)) SELECT * FROM c LEFT JOIN (SELECT d.* FROM d JOIN u ON 1) EXCEPT SELECT 1, 2, 3 " +
			"ORDER BY 1",
		"SELECT rank() OVER w, lag(a, 1, 0) OVER (PARTITION BY b ORDER BY a DESC NULLS LAST ROWS BETWEEN 1 PRECEDING " +
			"AND UNBOUNDED FOLLOWING), sum(size) FILTER (WHERE a > 1) OVER (w RANGE UNBOUNDED PRECEDING) " +
			"FROM t WINDOW w AS (ORDER BY size)",
		"SELECT a IN (SELECT a FROM u), group_concat(b, '-' ORDER BY a), " +
			"percentile_cont(a, 0.5), json('{\"a\":[1]}'), b REGEXP '^o' FROM t",
		"SELECT s.value, json_object('a', t.a) FROM t JOIN generate_series(1, t.a, 2) AS s WHERE t.a IN u",
		"CREATE TEMP VIEW IF NOT EXISTS v(x) AS SELECT 1; DROP VIEW IF EXISTS v",
		"SELECT CAST(1 AS DECIMAL(10, 2)), median(a) FROM t GROUP BY b", "SELECT \"a b\", [c], `d` FROM t;",
	}
}

// FuzzParse: what is accepted is written so that it parses to the same tree.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		Complete(text)
		if err != nil {
			if !errors.Is(err, fault.ErrQuery) && !errors.Is(err, fault.ErrLimit) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, s := range list {
			written := s.String()
			again, err := Parse(written)
			if errors.Is(err, fault.ErrLimit) || err != nil && strings.Contains(err.Error(), "nested") {
				continue // parentheses that it did not need
			}
			if err != nil || len(again) != 1 || again[0].String() != written {
				t.Fatalf("%q is written as %q, which is %v, %v", text, written, again, err)
			}
		}
	})
}

// FuzzExecute: every query ends, with rows or an error.
func FuzzExecute(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range list {
			opt := Options{Limits: Limits{Rows: 2000, Bytes: 1 << 22}, Context: context.Background(),
				Now:   func() int64 { return 1_700_000_000 },
				Args:  []values.Value{values.Int(1), values.String("x"), {}},
				Named: map[string]values.Value{"n": values.Int(3)}}
			var answers [][]string
			for _, c := range []testCatalog{smallCatalog(), smallCatalog()} {
				opt.NoIndex = len(answers) == 1
				st, err := Prepare(c, text, s, opt)
				if err != nil {
					return
				}
				var out []string
				for row, err := range st.Rows() {
					if err != nil {
						return
					}
					line := ""
					for _, v := range row {
						line += v.Literal() + "|"
					}
					out = append(out, line)
				}
				answers = append(answers, out)
			}
			if !s.Explain && len(s.Select.OrderBy) == 0 && s.Select.Limit == nil && len(answers[0]) != len(
				answers[1]) && !strings.Contains(strings.ToUpper(text), "LIMIT") {
				t.Fatalf("%q: %q with indexes, %q without", text, answers[0], answers[1])
			}
		}
	})
}
