package limits

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/placer/subject"
)

// Form says which jobs a measure counts, and when it is checked.
type Form uint8

// The forms of measures.
const (
	OfRunning Form = iota // running jobs, at every instant
	OfQueued              // waiting jobs, when one is submitted
	OfAll                 // both, when one is submitted
	Left                  // amount times the seconds that jobs still have to run, when one starts
	OfOne                 // a single job, when it is submitted
)

// formSuffixes are the suffixes of resource names.
var formSuffixes = [...]string{OfRunning: "", OfQueued: ".queued", OfAll: ".jobs", Left: ".left", OfOne: ".job"}

// formJobs are the words for numbers of jobs.
var formJobs = [...]string{OfRunning: "running", OfQueued: "queued", OfAll: "jobs"}

// Measures that are neither a resource nor a pool.
const (
	Nodes    = "nodes"    // the number of chunks
	Walltime = "walltime" // seconds of one job
)

// Measure is what a rule counts: jobs if Resource is "", else amounts of it.
type Measure struct {
	Resource string
	Form     Form
}

// ParseMeasure reads a measure. It does not check whether the resource or pool exists.
func ParseMeasure(text string) (Measure, error) {
	for form, word := range formJobs {
		if text == word {
			return Measure{Form: Form(form)}, nil
		}
	}
	name, form := text, OfRunning
	for f, suffix := range formSuffixes {
		if head, ok := strings.CutSuffix(text, suffix); ok && suffix != "" {
			name, form = head, Form(f)
		}
	}
	if (name == Walltime) != (text == Walltime+formSuffixes[OfOne]) || strings.Contains(name, ".") ||
		subject.ValidName(name) != nil {
		return Measure{}, fmt.Errorf("there is no measure %q: use running, queued, jobs, RES, RES.queued, "+
			"RES.jobs, RES.left, RES.job or walltime.job", text)
	}
	return Measure{name, form}, nil
}

// String returns the measure as ParseMeasure reads it, "" for one that it does not read.
func (m Measure) String() string {
	switch {
	case m.Resource == "" && int(m.Form) < len(formJobs):
		return formJobs[m.Form]
	case m.Resource != "" && int(m.Form) < len(formSuffixes):
		return m.Resource + formSuffixes[m.Form]
	}
	return ""
}

// Timed reports whether the measure is checked at instants, so that times of holders matter.
func (m Measure) Timed() bool { return m.Form == OfRunning || m.Form == Left }

// Most returns the highest limit that the measure can have.
func (m Measure) Most() int64 {
	if m.Form == Left {
		return MaxLeft
	}
	return MaxAmount
}

// Counts reports whether the measure counts waiting jobs, or else running ones.
func (m Measure) Counts(waits bool) bool {
	return m.Form == OfAll || m.Form == OfQueued && waits
}
