package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// frontRow is a line of testdata/fronts/outputs.jsonl.
type frontRow struct {
	Name, Front, Command, Stream string
	Setup, Match, No             []string
	RC                           int
}

// TestFrontOutputs tries commands of PBS and Slurm as clients type them: what they print is
// to the letter what clients read.
func TestFrontOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	f, err := os.Open("testdata/fronts/outputs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row frontRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			row.try(t)
		})
	}
}

// frontCluster is a shell in a directory of its own, with a database of three nodes.
func frontCluster(t *testing.T, script string) (dir string, cmd *exec.Cmd) {
	dir = t.TempDir()
	cmd = exec.Command("bash", "-c", `placectl init -q --set kick=never >/dev/null && placectl node add 'n[1-3]' ncpus=8 mem=16gb -q >/dev/null || exit 99
`+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLACECTL_DB="+filepath.Join(dir, "c.db"), "HOME="+dir, "TZ=UTC")
	return dir, cmd
}

func (row *frontRow) try(t *testing.T) {
	dir, cmd := frontCluster(t, "{ "+strings.Join(append(row.Setup, "true"), "\n")+"\n} >setup.out 2>setup.err || exit 98\necho \"$J\" >J; echo \"$N\" >N\n"+row.Command)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	got := stdout.String()
	if row.Stream == "stderr" {
		got = stderr.String()
	} else if row.RC == 0 && stderr.Len() > 0 && row.Front != "doors" { // what placectl itself has to say is no part of its answer
		t.Errorf("stderr is %q, and is to be empty", stderr.String())
	}
	if rc := cmd.ProcessState.ExitCode(); rc != row.RC {
		t.Errorf("%s ends with %d, not %d; stdout %q, stderr %q", row.Command, rc, row.RC, stdout.String(), stderr.String())
	}
	variable := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return regexp.QuoteMeta(strings.TrimSpace(string(text)))
	}
	named := strings.NewReplacer(`\Z`, `\z`, "<J>", variable("J"), "<N>", variable("N"))
	for _, pattern := range row.Match {
		if !regexp.MustCompile("(?m)" + named.Replace(pattern)).MatchString(got) {
			t.Errorf("%s prints\n%s, and nothing in it matches %s", row.Command, got, pattern)
		}
	}
	for _, pattern := range row.No {
		if regexp.MustCompile("(?m)" + named.Replace(pattern)).MatchString(got) {
			t.Errorf("%s prints\n%s, and %s matches", row.Command, got, pattern)
		}
	}
}
