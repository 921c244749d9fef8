package store

import "github.com/placectl/placectl/store/internal/file"

// FileState is what tells states of a database file apart: two that are equal have nothing
// committed between them.
type FileState = file.State

// StateOfFile reads the state of the database file at a path, without a lock.
func StateOfFile(path string) (FileState, error) { return file.StateOf(path) }
