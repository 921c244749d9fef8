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

// importRules say which package may import which: those left of < may be imported by those right of it.
// Everything else is forbidden. A family is each package of verbs. command is each of those, and the
// session. A layer is store, and each of storeLayers.
const importRules = `
	index/heap                               < placer, placer/backfill, query/internal/exec, bench
	index/devices                            < index, placer, layer, store/internal/row, command, cmd/placectl/internal/nodefile, cmd/placectl/internal/listing, cmd/placectl/internal/detect
	cmd/placectl/internal/detect             < command
	index, timeline                          < placer
	timeline                                 < placer/limits
	placer/limits                            < placer, placer/cycle, placer/cluster, layer, store/internal/row, store/internal/derived
	placer/limits, placer, index, store/internal/row, store/internal/file < store/internal/rules
	store/internal/rules                     < layer, store/internal/derived
	index                                    < placer/syntax
	index, placer/syntax                     < placer/priorityf, placer/recur
	placer/syntax, placer/priorityf          < placer
	placer/fairshare, placer/recur           < layer, store/internal/row
	placer/cycle                             < layer, store/internal/row
	placer/forecast                          < layer
	placer/preempt                           < placer/cycle, placer/cluster, placer/priority, layer, store/internal/row, command, bench
	index, timeline, placer, locality        < store/internal/row
	store/internal/row                       < layer, store/internal/file, store/internal/batches
	store/internal/file                      < layer, store/internal/batches
	index, placer, store/internal/row        < store/internal/ledger
	store/internal/ledger                    < layer
	index, locality                          < store/internal/batches
	store/internal/batches                   < layer
	index, timeline, placer, locality, query, query/tables, placer/fairshare < store/internal/tables
	index, timeline, placer, placer/cycle    < store/internal/derived
	store/internal/row, store/internal/file, store/internal/nodes < store/internal/derived
	store/internal/derived                   < layer
	store/internal/row, store/internal/file  < store/internal/answers
	store/internal/answers                   < layer
	store/internal/row, store/internal/file  < store/internal/tallies, store/internal/hosts, store/internal/postponed
	store/internal/tallies, store/internal/hosts, store/internal/postponed < layer
	index, index/devices, timeline, placer, store/internal/row, store/internal/file < store/internal/nodes
	index, placer, placer/fairshare, placer/limits, placer/preempt, store/internal/row, store/internal/file < store/internal/sharing
	store/internal/nodes, store/internal/sharing < layer
	placer/fairshare, placer/priorityf       < placer/priority
	placer/priority                          < layer
	placer/priorityf                         < layer, store/internal/nodes, cmd/placectl/internal/explain
	placer/syntax                            < placer/syntax/syntaxtest
	index, timeline, store/internal/row, store/internal/file, store/internal/ledger, store/internal/nodes < store/internal/usage
	index, timeline, placer, placer/fairshare, store/internal/row, store/internal/nodes, store/internal/usage < store/internal/shares
	store/internal/usage, store/internal/shares < layer
	store/internal/row, store/internal/file  < store/internal/rewind
	index, timeline, placer, locality, store/internal/row, store/internal/file < store/internal/state
	store/internal/state                     < layer, store/internal/answers, store/internal/batches
	index, store/internal/row                < store/internal/settings
	index, store/internal/row, store/internal/file < store/internal/nodehistory
	store/internal/nodehistory               < layer
	store/internal/rewind, store/internal/settings < layer
	store/internal/row, store/internal/file  < store/internal/replica
	store/internal/replica                   < layer, store/internal/etcd, store/logtest
	store/internal/row, store/internal/file, store/internal/replica, store/internal/etcd < store/internal/drivers
	store/internal/drivers < layer
	timeline                                 < placer/backfill
	query/values                            < query/internal/dates
	query/fault, query/values                < query/syntax, query/internal/functions, query/internal/exec, query/internal/plan, query
	query/values, query/syntax               < query/tables
	query/tables                             < query/internal/functions, query/internal/exec, query/internal/plan, query
	query/syntax                             < query/internal/exec, query/internal/plan, query
	query/internal/dates                     < query/internal/plan
	query/internal/functions                 < query/internal/exec
	query/internal/functions, query/internal/exec < query/internal/plan
	query/internal/functions, query/internal/exec, query/internal/plan < query
	index                                    < query/syntax, query/internal/functions, query/internal/plan
	index, timeline, placer, locality, query < layer
	index, timeline, placer, locality, query < command
	query/values, query/tables, query/fault, query/syntax < layer, command, bench, cmd/placectl/internal/exit, cmd/placectl/internal/sqlshell
	index                                    < internal/text
	internal/text                            < layer, store/internal/settings
	placer/recur                             < internal/text
	internal/attribute                       < store/internal/tables, command, cmd/placectl/internal/directives, cmd/placectl/internal/listing
	index, internal/text       < cmd/placectl/internal/output
	internal/text              < command
	cmd/placectl/internal/spool              < command, cmd/placectl/internal/output
	cmd/placectl/internal/told               < command
	placer/priorityf                         < command
	cmd/placectl/internal/output             < command, cmd/placectl/internal/chart
	index, timeline, placer                  < placer/cycle
	index, timeline, placer, placer/cycle    < placer/cluster
	placer/backfill                          < placer/cluster
	placer, placer/backfill, placer/backfill/swf, placer/cluster, placer/forecast < placer/forecast/backtest
	placer/forecast, placer/forecast/backtest < cmd/placectl/internal/simulate, bench
	placer/backfill, placer/backfill/swf     < command, bench
	placer/fairshare, placer/cluster         < command, bench
	index, timeline, placer, locality, query < bench
	store                                    < command, bench
	cmd/placectl/internal/infile             < command, cmd/placectl/internal/nodefile, cmd/placectl/internal/mcp, cmd/placectl/internal/sqlshell
	internal/text, index       < cmd/placectl/internal/infile, cmd/placectl/internal/nodefile, cmd/placectl/internal/chart
	cmd/placectl/internal/nodefile           < command
	index, placer/fairshare                  < cmd/placectl/internal/sharefile
	cmd/placectl/internal/infile             < cmd/placectl/internal/sharefile
	internal/text              < cmd/placectl/internal/sharefile
	cmd/placectl/internal/sharefile          < command
	index, internal/text       < cmd/placectl/internal/directives
	cmd/placectl/internal/infile             < cmd/placectl/internal/directives
	cmd/placectl/internal/directives         < command
	cmd/placectl/internal/chart              < command
	cmd/placectl/internal/explain            < command
	index, timeline, placer, store           < cmd/placectl/internal/explain
	internal/text, cmd/placectl/internal/output < cmd/placectl/internal/explain
	cmd/placectl/internal/launch             < command
	cmd/placectl/internal/environ            < cmd/placectl/internal/dispatch, cmd/placectl/internal/fronts/pbs, cmd/placectl/internal/launch, cmd/placectl/internal/payload, cmd/placectl/internal/runner, cmd/placectl/internal/session
	cmd/placectl/internal/demo               < command
	index, store                             < cmd/placectl/internal/demo
	internal/text, cmd/placectl/internal/output < cmd/placectl/internal/demo
	internal/text              < cmd/placectl/internal/launch
	index, store                             < cmd/placectl/internal/runner
	internal/text, cmd/placectl/internal/launch < cmd/placectl/internal/runner
	cmd/placectl/internal/runner             < command
	index/devices, store, cmd/placectl/internal/exit, cmd/placectl/internal/launch, cmd/placectl/internal/runner < cmd/placectl/internal/remote
	cmd/placectl/internal/remote             < command
	store, internal/text, cmd/placectl/internal/launch < cmd/placectl/internal/hook
	cmd/placectl/internal/hook               < command
	index, index/devices, placer, store, cmd/placectl/internal/runner < cmd/placectl/internal/dispatch
	cmd/placectl/internal/dispatch           < command, cmd/placectl/internal/remote
	cmd/placectl/internal/usage              < command
	cmd/placectl/internal/joblog             < command, cmd/placectl/internal/runner
	cmd/placectl/internal/output, cmd/placectl/internal/launch < cmd/placectl/internal/keyed
	cmd/placectl/internal/keyed              < command
	cmd/placectl/internal/bytejson           < command, cmd/placectl/internal/attend, cmd/placectl/internal/fronts/pbs, cmd/placectl/internal/fronts/slurm, cmd/placectl/internal/hook, cmd/placectl/internal/infile, cmd/placectl/internal/keyed, cmd/placectl/internal/launch, cmd/placectl/internal/mcp, cmd/placectl/internal/listing, cmd/placectl/internal/output, cmd/placectl/internal/remote, cmd/placectl/internal/runner, cmd/placectl/internal/sqlshell, cmd/placectl/internal/told
	index, internal/text, cmd/placectl/internal/usage, cmd/placectl/internal/directives, store < cmd/placectl/internal/payload
	cmd/placectl/internal/payload            < command
	cmd/placectl/internal/launch, store      < cmd/placectl/internal/people
	cmd/placectl/internal/people, cmd/placectl/internal/signing < command
	cmd/placectl/internal/usage, internal/text, cmd/placectl/internal/output, cmd/placectl/internal/infile < cmd/placectl/internal/exit
	cmd/placectl/internal/launch, index, placer, query, locality, store < cmd/placectl/internal/exit
	cmd/placectl/internal/exit, cmd/placectl/internal/process < command
	cmd/placectl/internal/usage, internal/text, cmd/placectl/internal/output, cmd/placectl/internal/exit < cmd/placectl/internal/verbs
	index, store                             < cmd/placectl/internal/verbs
	cmd/placectl/internal/verbs              < command
	index, placer, placer/backfill, placer/backfill/swf, placer/cluster, placer/fairshare, placer/preempt < cmd/placectl/internal/simulate
	cmd/placectl/internal/usage, internal/text, cmd/placectl/internal/output, cmd/placectl/internal/infile < cmd/placectl/internal/simulate
	cmd/placectl/internal/nodefile          < cmd/placectl/internal/simulate
	cmd/placectl/internal/sharefile          < cmd/placectl/internal/simulate
	cmd/placectl/internal/simulate           < command
	cmd/placectl/internal/outname            < cmd/placectl/internal/payload, cmd/placectl/internal/runner, cmd/placectl/internal/verb/run, cmd/placectl/internal/directives, cmd/placectl/internal/fronts/slurm
	store                                    < cmd/placectl/internal/inlogs
	cmd/placectl/internal/inlogs             < command
	placer, internal/text, cmd/placectl/internal/usage, cmd/placectl/internal/verbs < cmd/placectl/internal/request
	cmd/placectl/internal/directives, cmd/placectl/internal/payload < cmd/placectl/internal/request
	cmd/placectl/internal/request            < command
	placer, store, cmd/placectl/internal/launch, cmd/placectl/internal/listing, internal/text < cmd/placectl/internal/localorder
	cmd/placectl/internal/localorder         < command
	store, cmd/placectl/internal/exit, cmd/placectl/internal/launch, cmd/placectl/internal/usage, cmd/placectl/internal/verbs < cmd/placectl/internal/forward
	cmd/placectl/internal/forward            < command
	locality, internal/text, cmd/placectl/internal/usage, cmd/placectl/internal/infile     < cmd/placectl/internal/batchfile
	index, locality, store, cmd/placectl/internal/output, cmd/placectl/internal/nodefile, cmd/placectl/internal/payload < cmd/placectl/internal/listing
	cmd/placectl/internal/batchfile, cmd/placectl/internal/listing                     < command
	index, query, cmd/placectl/internal/output, internal/text, cmd/placectl/internal/usage, cmd/placectl/internal/verbs < cmd/placectl/internal/sqlshell
	store, internal/text, cmd/placectl/internal/usage                  < cmd/placectl/internal/jobref
	internal/text                                  < cmd/placectl/internal/outfile
	cmd/placectl/internal/sqlshell, cmd/placectl/internal/jobref, cmd/placectl/internal/outfile          < command
	cmd/placectl/internal/directives, internal/text < cmd/placectl/internal/fronts
	cmd/placectl/internal/fronts, cmd/placectl/internal/directives, internal/text, index < cmd/placectl/internal/fronts/pbs, cmd/placectl/internal/fronts/slurm
	cmd/placectl/internal/fronts, cmd/placectl/internal/payload, internal/text < cmd/placectl/internal/fronts/rows
	index, placer, store                     < cmd/placectl/internal/fronts/rows
	cmd/placectl/internal/fronts, cmd/placectl/internal/fronts/pbs, cmd/placectl/internal/fronts/slurm, cmd/placectl/internal/fronts/rows < command
	cmd/placectl/internal/attend             < command
	index, store, cmd/placectl/internal/output, internal/text, cmd/placectl/internal/listing < cmd/placectl/internal/daily
	cmd/placectl/internal/listing < cmd/placectl/internal/explain
	cmd/placectl/internal/mcp                      < command
	cmd/placectl/internal/fullscreen         < command, cmd/placectl/internal/daily
	internal/text              < cmd/placectl/internal/trends
	cmd/placectl/internal/trends             < cmd/placectl/internal/report, cmd/placectl/internal/daily, cmd/placectl/internal/simulate, command
	cmd/placectl/internal/report             < cmd/placectl/internal/daily, cmd/placectl/internal/simulate, command
	cmd/placectl/internal/daily              < command
	store                                    < cmd/placectl/internal/metrics
	cmd/placectl/internal/metrics            < command
	bench/oracle, bench/members, query/tables < bench
	cmd/placectl/internal/session            < family, cmd/placectl
	family, cmd/placectl/internal/exit, cmd/placectl/internal/people, cmd/placectl/internal/process, cmd/placectl/internal/verbs, store < cmd/placectl
	cmd/placectl/internal/verb/queue, cmd/placectl/internal/verb/run < cmd/placectl/internal/verb/front
`

