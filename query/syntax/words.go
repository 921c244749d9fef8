package syntax

import (
	"strings"
	"sync"
)

// reserved holds the words that cannot be names unless quoted.
var reserved = sync.OnceValue(func() map[string]bool {
	return set(`ADD ALL ALTER AND AS BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE
	DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT
	NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION
	UNION UNIQUE UPDATE USING VALUES WHEN WHERE CROSS FULL INNER LEFT NATURAL OUTER RIGHT`)
})

// softWords are keywords that can be names, but are quoted when written.
var softWords = sync.OnceValue(func() map[string]bool {
	return set(`AT ASC BEGIN BY CAST DESC END EXPLAIN ANALYZE FILTER FIRST GLOB LAST LIKE MATCH NULLS OFFSET OVER REGEXP WITH TRUE FALSE
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP WINDOW PARTITION INDEXED
	RECURSIVE MATERIALIZED RANGE ROWS GROUPS PRECEDING FOLLOWING UNBOUNDED CURRENT`)
})

// Keywords lists the words of the dialect, for completion.
func Keywords() []string {
	return strings.Fields(`ALL ANALYZE AND AS ASC AT BETWEEN BY CASE CAST CREATE CROSS DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS EXPLAIN
		FALSE FILTER FIRST FOLLOWING FROM GLOB GROUP HAVING IN INNER INTERSECT IS JOIN LAST LEFT LIKE LIMIT NOT NULL
		NULLS OFFSET ON OR ORDER OVER PARTITION PRECEDING RANGE RECURSIVE REGEXP ROWS SELECT THEN TRUE UNBOUNDED UNION USING
		VALUES VIEW WHEN WHERE WINDOW WITH`)
}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// later lists the words that are refused because they are not implemented yet, or never will
// be.
var later = map[string]string{
	"INSERT": "a query changes nothing: use the other verbs", "UPDATE": "a query changes nothing: use the other verbs",
	"DELETE": "a query changes nothing: use the other verbs", "CREATE": "a query changes nothing",
	"DROP":  "a query changes nothing",
	"ALTER": "a query changes nothing", "REPLACE": "a query changes nothing: use the other verbs",
	"ATTACH": "a query is about one database", "PRAGMA": "PRAGMA is not supported; see sys_tables and sys_columns",
	"BEGIN": "every query is a transaction of its own", "COMMIT": "every query is a transaction of its own",
}
