package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
)

// embedding is a small program of others.
const embedding = `package main

import (
	"fmt"
	"os"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

func main() {
	db, err := store.Open(os.Args[1], nil)
	if err == nil {
		err = db.Update(func(tx *store.Tx) error {
			_, err := tx.Place(placer.Request{Select: os.Args[2]})
			return err
		})
	}
	fmt.Println(err)
}
`

var (
	isVerb    = regexp.MustCompile(`^  [a-z-]+ {2,}[a-z]`)
	isFlag    = regexp.MustCompile(`^ {2,6}(-[a-zA-Z], )?--[a-z]`)
	isHeading = regexp.MustCompile(`^[A-Z]`)
)

// surface is what a person holds in the head, asked of the program itself, and what programs weigh.
func surface() ([]count, error) {
	dir, err := os.MkdirTemp("", "count-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, embeds, db := dir+"/placectl", dir+"/embeds", dir+"/a.db"
	if err := os.WriteFile(dir+"/main.go", []byte(embedding), 0o644); err != nil {
		return nil, err
	}
	var failed error
	run := func(name string, args ...string) []string {
		if failed != nil {
			return nil
		}
		all, err := lines(name, args...)
		failed = err
		return all
	}
	// as a release is, so that sizes do not depend on where the tree is
	build := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o"}
	run("go", append(build, program, "./cmd/placectl")...)
	run("go", append(build, embeds, dir+"/main.go")...)
	run(program, "--db", db, "init", "-q")
	verbs, subverbs := 0, 0
	for _, l := range run(program, "help", "--all") {
		if strings.HasPrefix(l, "GLOBAL FLAGS") {
			break
		}
		if !isVerb.MatchString(l) || strings.HasPrefix(l, "  placectl") {
			continue
		}
		verbs++
		within := false
		for _, l := range run(program, "help", strings.Fields(l)[0]) {
			if isHeading.MatchString(l) {
				within = l == "VERBS"
			}
			if within && isVerb.MatchString(l) {
				subverbs++
			}
		}
	}
	flags := 0
	for _, l := range run(program, "help", "--all", "submit") {
		if isFlag.MatchString(l) {
			flags++
		}
	}
	counts := []count{
		{"verbs", verbs}, {"subverbs", subverbs}, {"submit-flags", flags},
		{"settings", len(run(program, "--db", db, "config", "list", "-o", "id"))},
		{"sql-tables", len(run(program, "--db", db, "query", "SELECT DISTINCT name FROM sys_tables", "-o", "id"))},
		{"doc-store", len(run("go", "doc", "./store"))},
		{"packages", len(run("go", "list", "-deps", "./cmd/placectl"))},
		{"exceptions", len(run("cat", ".ci/exceptions"))},
		{"packages-embedded", len(run("go", "list", "-deps", "./store"))},
	}
	if failed != nil {
		return nil, failed
	}
	version := exec.Command(program, "version")
	if err := version.Run(); err != nil {
		return nil, err
	}
	if used, ok := version.ProcessState.SysUsage().(*syscall.Rusage); ok {
		fmt.Printf("page faults of placectl version: %d\n", used.Minflt)
	}
	buckets, err := buckets(db)
	if err != nil {
		return nil, err
	}
	counts = append(counts, count{"buckets", buckets})
	for name, path := range map[string]string{"program-100kB": program, "embedded-100kB": embeds} {
		weight, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		counts = append(counts, count{name, int(weight.Size()+99_999) / 100_000})
	}
	slices.SortFunc(counts, func(a, b count) int { return strings.Compare(a.name, b.name) })
	return counts, nil
}

// buckets is the number of bbolt's buckets in a new database.
func buckets(path string) (n int, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return n, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func([]byte, *bbolt.Bucket) error {
			n++
			return nil
		})
	})
}
