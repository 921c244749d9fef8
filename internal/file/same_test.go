package file

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A change to a file whose name no longer leads to it is not acknowledged.
func TestSameFile(t *testing.T) {
	for what, swap := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".away") },
		"replaced": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path+".new", b, 0o600), os.Rename(path+".new", path))
		},
	} {
		f := newFile(t)
		err := f.Update(func(r *Recorder) (bool, error) { return true, swap(f.Path()) })
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "removed or replaced") {
			t.Errorf("%s: %v", what, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	f := newFile(t)
	if err := f.Update(func(*Recorder) (bool, error) { return true, os.Rename(f.Path(), f.Path()+".1") }); err == nil {
		t.Error("acknowledged")
	}
	if err := os.Rename(f.Path()+".1", f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := change(f); err != nil {
		t.Errorf("the handle is of no further use: %v", err)
	}
}
