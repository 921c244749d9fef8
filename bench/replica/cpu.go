//go:build etcd

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// spent is the processor time that this process and all that it has started have used: verbs,
// which have ended, and the members, which run. On a busy machine it says more than a rate.
func spent() (total time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	list, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, path := range list {
		text, err := os.ReadFile(path)
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if err != nil || len(fields) < 13 || string(fields[1]) != strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, ticks := range fields[11:13] {
			n, _ := strconv.ParseInt(string(ticks), 10, 64) // the kernel's own
			total += time.Duration(n) * (time.Second / 100)
		}
	}
	return total
}

// rate is how many transactions there were in a time, the slowest, and what each took.
func (b *bench) rate(done int, worst, used time.Duration) string {
	return fmt.Sprintf("%.0f/s, worst %s, processor %s each", float64(done)/b.during.Seconds(), ms(worst), ms(used/time.Duration(max(done, 1))))
}