// storeLayers are the packages below store that work on its transactions. Each may import those before
// it.
var storeLayers = []string{"kernel", "access", "booking", "jobs", "cycle", "batch", "cluster", "ask", "tables", "check",
	"recovery"}

// confined are external imports that only one package may have.
var confined = map[string][]string{
	"go.etcd.io/bbolt": {"store/internal/file", "bench/whole/floor"},
	"net":              {"store/internal/etcd", "bench"}, // it would link the program to the C library
	"net/http":         {"store/internal/etcd"},
	"os/exec":          {"cmd/placectl/internal/launch", "bench"},
	"github.com/urfave/cli/v2": {"cmd/placectl/internal/verbs", "cmd/placectl/internal/request",
		"cmd/placectl/internal/session", "cmd/placectl/internal/verb", "bench/whole/floor"},
	"github.com/teambition/rrule-go": {"placer/recur"},
}

// pure packages do not know files and clocks.
var pure = []string{"index", "index/heap", "index/devices", "timeline", "placer", "placer/fairshare", "placer/preempt",
	"placer/recur", "placer/backfill", "placer/backfill/swf", "placer/forecast", "placer/forecast/backtest",
	"placer/limits", "placer/priority", "placer/priorityf", "placer/syntax", "placer/syntax/syntaxtest", "placer/cycle",
	"placer/cluster", "locality", "query", "query/fault", "query/values", "query/syntax", "query/tables",
	"query/internal/dates", "query/internal/functions", "query/internal/plan", "query/internal/exec",
	"store/internal/row", "store/internal/ledger", "cmd/placectl/internal/bytejson", "internal/attribute",
	"internal/text", "cmd/placectl/internal/infile", "cmd/placectl/internal/nodefile",
	"cmd/placectl/internal/chart", "cmd/placectl/internal/sharefile", "cmd/placectl/internal/directives",
	"cmd/placectl/internal/usage", "cmd/placectl/internal/simulate",
	"cmd/placectl/internal/batchfile", "cmd/placectl/internal/outname", "cmd/placectl/internal/trends",
	"cmd/placectl/internal/report", "cmd/placectl/internal/fronts", "cmd/placectl/internal/fronts/pbs",
	"cmd/placectl/internal/fronts/slurm"}

