package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readmeChecks are what must hold after the blocks of README.md.
var readmeChecks = map[string]string{"placectl": `export PLACECTL_DB=$HOME/placectl.db
	placectl logs 1 | grep -q '^hello from job 1$'
	test "$(placectl query "SELECT count(*) FROM jobs WHERE state = 'finished'" -o id)" = 22
	placectl --db cluster.db check -q
	test "$(placectl --db cluster.db node list -o id | wc -l)" = 2
	test "$(placectl --db tasks.db query "SELECT count(*) FROM jobs WHERE state = 'finished'" -o id)" = 20`,
}

// firstScreen is how many lines of README.md a reader sees at once.
const firstScreen = 40

// tryIt returns the commands of README.md's "Try it", and the line behind them.
func tryIt(t *testing.T) (commands []string, end int) {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	title := slices.Index(lines, "## Try it")
	if title < 0 {
		t.Fatal("README.md has no part \"Try it\"")
	}
	begin := title + 1 + slices.Index(lines[title+1:], "```console")
	end = begin + 1 + slices.Index(lines[begin+1:], "```")
	return lines[begin+1 : end], end
}

// TestReadmeTryIt: two commands on the first screen of README.md show the product and run its tests, from
// a clone. The first is run here unchanged. .ci/run takes the second from the page.
func TestReadmeTryIt(t *testing.T) {
	commands, end := tryIt(t)
	if len(commands) != 2 || end > firstScreen {
		t.Fatalf("%q end in line %d, want two commands within %d lines", commands, end, firstScreen)
	}
	if commands[1] != "go test ./..." {
		t.Errorf("the tests are run by %q, want go test ./...", commands[1])
	}
	if testing.Short() {
		t.Skip("-short: the demo is not built")
	}
	c := exec.Command("sh", "-c", commands[0])
	c.Dir = "../../.."
	c.Env = append(os.Environ(), "PLACECTL_DB="+filepath.Join(t.TempDir(), "demo.db"))
	out, err := c.Output()
	if err != nil || !strings.Contains(string(out), "Try next:") {
		t.Errorf("%s: %v, want its suggestions:\n%s", commands[0], err, out)
	}
}
