// Command count counts what .ci/ceilings holds, and fails above a ceiling. Run it in the root:
//
//	go run ./.ci/count        # compares; -write lowers the ceilings to what is counted
//
// Code lines are lines with a token of Go that is no comment, in files of git that are no tests. Dense lines
// are no gain: a line has at most 120 columns (a tab counts 4), unless a text in backquotes stands in it.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"go.etcd.io/bbolt"
)

const (
	ceilings = ".ci/ceilings"
	columns  = 120
)

// rooms are the parts of the repository whose code lines are counted apart, by the folders they begin with. The
// modules for tools and benches count with bench.
var rooms = []struct {
	name    string
	folders []string
}{
	{"store", []string{"store/", "internal/"}},
	{"cmd", []string{"cmd/"}},
	{"placer", []string{"placer/"}},
	{"query", []string{"query/"}},
	{"timeline", []string{"timeline/"}},
	{"index", []string{"index/"}},
	{"locality", []string{"locality/"}},
	{"bench", []string{"bench/"}},
}

// telltales are turns of phrase that a colleague would not use.
var telltales = regexp.MustCompile(`(?i)\b(is|are|was) to (be|have)\b|\bnobody\b|\bsomebody\b|\bwhat there is\b` +
	`|\bin vain\b|\bof (whom|which)\b|\bwho(ever)? (has|is|comes|asks|reads|waits)\b`)

// A count is one number that has a ceiling.
type count struct {
	name string
	is   int
}

func main() {
	log.SetFlags(0)
	write := flag.Bool("write", false, "lower the ceilings to what is counted")
	flag.Parse()
	counts, long, err := all()
	if err != nil {
		log.Fatal(err)
	}
	allowed, err := readCeilings()
	if err != nil {
		log.Fatal(err)
	}
	failed := len(long) > 0
	for _, l := range long {
		fmt.Println(l)
	}
	var kept strings.Builder
	for _, c := range counts {
		most, ok := allowed[c.name]
		switch {
		case !ok && !*write:
			fmt.Printf("%-20s %7d  has no ceiling in %s\n", c.name, c.is, ceilings)
			failed = true
		case ok && c.is > most:
			fmt.Printf("%-20s %7d  at most %d\n", c.name, c.is, most)
			failed = true
		case ok && c.is < most:
			fmt.Printf("%-20s %7d  lower its ceiling, %d\n", c.name, c.is, most)
		default:
			fmt.Printf("%-20s %7d\n", c.name, c.is)
		}
		if ok {
			c.is = min(c.is, most)
		}
		fmt.Fprintf(&kept, "%s %d\n", c.name, c.is)
		delete(allowed, c.name)
	}
	for name := range allowed {
		fmt.Printf("%s: nothing is counted by this name of %s\n", name, ceilings)
		failed = failed || !*write
	}
	if *write {
		if err := os.WriteFile(ceilings, []byte(kept.String()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// readCeilings are the largest numbers that are allowed, by name.
func readCeilings() (map[string]int, error) {
	text, err := os.ReadFile(ceilings)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	of := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no name and number", ceilings, strings.TrimSpace(line))
		}
		of[name] = n
	}
	return of, nil
}

// all counts everything, and lists the lines of Go that are too long.
func all() ([]count, []string, error) {
	files, err := lines("git", "ls-files", "*.go", "*.md")
	if err != nil {
		return nil, nil, err
	}
	var (
		lines, tales int
		long         []string
		by, tests    = map[string]int{}, map[string]int{}
		folders      = map[string]bool{}
		names        = map[string]bool{}
	)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) { // it is deleted, and the commit is not made yet
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		tales += len(telltales.FindAll(text, -1))
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		n, over, err := measure(text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, at := range over {
			long = append(long, fmt.Sprintf("%s:%d: more than %d columns", name, at, columns))
		}
		if strings.HasSuffix(name, "_test.go") {
			tests[roomOf(name)] += n
			continue
		}
		if strings.HasPrefix(name, "etcd/") {
			continue
		}
		lines += n
		by[roomOf(name)] += n
		if strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, ".ci/") {
			continue
		}
		folders[path.Dir(name)] = true
		if isPublic(name) {
			if err := exported(names, name, text); err != nil {
				return nil, nil, err
			}
		}
	}
	counts := []count{{"all", lines}}
	fmt.Print("code lines of tests:")
	for _, r := range rooms {
		counts = append(counts, count{r.name, by[r.name]})
		fmt.Printf(" %s %d", r.name, tests[r.name])
	}
	fmt.Println()
	counts = append(counts, count{"folders", len(folders)}, count{"exported", len(names)}, count{"telltales", tales})
	surface, err := surface()
	return append(counts, surface...), long, err
}

// roomOf is the room that a file counts in; "" is none.
func roomOf(name string) string {
	for _, r := range rooms {
		if slices.ContainsFunc(r.folders, func(f string) bool { return strings.HasPrefix(name, f) }) {
			return r.name
		}
	}
	return ""
}

// isPublic reports whether a program of others may import the folder of the file.
func isPublic(name string) bool {
	dir := "/" + path.Dir(name) + "/"
	return !strings.Contains(dir, "/internal/") && !strings.HasPrefix(dir, "/cmd/")
}

// measure counts the code lines of a file of Go, and lists the lines that are too long.
func measure(text []byte) (code int, over []int, err error) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(at token.Position, why string) { err = fmt.Errorf("%d: %s", at.Line, why) }, 0)
	on, quoted := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for line := first; line <= first+strings.Count(lit, "\n"); line++ {
			on[line] = true
			quoted[line] = quoted[line] || strings.HasPrefix(lit, "`")
		}
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSuffix(line, []byte("\n"))
		if utf8.RuneCount(line)+3*bytes.Count(line, []byte("\t")) > columns && !quoted[number] {
			over = append(over, number)
		}
	}
	return len(on), over, err
}

// exported adds the exported names of a file: types, functions, values, methods of exported types, and fields of
// exported structs.
func exported(names map[string]bool, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	add := func(of string, idents ...*ast.Ident) {
		for _, id := range idents {
			if id.IsExported() {
				names[path.Dir(name)+" "+of+id.Name] = true
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add("", d.Name)
			} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) {
				add(of+".", d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add("", s.Names...)
				case *ast.TypeSpec:
					add("", s.Name)
					if body, ok := s.Type.(*ast.StructType); ok && s.Name.IsExported() {
						for _, f := range body.Fields.List {
							add(s.Name.Name+".", f.Names...)
						}
					}
				}
			}
		}
	}
	return nil
}

// receiver is the name of the type that a method belongs to.
func receiver(of ast.Expr) string {
	for {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.IndexListExpr:
			of = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

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
			_, err := tx.Jobs().Place(placer.Request{Select: os.Args[2]})
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
	run("go", "build", "-ldflags=-s -w", "-o", program, "./cmd/placectl")
	run("go", "build", "-ldflags=-s -w", "-o", embeds, dir+"/main.go")
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

// lines are the lines that a command prints.
func lines(name string, args ...string) ([]string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	var all []string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all, nil
}
