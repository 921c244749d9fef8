package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// frontRow is a line of testdata/fronts/outputs.jsonl.
type frontRow struct {
	Name, Front, Command, Stream string
	Setup, Match, No             []string
	RC                           int
	Later                        string // why it is not tested yet
}

// TestFrontOutputs tries commands of PBS and Slurm as clients type them. They print exactly what clients
// parse.
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
			if row.Later != "" {
				t.Skip(row.Later)
			}
			t.Parallel()
			row.try(t)
		})
	}
}

// frontCluster makes a shell in a directory of its own, with a database of three nodes.
func frontCluster(t *testing.T, script string) (dir string, cmd *exec.Cmd) {
	dir = t.TempDir()
	cmd = exec.Command("bash", "-c", `placectl init -q --set start=manual >/dev/null && placectl node add 'n[1-3]' ncpus=8 mem=16gb -q >/dev/null || exit 99
`+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLACECTL_DB="+filepath.Join(dir, "c.db"), "HOME="+dir, "TZ=UTC")
	return dir, cmd
}

func (row *frontRow) try(t *testing.T) {
	dir, cmd := frontCluster(t, "{ "+strings.Join(append(row.Setup, "true"), "\n")+
		"\n} >setup.out 2>setup.err || exit 98\necho \"$J\" >J; echo \"$N\" >N\n"+row.Command)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	got := stdout.String()
	if row.Stream == "stderr" {
		got = stderr.String()
	} else if row.RC == 0 && stderr.Len() > 0 && row.Front != "doors" {
		// placectl's own messages are not part of the answer
		t.Errorf("stderr is %q, want none", stderr.String())
	}
	if rc := cmd.ProcessState.ExitCode(); rc != row.RC {
		t.Errorf("%s ends with %d, want %d; stdout %q, stderr %q", row.Command, rc, row.RC, stdout.String(),
			stderr.String())
	}
	variable := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return regexp.QuoteMeta(strings.TrimSpace(string(text)))
	}
	named := strings.NewReplacer(`\Z`, `\z`, "<J>", variable("J"), "<N>", variable("N"))
	for _, pattern := range row.Match {
		if !regexp.MustCompile("(?m)" + named.Replace(pattern)).MatchString(got) {
			t.Errorf("%s prints\n%s, which does not match %s", row.Command, got, pattern)
		}
	}
	for _, pattern := range row.No {
		if regexp.MustCompile("(?m)" + named.Replace(pattern)).MatchString(got) {
			t.Errorf("%s prints\n%s, which must not match %s", row.Command, got, pattern)
		}
	}
}

// replay is what a workflow manager types in the life of a few jobs.
type replay struct {
	Client, Front, Source string
	Files                 map[string][]string // the lines of each file, by name; <DIR> is their folder
	Steps                 []replayStep
}

// replayStep is a command, and what the client parses from its output.
type replayStep struct {
	Run  string
	RC   int
	Both bool     // read both streams as one
	Read string   // a regular expression: the groups of each match are the words of a line
	JSON bool     // instead of Read: a line for each job of qstat -F json
	Want []string // these lines, with variables of Keep
	Keep string   // the variable that keeps the only line from now on
}

// TestFrontReplays types the commands of workflow managers that are too large to run here, has their jobs
// executed, and parses the answers as they do.
func TestFrontReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	text, err := os.ReadFile("testdata/fronts/replays.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []replay
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		t.Run(r.Client, func(t *testing.T) {
			t.Parallel()
			r.play(t)
		})
	}
}

func (r *replay) play(t *testing.T) {
	dir, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	for name, lines := range r.Files {
		text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "<DIR>", dir)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kept := map[string]string{"PLACECTL_DB": filepath.Join(home, "c.db"), "HOME": home, "TZ": "UTC",
		"PATH": bin + ":" + os.Getenv("PATH")}
	run := func(line string) (stdout, stderr string, rc int) {
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir, cmd.Env = dir, os.Environ()
		for name, value := range kept {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	if _, said, rc := run(
		`placectl init -q --set start=manual --set state_dir=$HOME/state && placectl node add "$(hostname)" ncpus=8 mem=16gb -q`); rc != 0 {
		t.Fatal(said)
	}
	for _, s := range r.Steps {
		stdout, stderr, rc := run(s.Run)
		said := "`" + s.Run + "` ends with " + fmt.Sprint(rc) + ", and prints\n" + stdout + stderr
		if rc != s.RC || rc == 0 && stderr != "" {
			t.Fatalf("want status %d and no errors: %s", s.RC, said)
		}
		if s.Both {
			stdout += stderr
		}
		lines, err := s.lines(stdout)
		if err != nil {
			t.Fatalf("the client cannot parse it: %v: %s", err, said)
		}
		if s.Keep != "" {
			if len(lines) != 1 {
				t.Fatalf("the client reads no single id: %s", said)
			}
			kept[s.Keep] = lines[0]
			continue
		}
		want := make([]string, len(s.Want))
		for i, line := range s.Want {
			want[i] = os.Expand(line, func(name string) string { return kept[name] })
		}
		if !slices.Equal(lines, want) {
			t.Fatalf("the client reads %q, want %q: %s", lines, want, said)
		}
	}
}

// lines returns what the client parses from an output.
func (s *replayStep) lines(output string) (lines []string, err error) {
	if s.JSON {
		var status struct {
			Jobs map[string]struct {
				State string `json:"job_state"`
			}
		}
		err = json.Unmarshal([]byte(output), &status)
		for id, j := range status.Jobs {
			lines = append(lines, id+" "+j.State)
		}
		slices.Sort(lines)
		return lines, err
	}
	if s.Read != "" {
		for _, m := range regexp.MustCompile("(?m)"+s.Read).FindAllStringSubmatch(output, -1) {
			lines = append(lines, strings.Join(m[1:], " "))
		}
	}
	return lines, nil
}
