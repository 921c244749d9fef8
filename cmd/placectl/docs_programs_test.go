package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestProgramsPage: the programs of docs/programs.md run, and print what stands below each.
func TestProgramsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	program := commandPath(t)
	python, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]func(file string) []string{
		"sh":     func(file string) []string { return []string{"sh", "-eu", file} },
		"go":     func(file string) []string { return []string{"go", "run", file} },
		"python": func(file string) []string { return []string{"python3", file} },
	}
	blocks := regexp.MustCompile("(?s)\n```(sh|go|python)\n(.*?)```\n\n```text\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 4 {
		t.Fatalf("the page has %d programs, want 4", len(blocks))
	}
	for _, block := range blocks {
		lang, code, want := block[1], block[2], block[3]
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(run[lang]("")[0]); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			name := filepath.Join(dir, "program."+strings.Replace(lang, "python", "py", 1))
			if err := os.WriteFile(name, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			words := run[lang](name)
			cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
			cmd.Env = slices.Concat(os.Environ(), []string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "PLACECTL=" + program, "PYTHONPATH=" + python})
			if lang != "go" {
				cmd.Dir = dir
			}
			said, err := cmd.CombinedOutput()
			if err != nil || string(said) != want {
				t.Errorf("%v; the program prints\n%swant\n%s", err, said, want)
			}
		})
	}
}
