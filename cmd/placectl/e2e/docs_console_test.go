package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// consolePages are pages whose "console" blocks show commands and their output.
var consolePages = []string{"../../../docs/questions.md", "../../../docs/policies.md", "../../../docs/tutorial.md"}

// TestConsolePages: commands of pages print exactly what the pages show. With -update the pages are
// rewritten. Each page has a directory of its own, and a clock that says ten in the morning on Friday,
// 20 November 2026.
func TestConsolePages(t *testing.T) {
	program := commandPath(t)
	for _, page := range consolePages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			c := &consoleHome{t: t, dir: t.TempDir(), program: program}
			c.prepare()
			got := c.run(string(text))
			switch {
			case got == string(text):
			case *update:
				if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s shows other output (-page +got; -update rewrites it):\n%s", page,
					cmp.Diff(string(text), got))
			}
			if n := strings.Count(got, "\n$ "); n < 5 {
				t.Errorf("only %d commands were found", n)
			}
		})
	}
}

// consoleHome is where the commands of a page run.
type consoleHome struct {
	t       *testing.T
	dir     string
	program string
}

// prepare makes a placectl whose databases take any time.
func (c *consoleHome) prepare() {
	c.t.Helper()
	wrapper := "#!/bin/sh\ncase $1 in init) shift; exec " + c.program + " init --any-time \"$@\";; esac\nexec " +
		c.program + " \"$@\"\n"
	bin := filepath.Join(c.dir, "bin")
	err := os.Mkdir(bin, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "placectl"), []byte(wrapper), 0o755)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// run runs the commands of a page, and returns the page with their output.
func (c *consoleHome) run(page string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(page) {
		switch command, is := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			in = strings.TrimSpace(line) == "```console"
			b.WriteString(line)
		case in && is:
			b.WriteString(line + c.answer(command))
		case !in:
			b.WriteString(line)
		}
	}
	return b.String()
}

var trailing = regexp.MustCompile(`(?m)[ \t]+$`)

// answer returns a command's output, errors included.
func (c *consoleHome) answer(command string) string {
	cmd := exec.CommandContext(c.t.Context(), "sh", "-c", command)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "PATH="+filepath.Join(c.dir, "bin")+":"+os.Getenv("PATH"),
		"PLACECTL_DB=placectl.db",
		"PLACECTL_NOW=2026-11-20T10:00:00Z", "TZ=UTC", "USER=ann", testUser+"=ann", "LANG=C.UTF-8", "LC_ALL=",
		"COLUMNS=", "NO_COLOR=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Run() //nolint:errcheck // some are refused: the page has their messages
	return trailing.ReplaceAllString(said.String(), "")
}
