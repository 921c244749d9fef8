package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRooms: packages and files stay small enough to find one's way in them. Tests do not count.
func TestRooms(t *testing.T) {
	t.Parallel()
	most := map[string]int{"internal/engine": 15, "cmd/placectl/command": 8}
	files := make(map[string]int)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(text, []byte("\n")); n > 400 {
			t.Errorf("%s has %d lines, want at most 400: look for the two things in it", path, n)
		}
		files[filepath.ToSlash(filepath.Dir(path))[len(root):]]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range files {
		dir = strings.TrimPrefix(dir, "/")
		limit, known := most[dir]
		if !known {
			limit = 45
		}
		if n > limit {
			t.Errorf("%s has %d files, want at most %d", dir, n, limit)
		}
	}
}
