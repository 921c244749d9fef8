package exit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/fault"
)

// sentinels are the declared errors with which a run can end, with their reasons.
var sentinels = map[string]struct {
	err    error
	reason Reason
}{
	"index.ErrCorrupt":       {index.ErrCorrupt, ReasonDamaged},
	"index.ErrNodeList":      {index.ErrNodeList, ReasonInvalid},
	"index.ErrNoResource":    {index.ErrNoResource, ReasonNotFound},
	"index.ErrResource":      {index.ErrResource, ReasonInvalid},
	"index.ErrResourceDup":   {index.ErrResourceDup, ReasonExists},
	"infile.ErrInput":        {infile.ErrInput, ReasonUsage},
	"locality.ErrIdle":       {locality.ErrIdle, ReasonBatchIdle},
	"locality.ErrNotHeld":    {locality.ErrNotHeld, ReasonNotHeld},
	"locality.ErrOver":       {locality.ErrOver, ReasonBatchOver},
	"placer.ErrLimit":        {placer.ErrLimit, ReasonLimit},
	"placer.ErrNever":        {placer.ErrNever, ReasonNever},
	"placer.ErrNotNow":       {placer.ErrNotNow, ReasonNotNow},
	"placer.ErrRequest":      {placer.ErrRequest, ReasonBadRequest},
	"fault.ErrLimit":         {fault.ErrLimit, ReasonLimit},
	"fault.ErrQuery":         {fault.ErrQuery, ReasonBadQuery},
	"engine.ErrBatchIdle":    {engine.ErrBatchIdle, ReasonBatchIdle},
	"engine.ErrBatchOver":    {engine.ErrBatchOver, ReasonBatchOver},
	"engine.ErrClock":        {engine.ErrClock, ReasonClock},
	"engine.ErrCopy":         {engine.ErrCopy, ReasonCopy},
	"engine.ErrConflict":     {engine.ErrConflict, ReasonConflict},
	"engine.ErrDamaged":      {engine.ErrDamaged, ReasonDamaged},
	"engine.ErrExists":       {engine.ErrExists, ReasonExists},
	"engine.ErrInvalid":      {engine.ErrInvalid, ReasonInvalid},
	"engine.ErrLocked":       {engine.ErrLocked, ReasonLocked},
	"engine.ErrNewer":        {engine.ErrNewer, ReasonNewer},
	"engine.ErrNotFound":     {engine.ErrNotFound, ReasonNotFound},
	"engine.ErrNotOurs":      {engine.ErrNotOurs, ReasonNotOurs},
	"engine.ErrNotPermitted": {engine.ErrNotPermitted, ReasonNotPermitted},
	"engine.ErrUnknown":      {engine.ErrUnknown, ReasonUnknown},
	"engine.ErrUnsafe":       {engine.ErrUnsafe, ReasonUnsafe},
}

// inside are sentinels that never end a run.
var inside = map[string]string{
	"backfill.ErrJob":      "simulate counts such jobs",
	"fairshare.ErrState":   "classes are checked when they are set and when a file of them is read",
	"fairshare.ErrSetting": "as ErrState",
	"index.ErrSignature":   "store makes it ErrDamaged",
	"locality.ErrCorrupt":  "store makes it ErrDamaged",
	"locality.ErrInvalid":  "store makes it ErrInvalid",
	"locality.ErrNoJob":    "store makes it ErrNotFound",
	"locality.ErrPolicy":   "store makes it ErrInvalid",
	"placer.ErrAbsent":     "it is placer.ErrNotNow",
	"recur.ErrInvalid":     "store makes it ErrInvalid",
	"engine.ErrAnyTime":    "it is engine.ErrInvalid",
	"engine.ErrClosed":     "no verb uses a handle that it has closed",
	"engine.ErrKey":        "it is engine.ErrConflict",
	"engine.ErrNested":     "no verb begins a transaction inside another one",
	"engine.ErrNoDatabase": "it is engine.ErrNotFound",
	"engine.ErrReadOnly":   "no verb writes in a transaction that reads",
	"timeline.ErrBusy":     "placer and store make it a refusal or ErrDamaged",
	"timeline.ErrNoFit":    "placer makes it a refusal",
	"timeline.ErrRange":    "store checks times before",
	"timeline.ErrSpan":     "store makes it ErrDamaged",
}

// TestReasonOfEverySentinel: every error that a package declares has a reason, or is listed as one that
// never ends a run. So no new one is forgotten.
func TestReasonOfEverySentinel(t *testing.T) {
	declared := map[string]bool{}
	for _, dir := range []string{"index", "timeline", "placer", "placer/backfill", "placer/fairshare", "placer/recur",
		"placer/cycle", "placer/cluster", "query/fault", "locality", "internal/engine",
		"cmd/placectl/internal/infile"} {
		for _, name := range declaredErrors(t, filepath.Join("../../../..", dir)) {
			declared[filepath.Base(dir)+"."+name] = true
		}
	}
	for name := range declared {
		if s, ok := sentinels[name]; ok {
			if _, got := Classify(fmt.Errorf("x: %w", s.err)); got != s.reason {
				t.Errorf("%s: reason %s, want %s", name, got, s.reason)
			}
		} else if inside[name] == "" {
			t.Errorf("%s has neither a reason in the table nor an explanation in this test", name)
		}
	}
	for name := range sentinels {
		if !declared[name] {
			t.Errorf("%s is in this test, but not declared", name)
		}
	}
}

// declaredErrors returns the variables of a package whose names begin with Err.
func declaredErrors(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files: %v", dir, err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") && name.Name != "Err" {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// TestReasonsAreListed: every reason of an error is listed under its status, once, and every listed reason
// can occur.
func TestReasonsAreListed(t *testing.T) {
	type status struct {
		word Reason
		code int
	}
	listed, met := map[status]bool{}, map[status]bool{} // limit is the word for both a query's and a request's
	for _, row := range reasons {
		for _, w := range row.words {
			if listed[status{w, row.code}] || !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(string(w)) {
				t.Errorf("the reason %q occurs twice, or is no word", w)
			}
			listed[status{w, row.code}] = true
		}
	}
	errs := []error{errors.New("anything"), &launch.Error{Name: "x", Err: exec.ErrNotFound},
		&launch.Error{Name: "x", Err: fs.ErrPermission}}
	for _, row := range table {
		errs = append(errs, row.err)
	}
	for _, err := range errs {
		code, w := Classify(err)
		met[status{w, code}] = true
		if !listed[status{w, code}] {
			t.Errorf("%v: status %d, reason %s, which are not listed together", err, code, w)
		}
	}
	for w := range listed {
		if !met[w] {
			t.Errorf("no error has the reason %s with status %d", w.word, w.code)
		}
	}
	var help strings.Builder
	EachReason(func(code int, words string) { fmt.Fprintln(&help, code, words) })
	for _, row := range reasons {
		for _, w := range row.words {
			if !slices.Contains(
				strings.FieldsFunc(help.String(), func(c rune) bool { return strings.ContainsRune(" ,\n", c) }),
				string(w)) {
				t.Errorf("help does not list the reason %s", w)
			}
		}
	}
}

// TestTable: help has the meaning of each status of the table.
func TestTable(t *testing.T) {
	known := map[int]bool{}
	for _, m := range Meanings {
		known[m.Code] = true
	}
	for _, row := range table {
		if !known[row.code] {
			t.Errorf("%v: status %d has no meaning in help", row.err, row.code)
		}
	}
}
