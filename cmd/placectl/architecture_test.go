package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecturePage: the packages and files named in docs/architecture.md and in the README's table
// exist.
func TestArchitecturePage(t *testing.T) {
	root := filepath.Join("..", "..")
	exists := func(path string) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(`\b(?:cmd|store|placer|index|timeline|query|locality)/[a-z_/]+(?:\.go)?`)
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
