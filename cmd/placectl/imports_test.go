package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// order is who may import whom: a package may import those of earlier lines. Below cmd/placectl/internal the
// names begin after that. What the order forbids and is there nevertheless stands in .ci/exceptions, a list
// that may only get shorter.
const order = `
	docs, index/heap, index/devices, timeline, locality, internal/attribute, placer/fairshare, query/fault
	query/values
	index, placer/forecast, placer/backfill/swf, placer/backfill, query/internal/dates
	placer/syntax, query/syntax
	placer/subject, placer/recur, placer/syntax/syntaxtest, query/tables
	placer/limits, placer/preempt, placer/priorityf
	internal/text, placer, query/internal/functions
	placer/priority
	placer/cycle, query/internal/exec
	placer/cluster, query/internal/plan
	placer/forecast/backtest, query
	internal/row
	internal/file
	internal/state
	internal/answers
	internal/kernel
	internal/users
	internal/config
	internal/nodes
	internal/usage
	internal/limits
	internal/shares
	internal/plan
	internal/jobs
	internal/queue
	internal/cluster
	internal/ask
	internal/batches
	internal/batch
	internal/tables, internal/check
	internal/recovery, internal/replica
	internal/replica/drivertest, internal/replica/memlog
	internal/engine
	internal/attend, internal/bytejson, internal/environ, internal/joblog, internal/outname
	internal/launch
	internal/detect, internal/hook, internal/people, internal/signing
	internal/gate
	internal/keeper
	internal/dispatch
	internal/work
	store
	runner, store/attempts, store/batches, store/sqldriver, store/storetest
	fullscreen, metrics, outfile, process, ptytest, spool
	trends, usage
	infile, jobref, output, report, told
	batchfile, chart, demo, directives, exit, keyed, localorder, mcp, nodefile, sharefile
	fronts, payload, simulate, verbs
	forward, fronts/pbs, fronts/rows, fronts/slurm, listing, remote, request, sqlshell
	daily, explain
	session
	verb/about, verb/ask, verb/batch, verb/cluster, verb/database, verb/place, verb/queue, verb/run, verb/share
	verb/front
	cmd/placectl/command
	cmd/placectl
	bench
`

// apart are the folders at the top whose packages are usable alone: of ours they import only each other and
// these.
var apart = map[string][]string{"docs": nil, "index": nil, "timeline": nil, "locality": nil, "query": {"index"},
	"placer": {"index", "timeline"}}

// shared are the packages of the engine that the command may import.
var shared = []string{"internal/attend", "internal/attribute", "internal/bytejson", "internal/detect",
	"internal/dispatch", "internal/engine", "internal/environ", "internal/gate", "internal/hook", "internal/joblog",
	"internal/keeper", "internal/launch", "internal/outname", "internal/people", "internal/signing", "internal/text",
	"internal/work"}

// confined are external imports that only one package may have.
var confined = map[string][]string{
	"go.etcd.io/bbolt": {"internal/file", "bench/whole/floor"},
	"net":              {"bench"}, // it would link the program to the C library
	"net/http":         {},
	"os/exec":          {"internal/launch", "bench"},
	"github.com/urfave/cli/v2": {"cmd/placectl/internal/verbs", "cmd/placectl/internal/request",
		"cmd/placectl/internal/session", "cmd/placectl/internal/verb", "bench/whole/floor"},
	"github.com/teambition/rrule-go": {"placer/recur"},
}

// pure packages do not know files and clocks, nor do those of the folders that are usable alone.
var pure = []string{"internal/row", "internal/attribute", "internal/text", "internal/bytejson",
	"cmd/placectl/internal/infile", "cmd/placectl/internal/nodefile", "cmd/placectl/internal/chart",
	"cmd/placectl/internal/sharefile", "cmd/placectl/internal/directives", "cmd/placectl/internal/usage",
	"cmd/placectl/internal/simulate", "cmd/placectl/internal/batchfile", "internal/outname",
	"cmd/placectl/internal/trends", "cmd/placectl/internal/report", "cmd/placectl/internal/fronts",
	"cmd/placectl/internal/fronts/pbs", "cmd/placectl/internal/fronts/slurm"}

