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

// used is processor time: of this process and the verbs that it has run, and of the members. On a busy
// machine it says more than a rate.
type used struct{ ours, members time.Duration }

func (u used) since(before used) used { return used{u.ours - before.ours, u.members - before.members} }

// spent returns the time used so far. Verbs have ended, members are running.
func spent() (total used) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			total.ours += time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
			n, _ := strconv.ParseInt(string(ticks), 10, 64) // written by the kernel
			total.members += time.Duration(n) * (time.Second / 100)
		}
	}
	return total
}

// rate formats the transactions per second, the slowest one, and what each took.
func (b *bench) rate(done int, worst time.Duration, u used) string {
	each := func(d time.Duration) string { return ms(d / time.Duration(max(done, 1))) }
	return fmt.Sprintf("%.0f/s, worst %s, processor %s and etcd's %s each", float64(done)/b.during.Seconds(), ms(worst),
		each(u.ours), each(u.members))
}
