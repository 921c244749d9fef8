// Command count counts what .ci/ceilings holds, and fails above a ceiling. Run it in the root:
//
//	go run ./.ci/count        # compares; -write lowers the ceilings to what is counted
//
// Code lines are lines with a token of Go that is no comment, in files that git has or would take and that are no
// tests. Dense lines are no gain: a line has at most 120 columns (a tab counts 4), unless a text in backquotes stands
// in it.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	{"store", []string{"store/", "internal/", "runner/"}},
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
	files, err := lines("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go", "*.md")
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
