package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine says what was measured on what, and when.
func machine(now time.Time) string {
	return fmt.Sprintf("%s, commit %s, %s, %d CPUs, %s/%s, %s", now.UTC().Format("2006-01-02 15:04 UTC"), commit(),
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// commit is what is checked out, marked where files differ from it.
func commit() string {
	id, err := exec.Command("git", "describe", "--always", "--dirty=+changes").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}

// processor is the model's name as the kernel gives it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	_, model, _ := strings.Cut(string(text), "model name")
	model, _, _ = strings.Cut(model, "\n")
	return strings.TrimLeft(model, "\t: ")
}

// load is the load average of the last 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
