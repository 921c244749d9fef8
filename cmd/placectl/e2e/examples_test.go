package e2e

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/text"
)

// example is a piece of shell to paste, with its position.
type example struct {
	where, script string
	mention       bool // within a sentence, where arguments may be missing
}

// examples returns all examples of help and the pages.
func examples(t *testing.T) []example {
	t.Helper()
	var all []example
	r := newCapture().runner()
	var ofVerb func(path string, v *session.Verb)
	ofVerb = func(path string, v *session.Verb) {
		all = append(all, example{"help " + path, v.Example, false},
			example{"help " + path, quotedCommands(v.Description), true})
		for _, sub := range v.Verbs {
			ofVerb(path+" "+sub.Name, sub)
		}
	}
	for _, e := range r.Verbs {
		ofVerb(e.Name, e.Verb())
	}
	pages, err := filepath.Glob("../../../docs/*")
	if err != nil || len(pages) < 3 {
		t.Fatalf("only these pages were found: %v, %v", pages, err)
	}
	for _, page := range append(pages, "../../../README.md", "../../../bench/README.md", "../../../docs/hooks/mail") {
		if is, err := os.Stat(page); err == nil && is.IsDir() {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(page) == ".md" {
			all = append(all, example{page, markdownCode(string(text)), false},
				example{page, quotedCommands(string(text)), true})
		} else {
			all = append(all, example{page, string(text), false})
		}
	}
	slices.SortStableFunc(all, func(a, b example) int { // examples to run come before mere mentions
		switch {
		case a.mention == b.mention:
			return 0
		case b.mention:
			return -1
		}
		return 1
	})
	return all
}

// markdownCode returns the code in fences or indented by four, except for Python.
func markdownCode(page string) string {
	var b strings.Builder
	fence, python := false, false
	for line := range strings.Lines(page) {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fence, python = !fence, strings.TrimSpace(line) == "```python"
		case fence && python:
		case fence:
			b.WriteString(line)
		case indented:
			b.WriteString(code)
		}
	}
	return b.String()
}

var backquoted = regexp.MustCompile("`(placectl [^`]+)`")

// quotedCommands returns the calls in a text's backquotes, except for those with VERB in place of a verb.
func quotedCommands(text string) string {
	var b strings.Builder
	for _, m := range backquoted.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "VERB") {
			b.WriteString(strings.Join(strings.Fields(m[1]), " ") + "\n")
		}
	}
	return b.String()
}

// waiting are words of calls that would wait for long, or that need programs which the test lacks. Those
// calls are only parsed.
var waiting = []string{"wait", "run", "demo", "shell", "--wait", "--follow", "logs"}

// elsewhere reports whether a word of a call names what exists only on other machines: a database in
// etcd, a group of users.
func elsewhere(word string) bool { return strings.Contains(word, "://") || word == "lab" }

// TestExamples: the command accepts every example. Its verbs and flags exist, its values are valid, and in
// a database with some content it is no wrong usage.
func TestExamples(t *testing.T) {
	program, template := commandPath(t), exampleDB(t)
	seen := map[string]bool{}
	for _, ex := range examples(t) {
		for _, args := range placectlCommands(ex.script) {
			line := text.JoinWords(args)
			if seen[line] {
				continue
			}
			seen[line] = true
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				if _, err := newCapture().runner().Verbs.Parse(args); err != nil {
					t.Fatalf("%s: placectl %s: %v", ex.where, line, err)
				}
				staysUp := slices.Contains(args, "work") && !slices.Contains(args, "--once")
				if ex.mention || staysUp || slices.ContainsFunc(args, func(w string) bool {
					return slices.Contains(waiting, w) || elsewhere(w)
				}) {
					return
				}
				runExample(t, program, template, args)
			})
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d examples were found", len(seen))
	}
}

