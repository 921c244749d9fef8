package placer

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
)

// Policy decides which of the nodes that could serve a request are taken. Names and meanings follow
// the Maui scheduler's node allocation policies, with Moab's aliases; tetris and topology are
// additions. A policy orders nodes and does not decide whether a request fits. The exception is
// contiguous, which requires nodes in a row.
type Policy uint8

// The policies. The zero value stands for the default of the queue or the store.
const (
	NoPolicy Policy = iota
	FirstAvailable
	LastAvailable
	Priority
	CPULoad
	MinResource
	Contiguous
	MaxBalance
	Fastest
	Local
	Tetris
	Topology
)

// policies holds the names; those after the first are aliases.
var policies = [...]struct {
	names []string
	doc   string
}{
	FirstAvailable: {[]string{"firstavailable", "InReportedOrder"},
		"nodes as they were declared, higher priority first"},
	LastAvailable: {[]string{"lastavailable", "InReverseReportedOrder"}, "the smallest gap between the job's end and " +
		"what the node is wanted for next: best fit in time"},
	Priority: {[]string{"priority", "CustomPriority"}, "the highest PRIORITYF"},
	CPULoad: {[]string{"cpuload", "ProcessorLoad"}, "the most unused processors: ncpus less what is dedicated or " +
		"loaded; for a later start minresource"},
	MinResource: {[]string{"minresource", "MinimumConfiguredResources"},
		"the fewest configured resources that still do"},
	Contiguous: {[]string{"contiguous"}, "nodes in a row: the shortest run of node numbers that is long enough"},
	MaxBalance: {[]string{"maxbalance", "ProcessorSpeedBalance"},
		"processors of one speed, else the smallest span of speeds"},
	Fastest:  {[]string{"fastest", "NodeSpeed"}, "the fastest node, else the fastest processors"},
	Local:    {[]string{"local"}, "the site's own program"},
	Tetris:   {[]string{"tetris"}, "the best alignment of what is asked for with what is free"},
	Topology: {[]string{"topology"}, "the fewest switches, and of those the tightest"},
}

func (p Policy) String() string {
	if p > NoPolicy && int(p) < len(policies) {
		return policies[p].names[0]
	}
	return ""
}

// Doc describes in a few words what a policy prefers.
func (p Policy) Doc() string {
	if int(p) < len(policies) {
		return policies[p].doc
	}
	return ""
}

// Policies lists all policies.
func Policies() []Policy {
	var out []Policy
	for p := FirstAvailable; int(p) < len(policies); p++ {
		out = append(out, p)
	}
	return out
}

// ParsePolicy reads a policy's name in any case; "" is NoPolicy. The error matches ErrRequest.
func ParsePolicy(s string) (Policy, error) {
	if s == "" {
		return NoPolicy, nil
	}
	var all []string
	for p, def := range policies {
		for _, name := range def.names {
			if strings.EqualFold(name, s) {
				return Policy(p), nil
			}
			all = append(all, name)
		}
	}
	var names []string
	for _, p := range Policies() {
		names = append(names, p.String())
	}
	return NoPolicy, fmt.Errorf("%w: no policy %q%s: use one of %s", ErrRequest, s, index.DidYouMean(s, all),
		strings.Join(names, ", "))
}