// timed are the pure packages that may import time, with the reasons.
var timed = map[string]string{
	"placer":                             "durations",
	"placer/limits":                      "instants in messages",
	"internal/row":                       "a walltime of a request that repeats",
	"cmd/placectl/internal/directives":   "instants that a script names, in a zone",
	"placer/recur":                       "what clocks show where: a rule names times of day in a zone",
	"cmd/placectl/internal/chart":        "what clocks show where: the axis of a drawing",
	"internal/text":                      "instants and durations as text",
	"cmd/placectl/internal/simulate":     "the axis of a drawing",
	"cmd/placectl/internal/trends":       "the axis of a drawing",
	"cmd/placectl/internal/fronts":       "instants and durations of jobs",
	"cmd/placectl/internal/fronts/slurm": "what clocks show where: text that clients read",
	"cmd/placectl/internal/fronts/pbs":   "what clocks show where: text that clients read",
}

const module = "github.com/placectl/placectl/"

// root is the folder of the repository.
var root = filepath.Join("..", "..")

func TestImports(t *testing.T) {
	level := levels(t)
	text, err := os.ReadFile(filepath.Join(root, ".ci", "exceptions"))
	if err != nil {
		t.Fatal(err)
	}
	exceptions, used := make(map[string]bool), make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		exceptions[strings.TrimSpace(line)] = true
	}
	for pkg, imports := range packages(t) {
		if level[room(pkg)] == 0 {
			t.Errorf("%s has no place in the order", pkg)
		}
		for _, imported := range imports {
			why := forbidden(pkg, imported, level)
			edge := pkg + " > " + strings.TrimPrefix(imported, module)
			if why != "" && !exceptions[edge] {
				t.Errorf("%s imports %s: %s", pkg, imported, why)
			}
			used[edge] = used[edge] || why != ""
		}
	}
	for edge := range exceptions {
		if !used[edge] {
			t.Errorf(".ci/exceptions has %s, which is no exception", edge)
		}
	}
}

// levels returns the line of each package in the order, from 1.
func levels(t *testing.T) map[string]int {
	level := make(map[string]int)
	for i, line := range strings.Split(strings.TrimSpace(order), "\n") {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				if _, err = os.Stat(filepath.Join("internal", name)); err != nil {
					t.Errorf("the order has %s, which is not there", name)
				}
				name = "cmd/placectl/internal/" + name
			}
			level[name] = i + 1
		}
	}
	return level
}

// room returns the name of a package in the order.
func room(pkg string) string {
	if strings.HasPrefix(pkg, "bench/") {
		return "bench"
	}
	return pkg
}

// packages returns the packages of the repository, and what their files import but for tests.
func packages(t *testing.T) map[string][]string {
	imports := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") ||
			strings.HasPrefix(name, "_") || isModule(path)) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg = filepath.ToSlash(pkg)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports[pkg] = append(imports[pkg], "")
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg] = append(imports[pkg], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// isModule reports whether a folder is that of a module.
func isModule(path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// forbidden says why a package may not import another, "" if it may.
func forbidden(pkg, imported string, level map[string]int) string {
	top, _, _ := strings.Cut(pkg, "/")
	if ours, ok := strings.CutPrefix(imported, module); ok {
		may, alone := apart[top]
		folder, _, _ := strings.Cut(ours, "/")
		switch {
		case room(pkg) == "bench":
			return ""
		case level[ours] >= level[pkg]:
			return "it comes later in the order"
		case alone && folder != top && !slices.Contains(may, folder):
			return top + " is usable alone"
		case top == "cmd" && folder == "internal" && !slices.Contains(shared, ours):
			return "the command uses internal/engine"
		}
		return ""
	}
	if strings.HasPrefix(pkg, "cmd/placectl/internal/verb/") {
		pkg = "cmd/placectl/internal/verb"
	}
	owners := confined[imported]
	if owners != nil && !slices.Contains(owners, pkg) && !slices.Contains(owners, room(pkg)) {
		return "only " + strings.Join(owners, ", ") + " may"
	}
	_, alone := apart[top]
	outside := []string{"os", "net", "time", "io/fs", "syscall", "math/rand", "math/rand/v2"}
	if (alone || slices.Contains(pure, pkg)) && slices.Contains(outside, imported) &&
		!(imported == "time" && timed[pkg] != "") {
		return "pure packages know nothing of files and clocks"
	}
	return ""
}

// TestJSONKeepsBytes: only package bytejson writes JSON, because encoding/json replaces bytes that are not
// UTF-8. They may be replaced in what a page shows.
func TestJSONKeepsBytes(t *testing.T) {
	calls := regexp.MustCompile(`\bjson\.(Marshal|MarshalIndent|NewEncoder)\(`)
	may := []string{"internal/report/page.go"}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			slices.Contains(may, path) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, call := range calls.FindAll(text, -1) {
			t.Errorf("%s: %s...): call package bytejson", path, call)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
