package main

import (
	"os"
	"strings"
	"testing"
)

// readmeChecks are what must hold after the shell of each part of README.md.
var readmeChecks = map[string]string{
	"Sixty seconds": `placectl logs 1 | grep -q '^1 on '; test "$(placectl show 1 -o json | grep -c '"state":"finished"')" = 1`,
	"An hour with it": `export PLACECTL_DB=$PWD/hour.db
		placectl check -q
		test "$(placectl job list --state running -o id | wc -l)" -ge 2
		grep -q '</html>' hour.html
		placectl --db before.db check -q`,
}

// TestReadme runs the shell of README.md, the parts in turn, each in a home of its own.
func TestReadme(t *testing.T) {
	program := commandPath(t)
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, name, in := make(map[string]string), "", false
	for line := range strings.Lines(string(text)) {
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case strings.HasPrefix(line, "```"):
			in = strings.TrimSpace(line) == "```sh"
		case in:
			scripts[name] += line
		case isTitle:
			name = strings.TrimSpace(title)
		}
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check, ok := readmeChecks[name]
			if !ok {
				t.Fatal("there is nothing in readmeChecks for it")
			}
			h := newHome(t, program)
			h.run(script)
			h.run(check)
		})
	}
	if len(scripts) != len(readmeChecks) {
		t.Errorf("%d parts with shell, and checks for %d", len(scripts), len(readmeChecks))
	}
}
