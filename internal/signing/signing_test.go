package signing

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestKey: a key is made once, however many processes ask at the same time. A key that others could have made
// or read is refused.
func TestKey(t *testing.T) {
	path := Path(t.TempDir())
	signatures := make([]string, 8)
	var all sync.WaitGroup
	for i := range signatures {
		all.Go(func() {
			if k, err := ReadOrMake(path); err == nil {
				signatures[i] = string(k.Sign([]byte("text")))
			}
		})
	}
	all.Wait()
	k, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range signatures {
		if !k.Verify([]byte("text"), []byte(s)) || k.Verify([]byte("other"), []byte(s)) {
			t.Errorf("signature %d was made with another key", i)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the key file has the mode %v, %v, want 0600", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(path string) error{
		"readable by others": func(path string) error { return os.Chmod(path, 0o640) },
		"a symbolic link":    func(path string) error { return os.Rename(path, path+".3") },
		"cut off":            func(path string) error { return os.WriteFile(path, text[:40], 0o600) },
		"no key":             func(path string) error { return os.WriteFile(path, []byte("hello\n"), 0o600) },
		"a folder":           func(path string) error { return os.Remove(path) },
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		switch name {
		case "a symbolic link":
			err = os.Symlink(path+".3", path)
		case "a folder":
			err = os.Mkdir(path, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadOrMake(path); err == nil {
			t.Errorf("%s: Read accepts the key, want an error", name)
		}
	}
}
