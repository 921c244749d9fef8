package main

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		main()
	}
	os.Exit(m.Run())
}

// TestHandles: processes that keep one file open see what others have committed, and damage nothing.
func TestHandles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := drive(t.TempDir(), 4*time.Second, []string{self}); err != nil {
		t.Error(err)
	}
}
