package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the commit, the machine and its load, and the time of measurement.
func machine(now time.Time) string {
	return fmt.Sprintf("%s, commit %s, %s, %d CPUs, %s/%s, %s", now.UTC().Format("2006-01-02 15:04 UTC"), commit(),
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// commit returns the checked-out commit, marked if files differ from it.
func commit() string {
	id, err := exec.Command("git", "describe", "--always", "--dirty=+changes").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}

// processor returns the processor's model as the kernel names it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	_, model, _ := strings.Cut(string(text), "model name")
	model, _, _ = strings.Cut(model, "\n")
	return strings.TrimLeft(model, "\t: ")
}

// load returns the load averages of the last 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
