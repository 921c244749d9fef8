package directives

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScripts reads testdata/scripts, job scripts as people write them, and compares each result with the
// file beside it.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scripts", "*"))
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	families := make(map[string]int)
	for _, file := range files {
		if strings.HasSuffix(file, ".out") {
			continue
		}
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		family, _, _ := strings.Cut(name, "-")
		families[family]++
		got := strings.Join(told(t, name, script, o), "\n") + "\n"
		if *update {
			if err := os.WriteFile(file+".out", []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file + ".out")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got): %s", file, diff)
		}
	}
	if families["pbs"] < 10 || families["slurm"] < 10 {
		t.Errorf("scripts: %v", families)
	}
}
