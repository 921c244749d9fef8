// Package metrics writes numbers for monitoring systems, in Prometheus's text format 0.0.4 or as
// OpenMetrics 1.0. It knows no store.
//
// Families are sorted by name, their samples by labels, and labels by name. Each family has one HELP and
// one TYPE. No sample has a time, because node_exporter's textfile collector accepts none.
package metrics

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Format is a text format.
type Format int

// The formats.
const (
	Prometheus Format = iota
	OpenMetrics
)

// Kind is the type of a family's numbers.
type Kind string

// The kinds.
const (
	Gauge     Kind = "gauge"
	Counter   Kind = "counter"
	Histogram Kind = "histogram"
)

// Label is a name and a value.
type Label struct{ Name, Value string }

// Sample is a number with its labels.
type Sample struct {
	Suffix string // follows the family's name: _total, _bucket, _sum or _count
	Labels []Label
	Value  float64
}

// Family is the samples with one name.
type Family struct {
	Name    string // without a counter's _total
	Help    string
	Kind    Kind
	Unit    string // the unit at the end of its name, "" for none
	Samples []Sample
}

// Add adds a number. labels alternate names and values.
func (f *Family) Add(value float64, labels ...string) {
	suffix := ""
	if f.Kind == Counter {
		suffix = "_total"
	}
	f.Samples = append(f.Samples, Sample{suffix, pairs(labels), value})
}

// Distribute adds a histogram. counts has a number for each bound: how many values are above the bound
// before and at most this one. Its last number is for values beyond all bounds. sum is their total.
func (f *Family) Distribute(bounds []float64, counts []uint64, sum float64, labels ...string) {
	all := uint64(0)
	for i, n := range counts {
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		all += n
		f.Samples = append(f.Samples, Sample{"_bucket", append(pairs(labels), Label{"le", boundary(bound)}),
			float64(all)})
	}
	f.Samples = append(f.Samples, Sample{"_sum", pairs(labels), sum}, Sample{"_count", pairs(labels), float64(all)})
}

func pairs(labels []string) []Label {
	var list []Label
	for i := 0; i+1 < len(labels); i += 2 {
		list = append(list, Label{labels[i], labels[i+1]})
	}
	slices.SortFunc(list, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Sort sorts families, and the samples of each except those of a histogram.
func Sort(list []*Family) {
	slices.SortFunc(list, func(a, b *Family) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range list {
		if f.Kind == Histogram {
			continue
		}
		slices.SortStableFunc(f.Samples, func(a, b Sample) int {
			return slices.CompareFunc(a.Labels, b.Labels, func(x, y Label) int {
				return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Value, y.Value))
			})
		})
	}
}

// Write writes families, sorted.
func Write(w io.Writer, list []*Family, format Format) error {
	Sort(list)
	out := bufio.NewWriter(w)
	for _, f := range list {
		f.write(out, format)
	}
	if format == OpenMetrics {
		out.WriteString("# EOF\n")
	}
	return out.Flush()
}

func (f *Family) write(out *bufio.Writer, format Format) {
	name, help := f.Name, strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	switch {
	case format == OpenMetrics:
		help = escaped
	case f.Kind == Counter:
		name += "_total"
	}
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help.Replace(f.Help), name, f.Kind)
	if format == OpenMetrics && f.Unit != "" {
		fmt.Fprintf(out, "# UNIT %s %s\n", name, f.Unit)
	}
	for _, s := range f.Samples {
		out.WriteString(f.Name + s.Suffix)
		if text := s.Text(); text != "" {
			out.WriteString("{" + text + "}")
		}
		out.WriteString(" " + number(s.Value) + "\n")
	}
}

// escaped escapes the values of labels.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// number formats a whole number as such, and any other with the fewest digits that identify it.
func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Text formats the labels.
func (s *Sample) Text() string {
	var list []string
	for _, l := range s.Labels {
		list = append(list, l.Name+`="`+escaped.Replace(l.Value)+`"`)
	}
	return strings.Join(list, ",")
}

// boundary formats a bound as OpenMetrics requires. Prometheus also reads that form, and two forms would
// be two series.
func boundary(v float64) string {
	text := number(v)
	if !strings.ContainsAny(text, ".I") {
		text += ".0"
	}
	return text
}
