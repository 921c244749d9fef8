//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// descriptor is the number of the goroutine, which begins its stack trace: "goroutine 7
// [running]:". The runtime walks the whole stack for it.
func descriptor() uintptr {
	var buf [64]byte
	words := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	id, _ := strconv.ParseUint(string(words[1]), 10, 64)
	return uintptr(id)
}
