//go:build unix && !linux

package payload

import "github.com/placectl/placectl/internal/engine"

// Lowered finds nothing: no process here starts jobs.
func Lowered(int, []engine.ResourceLimit) []string { return nil }
