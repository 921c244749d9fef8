package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestJobScripts submits package directives' job scripts with --dry-run. Each is accepted, with the
// request and the name that its lines mean, or refused for what placectl lacks.
func TestJobScripts(t *testing.T) {
	const folder = "../internal/directives/testdata/scripts"
	files, err := filepath.Glob(folder + "/*.out")
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "x.db")
	for _, line := range []string{"init --resource a100=long,consumable --resource gslices=long,consumable " +
		"--resource scratch=long,consumable",
		"pool add matlab=1", "pool add fluent=30", "queue add regular", "queue add gpu", "queue add short",
		"queue add batch", "queue add long", "queue add compute",
		"node add n[1-8] ncpus=128 mem=500gb"} {
		if c := newCapture(append(strings.Fields(line), "--db", db)...); c.run() != 0 {
			t.Fatal(line, c.err.String())
		}
	}
	taken := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".out")
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		means := make(map[string]string)
		for line := range strings.Lines(string(want)) {
			flag, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			means[flag] = value
		}
		refused := strings.HasPrefix(string(want), "refused: ")
		c := newCapture("submit", folder+"/"+strings.TrimSuffix(name, ".out"), "--chdir", t.TempDir(), "--out", "x",
			"--err", "x", "--dry-run", "-o", "jsonl", "--db", db)
		status := c.run()
		gone := means["--after"] + means["--afterok"] + means["--afterany"] + means["--reservation"] +
			means["--exclude"]
		switch {
		case refused && status == 2, !refused && gone != "" && status == 5:
			continue
		case refused || gone != "" || status != 0:
			t.Errorf("%s: status %d, refused should be %v: %s", name, status, refused, c.err.String())
			continue
		}
		taken++
		var job struct {
			Name     *string
			Walltime int
		}
		first, _, _ := strings.Cut(c.out.String(), "\n")
		if err := json.Unmarshal([]byte(first), &job); err != nil {
			t.Fatalf("%s: the answer is no JSON: %v", name, err)
		}
		if got := job.Name; got == nil && means["--name"] != "" || got != nil && *got != strings.Trim(means["--name"],
			"'") {
			t.Errorf("%s: the job is called %v, want %s", name, got, means["--name"])
		}
		if d, err := time.ParseDuration(clockOf(means["--walltime"])); err == nil &&
			job.Walltime != int(d/time.Second) {
			t.Errorf("%s: the walltime is %d s, want %s", name, job.Walltime, means["--walltime"])
		}
	}
	if len(files) < 30 || taken < 15 {
		t.Errorf("of %d scripts %d were accepted", len(files), taken)
	}
}

// clockOf converts H:M:S for package time.
func clockOf(text string) string {
	if parts := strings.Split(text, ":"); len(parts) == 3 {
		return parts[0] + "h" + parts[1] + "m" + parts[2] + "s"
	}
	return text
}
