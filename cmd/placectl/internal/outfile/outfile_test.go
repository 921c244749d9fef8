package outfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.svg"), filepath.Join(dir, "link.svg")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	info, _ := os.Lstat(link)
	if string(data) != "new" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the file has %q, and the link the mode %v; want new and a link", data, info.Mode())
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, want 0600", info.Mode())
	}
	if err := Replace(dir, nil); err == nil {
		t.Error("Replace replaced a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("Replace left %v", left)
	}
}
