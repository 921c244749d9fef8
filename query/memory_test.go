package query

import (
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/query/fault"
)

// TestMemoryLimit: what a statement keeps until it fails for its limit of bytes takes no more memory than that, garbage
// apart.
func TestMemoryLimit(t *testing.T) {
	const limit = 16 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	heap := func() uint64 {
		in := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(in)
		return in[0].Value.Uint64()
	}
	rows := strings.NewReplacer("FROM s", "FROM generate_series(1, 100000000)", "JOIN s",
		"JOIN generate_series(1, 100000000)")
	for _, sql := range []string{
		"SELECT value, count(*) FROM s GROUP BY value",
		"SELECT value, count(*), sum(value), max(value) FROM s GROUP BY value",
		"SELECT 't' || value, count(*) FROM s GROUP BY 't' || value",
		"SELECT value, count(*) FROM s GROUP BY value, value + 1",
		"SELECT value, count(*) FROM s GROUP BY value + 0.5",
		"SELECT value, value + 1 FROM s GROUP BY value",
		"SELECT count(DISTINCT value) FROM s",
		"SELECT count(DISTINCT 't' || value) FROM s",
		"SELECT value, count(DISTINCT value) FROM s GROUP BY value",
		"SELECT count(*) FROM (SELECT DISTINCT value FROM s)",
		"SELECT count(*) FROM (SELECT DISTINCT value, 't' || value FROM s)",
		"SELECT count(*) FROM (SELECT value FROM s UNION SELECT value + 1 FROM s)",
		"SELECT count(*) FROM (SELECT value FROM s EXCEPT SELECT value + 1 FROM s)",
		"SELECT value FROM s ORDER BY -value",
		"SELECT 't' || value FROM s ORDER BY value % 7",
		"SELECT median(value) FROM s",
		"SELECT length(group_concat(value)) FROM s",
		"SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY value) FROM s)",
		"SELECT count(*) FROM (SELECT sum(value) OVER (PARTITION BY value) FROM s)",
		"SELECT count(*) FROM s AS a JOIN s AS b ON a.value = b.value + 1",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT count(*) FROM r",
		"SELECT count(*) FROM t WHERE a IN (SELECT value FROM s)",
		"SELECT json_group_array(value) FROM s",
		"SELECT count(*) FROM (SELECT value, min(value) FROM s GROUP BY value ORDER BY 2)",
	} {
		t.Run(sql, func(t *testing.T) {
			runtime.GC()
			before := heap()
			var peak uint64
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						peak = max(peak, heap())
					}
				}
			}()
			_, err := runAll(t, smallCatalog(), rows.Replace(sql), Options{Limits: Limits{Bytes: limit}})
			close(stop)
			<-done
			var over *fault.LimitError
			if !errors.As(err, &over) {
				t.Fatalf("%v, want a LimitError", err)
			}
			used := int64(peak) - int64(before)
			t.Logf("%.2f of the limit", float64(used)/limit)
			if used > limit*11/10 {
				t.Errorf("it took %.1f MiB with a limit of %d MiB", float64(used)/(1<<20), limit>>20)
			}
		})
	}
}
