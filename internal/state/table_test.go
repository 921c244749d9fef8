package state

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// tables are those that no other code writes, by their names in the source: rows from which
// others follow, and those others. What is counted is in a package of its own.
var tables = map[row.Table]string{row.Jobs: "Jobs", row.Attempts: "Attempts", row.Reservations: "Reservations",
	row.Answers: "Answers", row.Hosts: "Hosts",
	row.BatchRanges: "BatchRanges", row.JobStates: "JobStates", row.JobKinds: "JobKinds", row.Ended: "Ended",
	row.Waiting: "Waiting", row.Claimed: "Claimed",
	row.Launches: "Launches", row.ReservationIDs: "ReservationIDs", row.Access: "Access", row.AnswerDues: "AnswerDues",
	row.HostNames:    "HostNames",
	row.BatchLongest: "BatchLongest", row.JobCounts: "JobCounts", row.LimitSums: "LimitSums", row.Lots: "Lots"}

var keepers = map[string]string{"JobCounts": "usage", "LimitSums": "nodes", "Lots": "usage"}

// declared verifies that the tables of declarations are among them.
func declared[T any](t *testing.T, of *row.Stored[T]) {
	list := []row.Table{of.Table}
	for _, ix := range of.Indexes {
		list = append(list, ix.Table)
	}
	for _, c := range of.Counts {
		list = append(list, c.Table)
	}
	for _, table := range list {
		if tables[table] == "" {
			t.Errorf("table %s has declarations, and has no name here", table)
		}
	}
}

// TestFollows: the one function that puts rows also changes what follows from them. No other
// code writes such a table, or rows that have declarations.
func TestFollows(t *testing.T) {
	declared(t, &row.JobRows)
	declared(t, &row.AttemptRows)
	declared(t, &row.ReservationRows)
	declared(t, &row.AnswerRows)
	declared(t, &row.HostRows)
	declared(t, &row.RangeRows)
	kept := make(map[string]string)
	for _, name := range tables {
		kept[name] = keepers[name]
	}
	writes := map[string]bool{"Put": true, "Mark": true, "Remove": true, "PutOrRemove": true, "RemoveAll": true,
		"Clear": true}
	count := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		dir := filepath.Base(filepath.Dir(path))
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			dir == "check" || dir == "state" {
			return err // check makes derived tables again
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		count++
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fn, isMethod := call.Fun.(*ast.SelectorExpr)
			table, isTable := call.Args[0].(*ast.SelectorExpr)
			if !isMethod || !isTable || !writes[fn.Sel.Name] {
				return true
			}
			if keeper, known := kept[table.Sel.Name]; known && keeper != dir {
				t.Errorf("%s: %s(row.%s): state.Table puts these", path, fn.Sel.Name, table.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || count < 100 {
		t.Fatal(count, err)
	}
}