// timed are the pure packages that may import time, with the reasons.
var timed = map[string]string{
	"placer":                             "durations",
	"placer/limits":                      "instants in messages",
	"store/internal/row":                 "a walltime of a request that repeats",
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

func TestImports(t *testing.T) {
	allowed := parseImportRules(importRules)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") ||
			strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(filepath.ToSlash(pkg), imported, allowed); why != "" {
				t.Errorf("%s imports %s: %s", path, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parseImportRules(text string) map[string][]string {
	allowed := make(map[string][]string)
	families, _ := filepath.Glob("internal/verb/*")
	for i, path := range families {
		families[i] = "cmd/placectl/" + filepath.ToSlash(path)
	}
	layers := slices.Clone(storeLayers)
	for i, name := range layers {
		layers[i] = "store/internal/" + name
	}
	layers = append(layers, "store")
	for i, name := range layers {
		allowed[name] = append(allowed[name], layers[:i]...)
	}
	several := map[string][]string{"family": families, "layer": layers,
		"command": append([]string{"cmd/placectl/internal/session"}, families...)}
	each := func(list string) (names []string) {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			if more := several[name]; more != nil {
				names = append(names, more...)
			} else {
				names = append(names, name)
			}
		}
		return names
	}
	for line := range strings.Lines(text) {
		low, high, ok := strings.Cut(line, "<")
		if !ok {
			continue
		}
		for _, importer := range each(high) {
			allowed[importer] = append(allowed[importer], each(low)...)
		}
	}
	return allowed
}

// forbidden says why a package may not import another, "" if it may.
func forbidden(pkg, imported string, allowed map[string][]string) string {
	if strings.HasPrefix(pkg, "bench/") && pkg != "bench/whole/floor" { // that has no rules but its own
		pkg = "bench"
	}
	if ours, ok := strings.CutPrefix(imported, module); ok {
		if !slices.Contains(allowed[pkg], ours) {
			return "no rule allows it"
		}
		return ""
	}
	room := pkg
	if strings.HasPrefix(pkg, "cmd/placectl/internal/verb/") {
		room = "cmd/placectl/internal/verb"
	}
	if owners := confined[imported]; owners != nil && !slices.Contains(owners, room) {
		return "only " + strings.Join(owners, ", ") + " may"
	}
	if slices.Contains(pure, pkg) && slices.Contains([]string{"os", "net", "time", "io/fs", "syscall", "math/rand",
		"math/rand/v2"}, imported) {
		if imported == "time" && timed[pkg] != "" {
			return ""
		}
		return "pure packages know nothing of files and clocks"
	}
	return ""
}

// TestJSONKeepsBytes: only package bytejson writes JSON, because encoding/json replaces bytes that are not
// UTF-8. They may be replaced in what a page shows.
func TestJSONKeepsBytes(t *testing.T) {
	calls := regexp.MustCompile(`\bjson\.(Marshal|MarshalIndent|NewEncoder)\(`)
	may := []string{"internal/bytejson/bytejson.go", "internal/report/page.go"}
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
