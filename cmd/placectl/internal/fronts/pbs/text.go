package pbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// state returns the letter of a job's state.
func state(j *fronts.Job, now time.Time) string {
	switch {
	case j.State.Over():
		return "F"
	case j.State == fronts.Running && j.Ending:
		return "E"
	case j.State == fronts.Running && j.Paused:
		return "S"
	case j.State == fronts.Running:
		return "R"
	case j.State == fronts.Held, j.Wait == fronts.ForJob:
		return "H"
	case j.Begin.After(now):
		return "W"
	}
	return "Q"
}

// exitStatus returns the exit status of an ended job.
func exitStatus(j *fronts.Job) int {
	switch j.State {
	case fronts.Failed:
		if j.Signal != 0 {
			return 256 + j.Signal
		}
		return max(j.Exit, 1)
	case fronts.Cancelled:
		return 271
	case fronts.Walltime:
		return -29
	case fronts.OOM:
		return 265
	case fronts.Lost:
		return -11
	}
	return 0
}

// clock writes a duration: 01:30:00.
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// hours writes a duration without seconds: 00:10.
func hours(d time.Duration) string { return clock(d)[:len(clock(d))-3] }

// stamp writes a time as ctime does, without the newline.
func stamp(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("Mon Jan _2 15:04:05 2006")
}

// size writes kB as PBS does: 1gb, 1500mb, 7kb.
func size(kb int64) string {
	for i, unit := range []string{"kb", "mb", "gb", "tb"} {
		if kb%1024 != 0 || kb == 0 || i == 3 {
			return fmt.Sprintf("%d%s", kb, unit)
		}
		kb /= 1024
	}
	return ""
}

// rounded writes a size in kB in the largest unit of at least one, rounded down.
func rounded(kb int64) string {
	for _, unit := range []string{"kb", "mb", "gb"} {
		if kb < 1024 {
			return fmt.Sprintf("%d%s", kb, unit)
		}
		kb /= 1024
	}
	return fmt.Sprintf("%dtb", kb)
}

// cut shortens a text to a width, with * as its last character.
func cut(s string, width int) string { return fronts.Cut(fronts.Word(s), width, "*") }

// used returns the cpu time that a job has used, or else its elapsed time.
func used(j *fronts.Job, now time.Time) string {
	d := j.Elapsed(now)
	if j.Detail != nil && j.Detail.CPUUser+j.Detail.CPUSys > 0 {
		d = j.Detail.CPUUser + j.Detail.CPUSys
	}
	if d == 0 {
		return "00:00:00"
	}
	return clock(d)
}

// orDashes returns a text, or -- if it is empty.
func orDashes(s string) string {
	if s == "" || s == "0" {
		return "--"
	}
	return s
}

// execHost returns a job's nodes and cpus: n1/0*2+n2/0*2.
func execHost(j *fronts.Job) string {
	words := make([]string, len(j.Nodes))
	for i, n := range j.Nodes {
		words[i] = n + "/0"
		if j.NodeCPUs > 1 {
			words[i] += fmt.Sprintf("*%d", j.NodeCPUs)
		}
	}
	return strings.Join(words, "+")
}
