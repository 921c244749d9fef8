package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecturePage: the packages and files named in docs/architecture.md and in the README's table
// exist.
func TestArchitecturePage(t *testing.T) {
	exists := func(path string) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(`\b(?:cmd|store|internal|placer|index|timeline|query|locality)/[a-z_/]+(?:\.go)?`)
	for _, path := range folder.FindAllString(string(page), -1) {
		exists(path)
	}
	// In the table of what to change, files follow their package: "placer: a.go, b.go".
	files := regexp.MustCompile(`([a-z]+): ((?:[a-z_]+\.go(?:, )?)+)`)
	for _, m := range files.FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(m[2], ",") {
			exists(filepath.Join(m[1], strings.TrimSpace(name)))
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(([a-z][^):#]*)\)`).FindAllStringSubmatch(string(readme), -1) {
		exists(m[1])
	}
}

// TestArchitectureTree: the tree in docs/architecture.md shows the folders with packages, and no others but those
// on the way to them.
func TestArchitectureTree(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tree, _ := strings.Cut(string(page), "```\n")
	tree, _, _ = strings.Cut(tree, "\n```")
	shown := make(map[string]bool)
	var way []string // the folders that the line is below, by indent
	for line := range strings.SplitSeq(tree, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent > 20 {
			continue // the words to the line before
		}
		names, _, _ := strings.Cut(line[indent:], "  ")
		way = way[:indent/2]
		for name := range strings.SplitSeq(names, ", ") {
			shown[strings.Join(append(slices.Clone(way), name), "/")] = true
		}
		way = append(way, names)
	}
	for pkg := range packages(t) {
		if !shown[pkg] && room(pkg) != "bench" {
			t.Errorf("the tree does not show %s", pkg)
		}
	}
	for path := range shown {
		if found, err := filepath.Glob(filepath.Join(root, path, "*")); len(found) == 0 {
			t.Errorf("the tree shows %s, where nothing is: %v", path, err)
		}
	}
}
