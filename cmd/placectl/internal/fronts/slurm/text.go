package slurm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// span writes a time span as squeue does: 0:03, 1:02:03, 2-00:00:00.
func span(d time.Duration) string {
	s := int64(d / time.Second)
	days, h, m, sec := s/86400, s/3600%24, s/60%60, s%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, h, m, sec)
	case h > 0:
		return fmt.Sprintf("%d:%02d:%02d", h, m, sec)
	}
	return fmt.Sprintf("%d:%02d", m, sec)
}

// clock writes a time span as scontrol and sacct do: 00:00:03, 2-00:00:00.
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		return fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

// memory writes kB as Slurm does: 100M, 2G. It rounds up to whole MiB.
func memory(kb int64) string {
	if kb <= 0 {
		return "0"
	}
	mb := (kb + 1023) / 1024
	for _, unit := range "MGTP" {
		if mb%1024 != 0 || unit == 'P' {
			return strconv.FormatInt(mb, 10) + string(unit)
		}
		mb /= 1024
	}
	return "0"
}

// fold writes a folded list of nodes.
func fold(nodes []string) string { return index.FoldNodeList(nodes) }

// orNull returns a text, or (null) if it is empty.
func orNull(s string) string {
	if s == "" {
		return "(null)"
	}
	return fronts.Word(s)
}

// jobID names a job as squeue does: 12, an element 3_0.
func jobID(j *fronts.Job) string {
	if j.Array != 0 {
		return fmt.Sprintf("%d_%d", j.Array, j.Index)
	}
	return strconv.FormatUint(j.ID, 10)
}

// elements writes ascending indices: 0-3, 1,5, or 0-30:5 if one step describes a list that spans more
// than 10, as Slurm does. If a limit applies, %N follows.
func elements(list []int, limit int) string {
	written := cmp.Or(stepped(list), text.Ranges(list))
	if limit > 0 {
		written += "%" + strconv.Itoa(limit)
	}
	return written
}

// stepped writes a list as FIRST-LAST:STEP, "" if Slurm would not.
func stepped(list []int) string {
	last := len(list) - 1
	if last < 1 || list[last]-list[0] <= 10 || list[1]-list[0] == 1 {
		return ""
	}
	step := list[1] - list[0]
	for i := range last {
		if list[i+1]-list[i] != step {
			return ""
		}
	}
	return fmt.Sprintf("%d-%d:%d", list[0], list[last], step)
}

// askedLicenses returns what a job requests of pools, as Slurm writes it: matlab:1,idl:2.
func askedLicenses(j *fronts.Job) string {
	var list []string
	for _, l := range j.Licenses {
		list = append(list, l.Name+":"+strconv.FormatInt(l.Used, 10))
	}
	return strings.Join(list, ",")
}
