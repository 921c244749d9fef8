package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
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

// stamp writes an instant, or the word none for the zero time.
func stamp(t time.Time, zone *time.Location, none string) string {
	if t.IsZero() {
		return none
	}
	return t.In(zone).Format("2006-01-02T15:04:05")
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

// elements writes ascending indices with ranges and steps: 0-3, 1-7:2, 1,5. If a limit applies, %N
// follows.
func elements(list []int, limit int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		step, k := 1, i
		if i+1 < len(list) {
			step = list[i+1] - list[i]
			for k+1 < len(list) && list[k+1]-list[k] == step {
				k++
			}
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		switch {
		case k-i < 1, step > 1 && k-i < 2:
			k = i
			fmt.Fprintf(&b, "%d", list[i])
		case step > 1:
			fmt.Fprintf(&b, "%d-%d:%d", list[i], list[k], step)
		default:
			fmt.Fprintf(&b, "%d-%d", list[i], list[k])
		}
		i = k + 1
	}
	if limit > 0 {
		fmt.Fprintf(&b, "%%%d", limit)
	}
	return b.String()
}

// askedLicenses returns what a job requests of pools, as Slurm writes it: matlab:1,idl:2.
func askedLicenses(j *fronts.Job) string {
	var list []string
	for _, l := range j.Licenses {
		list = append(list, l.Name+":"+strconv.FormatInt(l.Used, 10))
	}
	return strings.Join(list, ",")
}
