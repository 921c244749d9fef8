package engine

import (
	"path/filepath"
	"testing"
)

// TestNilOptions: nil stands for no options, wherever there are some.
func TestNilOptions(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db")
	if err := Create(one, nil, nil); err != nil {
		t.Fatal(err)
	}
	db, err := Open(one, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(*Tx) error { return nil }, nil); err != nil {
		t.Error("Update:", err)
	}
	if _, err := CreateFrom(two, db, nil); err != nil {
		t.Error("CreateFrom:", err)
	}
	if err := Permit(two, nil, Owners, "compact"); err != nil {
		t.Error("Permit:", err)
	}
}
