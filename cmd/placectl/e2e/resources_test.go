package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// scarce are verbs that read and write all that a database has.
var scarce = []string{
	"check", "check --repair --dry-run", "status", "job list --all", "show 1", "node list",
	"query 'SELECT * FROM nodes ORDER BY name'", "dump", "backup -", "backup x",
	"submit -q --hold -- true", "submit -q 1:ncpus=4", "when 1:ncpus=4", "place 1:ncpus=1 -o id", "explain 1:ncpus=4",
	"cycle", "compact", "events", "doctor", "metrics",
	"config list", "gantt", "history", "usage", "hold 1", "unhold 1", "node set n7 ncpus=5", "salvage test.db --to y",
	"log", "run 1 -- true",
	"init", "load -", "archive --before now --to z.jsonl", "restore x", "on n1 -- true", "logs 1", "wait 1 --timeout 0",
	"report --html r", "work --once", "adopt",
}

// TestScarceResources: a verb that lacks open files or memory does not say that the database is damaged, and
// damages none.
func TestScarceResources(t *testing.T) {
	t.Parallel()
	s, random := newShell(t), seeded(t)
	s.must(csvOfNodes("n", 2000), "node", "import", "-")
	s.must("", "submit", "-q", "--hold", "--", "true")
	var limits []string
	for n := 5; n <= 40; n++ {
		limits = append(limits, fmt.Sprint("ulimit -n ", n))
	}
	for size := 700_000; size < 1_000_000; size += 4_000 { // the runtime alone maps most of it
		limits = append(limits, fmt.Sprint("ulimit -v ", size))
	}
	draws := len(limits) * len(scarce)
	if !*long {
		draws = 60
	}
	statuses := map[int]int{}
	for i := range draws {
		limit, verb := limits[i/len(scarce)%len(limits)], scarce[i%len(scarce)]
		if !*long {
			limit, verb = limits[random.IntN(len(limits))], scarce[random.IntN(len(scarce))]
		}
		cmd, out, complaint := s.command("")
		cmd.Args = []string{"sh", "-c", limit + `; exec timeout 60 "$0" ` + verb, cmd.Path}
		cmd.Path, cmd.Err = exec.LookPath("sh")
		cmd.Dir = filepath.Dir(s.db)
		err := cmd.Run()
		status := cmd.ProcessState.ExitCode()
		statuses[status]++
		if status == exit.Damaged || strings.Contains(complaint.String(), "is damaged") {
			t.Errorf("%s; placectl %s: status %d, %v: %s%s", limit, verb, status, err, complaint, out)
		}
	}
	s.must("", "check")
	var list []string
	for status, count := range statuses {
		list = append(list, fmt.Sprintf("%d: %d times", status, count))
	}
	slices.Sort(list)
	t.Logf("%d draws; statuses %s", draws, strings.Join(list, ", "))
}
