package query

import "strings"

// reserved words cannot be names unless they are quoted.
var reserved = set(`ADD ALL ALTER AND AS BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE
	DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT
	NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION
	UNION UNIQUE UPDATE USING VALUES WHEN WHERE CROSS FULL INNER LEFT NATURAL OUTER RIGHT`)

// softWords are keywords that may be names, but are better quoted when written back.
var softWords = set(`AT ASC BEGIN BY CAST DESC END EXPLAIN ANALYZE FILTER FIRST GLOB LAST LIKE MATCH NULLS OFFSET OVER REGEXP WITH TRUE FALSE
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP WINDOW PARTITION INDEXED`)

// Keywords lists the words of the dialect, for completion.
func Keywords() []string {
	return strings.Fields(`ALL ANALYZE AND AS ASC AT BETWEEN BY CASE CAST COLLATE CROSS DESC DISTINCT ELSE END ESCAPE EXISTS EXPLAIN
		FALSE FILTER FIRST FROM GLOB GROUP HAVING IN INNER IS JOIN LAST LEFT LIKE LIMIT NOT NULL NULLS OFFSET ON OR ORDER SELECT
		THEN TRUE USING WHEN WHERE`)
}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// later names what is refused because it is not there yet, or never will be.
var later = map[string]string{
	"UNION": "UNION is not supported yet", "INTERSECT": "INTERSECT is not supported yet", "EXCEPT": "EXCEPT is not supported yet",
	"WITH": "WITH is not supported yet; put the subquery into FROM", "OVER": "window functions are not supported yet",
	"WINDOW": "window functions are not supported yet", "NATURAL": "NATURAL JOIN is not supported; say USING (column)",
	"RIGHT": "RIGHT JOIN is not supported; turn the tables round and say LEFT JOIN", "FULL": "FULL JOIN is not supported",
	"INSERT": "a query changes nothing: use the other verbs", "UPDATE": "a query changes nothing: use the other verbs",
	"DELETE": "a query changes nothing: use the other verbs", "CREATE": "a query changes nothing", "DROP": "a query changes nothing",
	"ALTER": "a query changes nothing", "REPLACE": "a query changes nothing: use the other verbs", "VALUES": "VALUES is not supported; say SELECT",
	"ATTACH": "a query is about one database", "PRAGMA": "PRAGMA is not supported; see sys_tables and sys_columns",
	"BEGIN": "every query is a transaction of its own", "COMMIT": "every query is a transaction of its own",
}
