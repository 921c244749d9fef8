package engine

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// writers lists the files that may assign to a field of a row, or take its address, or call a method
// of the table of a kind of rows. The first ones are the machines', the last ones have the lists of fields.
var writers = map[string][]string{
	"Job.State": {"jobs/machine.go",
		"recovery/mend.go", // rows of a damaged file, outside a transaction
		"queue/launch.go",  // a row of stops, reported as the job is now
		"row/job.go"},
	"Job.Ending": {"jobs/machine.go",
		"jobs/attempt.go", // the machine ends an attempt
		"recovery/mend.go", "row/job.go"},
	"Job.End": {"jobs/machine.go",
		"jobs/ending.go",                         // the change of a step
		"plan/place.go",                          // the machine carries out a plan
		"row/job_state.go",                       // the machine takes a job off its nodes
		"queue/preempt_stop.go",                  // a trial, which is taken back
		"queue/claims.go", "kernel/resources.go", // of a copy
		"queue/launch.go", "row/job.go"},
	"Reservation.Start":  {"row/reservation.go"},
	"Reservation.End":    {"row/reservation.go"},
	"Reservation.Put":    {"plan/machine.go"},
	"Reservation.Remove": {"plan/machine.go"},
}

// TestOneMachine: only one function changes the state of a job, and one that of a reservation. The
// state of a reservation follows from its instants, so these never change.
func TestOneMachine(t *testing.T) {
	t.Parallel()
	listed, err := exec.Command("go", "list", "-export", "-deps", "-f",
		`{{.ImportPath}}	{{.Export}}	{{.Dir}}	{{join .GoFiles " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	var ours [][]string
	for line := range strings.Lines(string(listed)) {
		p := strings.Split(strings.TrimSpace(line), "\t")
		exports[p[0]] = p[1]
		if strings.Contains(p[0], "placectl/store") || strings.Contains(p[0], "placectl/internal/") {
			ours = append(ours, p)
		}
	}
	fset, found := token.NewFileSet(), make(map[string]bool)
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	for _, p := range ours {
		var files []*ast.File
		for _, name := range strings.Fields(p[3]) {
			f, err := parser.ParseFile(fset, filepath.Join(p[2], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Selections: make(map[*ast.SelectorExpr]*types.Selection)}
		if _, err := config.Check(p[0], fset, files, info); err != nil {
			t.Fatal(err)
		}
		written := func(e ast.Expr) {
			s, _ := e.(*ast.SelectorExpr)
			of := info.Selections[s]
			for name, files := range writers {
				if of == nil || !isOf(of, name) {
					continue
				}
				at := fset.Position(e.Pos())
				file := filepath.Base(filepath.Dir(at.Filename)) + "/" + filepath.Base(at.Filename)
				if found[name+" "+file] = true; !slices.Contains(files, file) {
					t.Errorf("%s: %s changes beside the machine", at, name)
				}
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						written(to)
					}
				case *ast.IncDecStmt:
					written(n.X)
				case *ast.UnaryExpr: // what has its address may change it
					if n.Op == token.AND {
						written(n.X)
					}
				case *ast.CallExpr:
					written(n.Fun)
				}
				return true
			})
		}
	}
	for name, files := range writers {
		for _, file := range files {
			if !found[name+" "+file] {
				t.Errorf("%s does not change %s, and need not be listed", file, name)
			}
		}
	}
}

// isOf reports whether a selection is of a field of a row, or of a method of its table, such as
// Job.State or Reservation.Put.
func isOf(s *types.Selection, name string) bool {
	kind, name, _ := strings.Cut(name, ".")
	if s.Obj().Name() != name {
		return false
	}
	if s.Kind() != types.FieldVal {
		return strings.HasSuffix(s.Recv().String(), "state.Table[github.com/placectl/placectl/internal/row."+kind+
			"]")
	}
	pkg := s.Obj().Pkg()
	if !strings.HasSuffix(pkg.Path(), "/row") {
		return false
	}
	field, _, _ := types.LookupFieldOrMethod(pkg.Scope().Lookup(kind).Type(), true, pkg, name)
	v, ok := field.(*types.Var)
	return ok && v.Origin() == s.Obj().(*types.Var).Origin()
}

// TestReservationSteps: each step that is not listed is refused, and each listed one that does not
// begin where the reservation is.
func TestReservationSteps(t *testing.T) {
	s := newMachineStory(t)
	s.do(func(tx *Tx) error {
		_, err := tx.Reservations().ReserveNodes("r", []uint32{0}, tx.Now(), tx.Now().Add(time.Hour))
		if err != nil {
			return err
		}
		r, err := tx.k.Reservations().Named("r")
		if err != nil {
			return err
		}
		states := []string{"", row.ReservationPlanned, row.ReservationActive, row.ReservationEnded,
			row.ReservationRemoved}
		for cause := plan.Made; cause <= plan.Forgotten; cause++ {
			for _, from := range states {
				for _, to := range states {
					step := plan.Step{Cause: cause, From: from, To: to}
					if (to == row.ReservationActive || from+to == row.ReservationActive+row.ReservationRemoved) &&
						slices.Contains(plan.Steps, step) {
						continue // the reservation is active
					}
					if err := (plan.Booking{Tx: tx.k, Reservation: r}).Do(step); !errors.Is(err, ErrDamaged) {
						t.Errorf("%+v of an active reservation: %v", step, err)
					}
				}
			}
		}
		return nil
	})
}
