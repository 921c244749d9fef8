package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of docs/embedding.md compiles, runs, and prints what stands below it.
func TestEmbeddingPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(lang string) string {
		_, rest, found := strings.Cut(string(text), "```"+lang+"\n")
		code, _, closed := strings.Cut(rest, "```")
		if !found || !closed {
			t.Fatalf("there is no block of %s", lang)
		}
		return code
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(block("go")), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if want := block("text"); string(said) != want {
		t.Errorf("it prints\n%swant\n%s", said, want)
	}
}
