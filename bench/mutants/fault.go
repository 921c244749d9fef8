package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// fault is a small change that makes the program wrong.
type fault struct {
	name     string
	file     string // the file to change
	old, new string // whole lines, without their indentation
	packages []string
	tests    string // a regular expression for their names
}

// parse parses a list of faults:
//
//	== index: a node that ended is not free again
//	file index/bucket.go
//	- free.Add(n)
//	+ free.Add(n + 1)
//	test ./index ./store TestLife|TestModel
//
// Lines may be indented. # begins a comment. A fault without + lines removes lines.
func parse(text string) ([]fault, error) {
	var faults []fault
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, rest, _ := strings.Cut(line, " ")
		if key == "==" {
			faults = append(faults, fault{name: rest})
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(faults) == 0 {
			return nil, fmt.Errorf("%d: a fault begins with == NAME", n+1)
		}
		f := &faults[len(faults)-1]
		rest = strings.TrimSpace(rest)
		switch key {
		case "file":
			f.file = rest
		case "-":
			f.old += rest + "\n"
		case "+":
			f.new += rest + "\n"
		case "test":
			words := strings.Fields(rest)
			if len(words) < 2 {
				return nil, fmt.Errorf("%d: test wants packages and a regular expression", n+1)
			}
			f.packages, f.tests = words[:len(words)-1], words[len(words)-1]
		default:
			return nil, fmt.Errorf("%d: %q is not one of ==, file, -, +, test", n+1, key)
		}
	}
	for _, f := range faults {
		if f.file == "" || f.old == "" || f.packages == nil {
			return nil, fmt.Errorf(" %s: file, - and test have to be there", f.name)
		}
	}
	return faults, nil
}

// source returns the text of the fault's file with the fault in it. The lines that it changes must occur
// exactly once.
func (f fault) source() (string, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(text), "\n")
	want := strings.SplitAfter(f.old, "\n")
	want = want[:len(want)-1]
	at := -1
	for i := 0; i+len(want) <= len(lines); i++ {
		if !same(lines[i:i+len(want)], want) {
			continue
		}
		if at >= 0 {
			return "", fmt.Errorf("%s has its lines twice: in %d and %d", f.file, at+1, i+1)
		}
		at = i
	}
	if at < 0 {
		return "", fmt.Errorf("%s has no longer the lines\n%s", f.file, f.old)
	}
	return strings.Join(lines[:at], "") + f.new + strings.Join(lines[at+len(want):], ""), nil
}

func same(lines, want []string) bool {
	for i := range want {
		if strings.TrimSpace(lines[i]) != strings.TrimSpace(want[i]) {
			return false
		}
	}
	return true
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// try runs the tests on a source, and returns the first that failed, "" for none.
func (f fault) try(source string, seeds int) (noticed string, err error) {
	dir, err := os.MkdirTemp("", "placectl-mutant-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := f.overlay(dir, source)
	if err != nil {
		return "", err
	}
	for seed := 1; seed <= seeds; seed++ {
		args := append([]string{"test", "-count=1", "-failfast", "-timeout", "5m", "-overlay", overlay, "-run",
			f.tests}, f.packages...)
		c := exec.Command("go", args...)
		if strings.HasPrefix(f.file, "etcd/") { // a module of its own, and one package
			c.Dir = "etcd"
		}
		c.Env = append(os.Environ(), fmt.Sprintf("RAPID_SEED=%d", seed), "RAPID_NOFAILFILE=true")
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		switch m := failed.FindSubmatch(out); {
		case err == nil:
		case !errors.As(err, &exit):
			return "", err
		case m != nil:
			return string(m[1]), nil
		case strings.Contains(string(out), "panic: ") || strings.Contains(string(out), "fatal error: "):
			return "a crash", nil
		default:
			return "", fmt.Errorf("its tests cannot be run:\n%s", out)
		}
	}
	return "", nil
}

// overlay writes the source, and the file that makes go test read it.
func (f fault) overlay(dir, source string) (string, error) {
	original, err := filepath.Abs(f.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(f.file))
	if err := os.WriteFile(changed, []byte(source), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}
