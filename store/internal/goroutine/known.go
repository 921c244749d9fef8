//go:build amd64 || arm64

package goroutine

// descriptor reads the register, or the slot of the thread, in which the Go runtime keeps
// what it knows of the goroutine that runs.
func descriptor() uintptr