// exampleDB makes a folder with a database and the files that examples name.
func exampleDB(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"nodes.csv":     "name,ncpus,mem,color\nm1,8,64gb,red\n",
		"inventory.csv": "name,ncpus,mem\nm2,8,64\n",
		"files.csv":     "name,size\nf1,100\nf2,100\n",
		"jobs.csv":      "first,last\nf1,f2\n",
		"launch":        "#!/bin/sh\n",
		"train.sh":      "#!/bin/sh\n./train\n",
		"fit.sh":        "#!/bin/sh\n#placectl -t 10m\n",
		"job.sh":        "#!/bin/sh\n#SBATCH -n 2\n",
		"1/bin/launch":  "#!/bin/sh\n",
		"srv/launch":    "#!/bin/sh\n",
		"cluster.csv":   "name,ncpus,mem\nm1,8,64gb\n",
		"images.txt":    "a\nb\n",
		"colours.csv":   "sky,blue\ngrass,green\n",
		"trace.swf":     "; MaxProcs: 8\n1 0 0 60 2 -1 -1 2 60 -1 1 1 1 1 1 -1 -1 -1\n",
	}
	for name, said := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(said), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"init --any-time --resource color=string --resource rack=string --resource switch=string --resource " +
			"licences=long,consumable",
		"queue add fast", "queue add slow",
		"node add n[01-40],n[001-128],n7,a1,b1 ncpus=8 mem=32gb ngpus=1 color=red features=ssd|ib",
		"node add f[1-4] ncpus=8 queue=fast",
		"class set research=60 teaching=40 tests=20 biology=10 physics=5",
		"place 1:ncpus=1 --place excl", "place 1:ncpus=1 -t 2h", "submit 1 --array 3", "submit 1 --hold",
		"reserve maintenance --nodes n01 --start now+9d -t 4h",
		"batch create night --files files.csv --jobs jobs.csv",
	} {
		words, err := text.SplitWords(line)
		if err != nil {
			t.Fatal(err)
		}
		c := newCapture(words...)
		for i, w := range c.Args {
			if strings.HasSuffix(w, ".csv") {
				c.Args[i] = filepath.Join(dir, w)
			}
		}
		c.vars["PLACECTL_DB"] = filepath.Join(dir, "placectl.db")
		if code := c.run(); code != exit.OK {
			t.Fatalf("%s: status %d, %s", line, code, c.err.String())
		}
	}
	return dir
}

// exampleInput is what examples read from a pipe, by verb.
var exampleInput = map[string]string{
	"node import":  "NodeName=n9 CPUTot=4 State=IDLE\n",
	"node load":    "n01 0.5\n",
	"--db copy.db": `{"placectl":"dump","format":11}` + "\n" + `{"rows":0}` + "\n",
	"class plan":   `{"total_workers":10,"classes":[{"name":"a","load_pct":100,"running":2,"waiting":9}]}`,
}

// runExample runs a call in a copy of a folder.
func runExample(t *testing.T, program, template string, args []string) {
	dir := t.TempDir()
	copyDatabase(t, dir, template)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	for i, w := range cmd.Args {
		cmd.Args[i] = strings.Replace(w, "/srv/", "srv/", 1)
	}
	cmd.Stdin = strings.NewReader(exampleInput[strings.Join(args[:min(2, len(args))], " ")])
	cmd.Env = []string{"HOME=" + dir, "PATH=" + dir, "USER=ann", testUser + "=ann", "TZ=UTC",
		"PLACECTL_NOW=" + testNow.Add(time.Hour).Format(time.RFC3339)}
	said, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code == exit.Usage || code < 0 {
		t.Errorf("the example is wrong usage, or was killed: status %d: %s", code, said)
	}
}

// TestManualHasExamples: the manual page has every example.
func TestManualHasExamples(t *testing.T) {
	c := newCapture("man")
	if code := c.run(); code != exit.OK {
		t.Fatalf("man: status %d", code)
	}
	page := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~").Replace(
		c.out.String())
	page = strings.ReplaceAll(page, " \\\n      ", " ") // join lines that were broken
	hidden := make(map[string]bool)                     // verbs that only programs call are not in it
	for _, e := range c.runner().Verbs {
		hidden["help "+e.Name] = e.Verb().Hidden
	}
	for _, ex := range examples(t) {
		if !strings.HasPrefix(ex.where, "help ") || hidden[ex.where] {
			continue
		}
		for line := range strings.Lines(ex.script) {
			if strings.HasPrefix(line, "placectl") && !strings.Contains(page, strings.TrimSpace(line)) &&
				!strings.Contains(ex.script, "`") {
				t.Errorf("%s: the manual lacks %s", ex.where, line)
			}
		}
	}
}

// noVerbs are words that follow placectl in messages without being a verb.
var noVerbs = []string{"is", "has", "places", "does", "can", "or", "and", "made", "says", "keeps", "cannot", "gantt",
	"of", "takes", "database", "placectl"}

// TestMessagesNameVerbs: messages that tell what to type name existing verbs.
func TestMessagesNameVerbs(t *testing.T) {
	call := regexp.MustCompile(`placectl ([a-z]+(?:-[a-z]+)*)`)
	var verbs []string
	for _, e := range newCapture().runner().Verbs {
		verbs = append(verbs, e.Name)
	}
	families, err := filepath.Glob("../internal/verb/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(families, ".", "../command", "../internal/session", "../../../store",
		"../../../internal/engine", "../../../placer",
		"../../../query", "../../../locality", "../../../index") {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no Go files in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range call.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(verbs, m[1]) && m[1] != "help" && !slices.Contains(noVerbs, m[1]) {
						t.Errorf("%s: %q names no verb", file, m[0])
					}
				}
				return true
			})
		}
	}
}
