package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// disaster is how a disaster of docs/recovery.md comes about, and what holds once it is over, both as
// shell.
type disaster struct{ before, after string }

// tornFile makes a file from the pages of two others, in turn.
const tornFile = `torn() {
	cp $1 $3
	at=2
	while [ $((at * 4096)) -lt $(stat -c %s $2) ]; do
		dd if=$2 of=$3 bs=4096 skip=$at seek=$at count=1 conv=notrunc 2>/dev/null
		at=$((at + 2))
	done
}
`

var disasters = map[string]disaster{
	"1. The power failed": {
		// The key was used, and a meta page is torn, so the previous commit's counts.
		before: `placectl place 1:ncpus=8 -t 1h --key nightly-42 -o id >~/first
			placectl node set n40 priority=1
			printf 'committing 99                  \n' | dd of=cluster.db.lock conv=notrunc 2>/dev/null`,
		after: `test "$(placectl place 1:ncpus=8 -t 1h --key nightly-42 -o id)" = "$(cat ~/first)"
			test "$(placectl query 'SELECT count(*) FROM jobs' -o id)" = 4`,
	},
	"2. The disk is full": {
		before: `mkdir ~/roomy
			status=0
			placectl place 1:ncpus=8 -t 1h --key nightly-43 >/dev/full || status=$?
			test $status = 10`,
		after: `test "$(placectl --db ~/roomy/cluster.db query 'SELECT count(*) FROM jobs' -o id)" = 4`,
	},
	"3. A clock was wrong": {
		before: `rm cluster.db*
			placectl init --any-time
			placectl node add 'n[01-40]' ncpus=8
			placectl --now 2099-01-01T00:00:00Z place 1:ncpus=8 -t 1h
			status=0
			placectl place 1:ncpus=8 -t 1h || status=$?
			test $status = 7`,
		after: `placectl place 1:ncpus=8 -t 1h`,
	},
	"4. A page is damaged": {
		before: `placectl node add 'm[0001-3000]' ncpus=8
			placectl node set m1500 priorityf=SPEED*7
			at=$(grep -abo 'SPEED.7' cluster.db | tail -n 1 | cut -d: -f1)
			dd if=/dev/zero of=cluster.db bs=4096 seek=$((at / 4096)) count=1 conv=notrunc 2>/dev/null
			status=0
			placectl check || status=$?
			test $status = 8`,
		after: `test "$(placectl query 'SELECT count(*) FROM nodes' -o id)" = 40
			test "$(placectl --db since.db query 'SELECT count(*) FROM nodes' -o id)" -gt 2900
			placectl --db since.db job list --all | grep -q late
			placectl --db since.db check -q`,
	},
	"5. The lock file was deleted": {
		before: `rm cluster.db.lock`,
		after: `placectl place 1:ncpus=8 -t 1h
			test "$(placectl query 'SELECT count(*) FROM jobs' -o id)" = 4`,
	},
	"6. The file was copied while in use": {
		before: tornFile + `cp cluster.db early.db
			placectl node add 'm[0001-3000]' ncpus=8
			placectl node set 'm[0001-3000]' priority=7
			torn cluster.db early.db torn-copy.db
			! placectl --db torn-copy.db check`,
		after: `test "$(placectl --db ~/good-copy.db query 'SELECT count(*) FROM nodes' -o id)" = 3040
			placectl --db ~/good-copy.db check -q`,
	},
	"7. A backup was restored while jobs ran": {
		before: `placectl place 1:ncpus=8 -t 1h --name lost
			placectl restore ~/backup.db
			test "$(placectl job list --state held -o id)" = 2`,
		after: `test "$(placectl job list --all -o id | wc -l)" = 2
			placectl --db cluster.db.replaced-1 job list | grep -q lost
			placectl cycle | grep -q next`,
	},
	"8. Two machines wrote, on a network file system without locks": {
		before: tornFile + `cp cluster.db other.db
			placectl node add 'a[0001-2000]' ncpus=8
			placectl --db other.db node add 'b[0001-2000]' ncpus=4
			cp cluster.db one.db
			torn one.db other.db cluster.db
			! placectl check`,
		after: `placectl --db saved.db node list >/dev/null`,
	},
	"9. The version was rolled back": {
		before: `at=$(grep -abo 'formatplacectl' cluster.db | tail -n 1 | cut -d: -f1)
			for at in $(grep -abo 'formatplacectl' cluster.db | cut -d: -f1); do
				printf '\000\000\000\143' | dd of=cluster.db bs=1 seek=$((at + 14)) conv=notrunc 2>/dev/null
			done
			cp cluster.db newer.db
			status=0
			placectl place 1 || status=$?
			test $status = 8
			cmp cluster.db newer.db`,
		after: `cmp cluster.db.replaced-1 newer.db
			test "$(placectl query 'SELECT count(*) FROM jobs' -o id)" = 2`,
	},
}

// disastersBefore and disastersAfter are the parts of disasters, by section of the page.
var disastersBefore, disastersAfter = func() (before, after map[string]string) {
	before, after = make(map[string]string), make(map[string]string)
	for name, d := range disasters {
		before[name] = d.before
		after[name] = d.after + "\nplacectl --db $HOME/cluster.db check -q || test -e saved.db\n! ls -A | grep 'new-'"
	}
	return before, after
}()

// TestDisasters: the remedy of each of the nine disasters has at most three commands. TestPages makes them happen.
func TestDisasters(t *testing.T) {
	count := make(map[string]int)
	for _, b := range readBlocks(t, "../../../docs/recovery.md", "###") {
		if b.section != "" && b.not == "" {
			count[b.section] += strings.Count(b.code, "placectl ")
		}
	}
	for name, n := range count {
		if n > 3 {
			t.Errorf("%s: its remedy has %d commands", name, n)
		}
	}
	if len(count) != 9 {
		t.Errorf("the page has %d disasters, want 9", len(count))
	}
}

// TestReliabilityNamesTests: the tests that the page names exist.
func TestReliabilityNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	for _, pattern := range []string{"*_test.go", "../../../store/*_test.go", "../../../internal/*/*_test.go",
		"../internal/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				there[string(m[1])] = true
			}
		}
	}
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(page), -1)
	for _, name := range named {
		if !there[name] {
			t.Errorf("the page names the test %s, which does not exist", name)
		}
	}
	if len(named) < 20 {
		t.Errorf("the page names only %d tests", len(named))
	}
}
