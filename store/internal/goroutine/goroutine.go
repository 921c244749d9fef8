// Package goroutine tells goroutines apart, which a lock that the same goroutine would
// wait for twice has to.
package goroutine

// ID is a number that the calling goroutine has, and no other until it has ended: where
// its descriptor lies in memory. It is stable for its life, for descriptors do not move.
func ID() uintptr { return descriptor() }
