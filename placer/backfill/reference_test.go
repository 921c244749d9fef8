package backfill

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/placectl/placectl/placer/backfill/swf"
)

// references are logs that others have simulated; testdata/README.md names them.
var references = []struct {
	log, waits string
	procs      int64
	averages   [3]string // wait and bounded slowdown of each policy
}{
	{"KTH-SP2-1996-2.strongfilter.swf.gz", "KTH-SP2.waits.csv.gz", 100,
		[3]string{"354002.3164 6818.585291", "6889.9387 92.677016", "7340.6428 88.895309"}},
	{"lublin_256.reqrun.swf.gz", "lublin_256.waits.csv.gz", 256,
		[3]string{"2388443.7601 66502.475529", "97155.9945 590.053777", "131567.5089 489.201322"}},
}

// TestReferences: every start is that of the reference, and so are the published averages.
func TestReferences(t *testing.T) {
	for _, ref := range references {
		numbers, jobs := readLog(t, ref.log)
		waits := readWaits(t, ref.waits, numbers)
		for p := FCFS; p <= Conservative; p++ {
			t.Run(fmt.Sprintf("%s/%s", ref.log, p), func(t *testing.T) {
				starts, err := Run(ref.procs, jobs, p, nil)
				if err != nil {
					t.Fatal(err)
				}
				wrong := 0
				for i, start := range starts {
					if want := jobs[i].Submit + waits[i][p]; start != want {
						if wrong++; wrong <= 5 {
							t.Errorf("job %d starts at %d, want %d", numbers[i], start, want)
						}
					}
				}
				if wrong > 0 {
					t.Errorf("%d of %d starts are wrong", wrong, len(starts))
				}
				s := Summarise(ref.procs, jobs, starts)
				if got := fmt.Sprintf("%.4f %.6f", s.AvgWait, s.AvgSlowdown); got != ref.averages[p] {
					t.Errorf("averages %s, want %s", got, ref.averages[p])
				}
			})
		}
	}
}

func readLog(t testing.TB, name string) (numbers []int64, jobs []Job) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := swf.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		j, err := log.Next()
		if err == io.EOF {
			return numbers, jobs
		}
		if err != nil {
			t.Fatal(err)
		}
		e := Entry{Submit: j.Submit, Run: j.Run, Procs: j.Procs, WantProcs: j.WantProcs, WantTime: j.WantTime}
		job, ok := e.Job(false)
		if !ok {
			t.Fatalf("line %d is no job", j.Line)
		}
		numbers, jobs = append(numbers, j.Number), append(jobs, job)
	}
}

// readWaits reads the waits of jobs under each policy.
func readWaits(t *testing.T, name string, numbers []int64) (waits [][3]int64) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil || len(rows) != len(numbers)+1 {
		t.Fatalf("%d rows for %d jobs: %v", len(rows)-1, len(numbers), err)
	}
	for i, row := range rows[1:] {
		if row[0] != strconv.FormatInt(numbers[i], 10) {
			t.Fatalf("row %d is of job %s, not %d", i, row[0], numbers[i])
		}
		var w [3]int64
		for p := range w {
			if w[p], err = strconv.ParseInt(row[1+p], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		waits = append(waits, w)
	}
	return waits
}

func BenchmarkRun(b *testing.B) {
	for _, ref := range references {
		_, jobs := readLog(b, ref.log)
		for p := FCFS; p <= Conservative; p++ {
			b.Run(fmt.Sprintf("%s/%s", ref.log, p), func(b *testing.B) {
				for b.Loop() {
					if _, err := Run(ref.procs, jobs, p, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
