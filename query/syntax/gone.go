package syntax

// gone says what to write instead of SQLite's words and functions that are refused. Functions are in lower
// case.
var gone = map[string]string{
	"->":           noReading,
	"->>":          noReading,
	"json_each":    noReading,
	"json_extract": noReading,
	"json_tree":    noReading,

	"a row of values":                "compare them one by one, with AND and OR, or look for a row with EXISTS",
	"a table or join in parentheses": "leave the parentheses away, or write (SELECT ... FROM ... JOIN ...)",
	"FULL":                           "write ... LEFT JOIN ... UNION ALL SELECT ... WHERE NOT EXISTS (a partner)",
	"INDEXED":                        "the tables know what helps; EXPLAIN shows it",
	"MATERIALIZED":                   "queries of WITH that are used twice are kept",
	"NATURAL":                        "name the columns: JOIN ... USING (...)",
	"RIGHT":                          "exchange the tables, and write LEFT JOIN",

	"COLLATE":               "compare and sort by lower(x), or by rtrim(x)",
	"EXCLUDE":               "subtract the row's own value, or that of its peers, from the whole frame's",
	"GROUPS":                "count with dense_rank(), and join the query with itself by these numbers",
	"RANGE with a distance": "join the table with itself ON b.x BETWEEN a.x - 9 AND a.x, and group by the row",
	"nth_value":             "number the rows with row_number() in a subquery, and select that one",
	"ntile":                 "write 1 + (row_number() OVER w - 1) * n / count(*) OVER (PARTITION BY ...)",

	"WITHIN":      "write percentile_cont(x, 0.5)",
	"quantile":    "write percentile_cont(x, 0.5)",
	"quantiles":   "write percentile_cont(x, 0.5), and again for each",
	"stddev_samp": "write stddev(x)",
	"var_samp":    "write variance(x)",
}

const noReading = "queries write JSON and do not read it; use the columns of the tables"

// Instead returns what to write instead of a word or function of SQLite; "" if there is nothing to say.
func Instead(word string) string { return gone[word] }

func (p *parser) refuse(pos int, word string) {
	p.fail(pos, "%s is not supported: %s", word, gone[word])
}

// refused refuses the current token if it is this word.
func (p *parser) refused(word string) {
	if p.tok.is(word) {
		p.refuse(p.tok.pos, word)
	}
}
