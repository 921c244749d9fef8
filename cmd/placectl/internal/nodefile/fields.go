package nodefile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/text"
)

// maxWord bounds words such as reasons, features and string resources, in bytes. The index has their
// values as keys, which are bounded, too.
const maxWord = 1024

var errReasonUp = errors.New("reason: only a node that is down, offline or drained can have one")

// field is one of the fields that every node has, as files and key=value words name it. An empty text
// means the default.
type field struct {
	name string
	read func(n *index.Node, text string) error
	copy func(to, from *index.Node)
}

// fields are all of them except the name.
var fields = []field{
	{"queue", readQueue, func(to, from *index.Node) { to.Queue = from.Queue }},
	{"priority", readPriority, func(to, from *index.Node) { to.Priority = from.Priority }},
	{"state", readState, func(to, from *index.Node) { to.State = from.State }},
	{"speed", func(n *index.Node, s string) error { return readMeasure(&n.Speed, s, speedMeasure) },
		func(to, from *index.Node) { to.Speed = from.Speed }},
	{"procspeed", func(n *index.Node, s string) error { return readMeasure(&n.ProcSpeed, s, speedMeasure) },
		func(to, from *index.Node) { to.ProcSpeed = from.ProcSpeed }},
	{"load", func(n *index.Node, s string) error { return readMeasure(&n.Load, s, loadMeasure) },
		func(to, from *index.Node) { to.Load = from.Load }},
	{"usage", func(n *index.Node, s string) error { return readMeasure(&n.Usage, s, usageMeasure) },
		func(to, from *index.Node) { to.Usage = from.Usage }},
	{"features", readFeatures, func(to, from *index.Node) { to.Features = from.Features }},
	{"access", readAccess, func(to, from *index.Node) { to.Access = from.Access }},
	{"sharing", readSharing, func(to, from *index.Node) { to.Sharing = from.Sharing }},
	{"priorityf", func(n *index.Node, s string) error { return readWord(&n.PriorityF, s) }, func(to, from *index.Node) {
		to.PriorityF = from.PriorityF
	}},
	{"reason", func(n *index.Node, s string) error { return readWord(&n.Reason, s) }, func(to, from *index.Node) {
		to.Reason = from.Reason
	}},
	{"distances", readDistances, func(to, from *index.Node) { to.Distances = from.Distances }},
}

// Positions in fields that other code uses.
const (
	fieldQueue     = 0
	fieldSpeed     = 3
	fieldProcSpeed = 4
	fieldFeatures  = 7
	fieldReason    = 11
)

func readQueue(n *index.Node, s string) error {
	if s != "" && !index.ValidNodeName(s) {
		return fmt.Errorf("%s cannot be a queue: use letters, digits and . - _", text.Quoted(s))
	}
	n.Queue = s
	return nil
}

func readPriority(n *index.Node, s string) error {
	if s == "" {
		n.Priority = 0
		return nil
	}
	whole, frac, _ := strings.Cut(s, ".")
	v, err := strconv.ParseInt(whole, 10, 32)
	if err != nil || strings.Trim(frac, "0") != "" {
		return fmt.Errorf("%s is not a whole number from %d to %d", text.Quoted(s), math.MinInt32, math.MaxInt32)
	}
	n.Priority = int32(v)
	return nil
}

func readState(n *index.Node, s string) (err error) {
	n.State, err = index.ParseState(s)
	return err
}

// measure is a kind of number that is measured or estimated for nodes.
type measure struct {
	valid func(float64) bool
	is    string // in errors: what would be right
}

var (
	speedMeasure = measure{index.ValidSpeed, "a number above 0, such as 1.5"}
	loadMeasure  = measure{index.ValidLoad, "a number of 0 or more, such as 1.5"}
	usageMeasure = measure{index.ValidUsage, "a number from 0 to 1, such as 0.75"}
)

// read parses a given number.
func (m measure) read(s string) (float64, error) {
	if err := CheckWord(s); err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !m.valid(v) {
		return 0, fmt.Errorf("%s is not %s", text.Quoted(s), m.is)
	}
	return v + 0, nil // makes 0 of -0
}

func readMeasure(to *float64, s string, m measure) (err error) {
	*to = 0
	if s != "" {
		*to, err = m.read(s)
	}
	return err
}

// readFeatures splits features at | and at commas, as lists print them.
func readFeatures(n *index.Node, s string) error {
	n.Features = nil
	for f := range strings.FieldsFuncSeq(s, func(c rune) bool { return c == '|' || c == ',' }) {
		f = strings.TrimSpace(f)
		switch {
		case f == "" || slices.Contains(n.Features, f):
		case !index.ValidNodeName(f):
			return fmt.Errorf("%s cannot be a feature: use letters, digits and . - _", text.Quoted(f))
		default:
			n.Features = append(n.Features, f)
		}
	}
	return nil
}

func readAccess(n *index.Node, s string) (err error) {
	if err = CheckWord(s); err == nil {
		n.Access, err = index.ParseAccess(s)
	}
	return err
}

func readSharing(n *index.Node, s string) (err error) {
	if err = CheckWord(s); err == nil {
		n.Sharing, err = index.ParseSharing(s)
	}
	return err
}

// readDistances reads the distances between groups of devices: 10,21;21,10.
func readDistances(n *index.Node, s string) (err error) {
	n.Distances, err = devices.ParseDistances(s)
	return err
}

func readWord(to *string, s string) error {
	*to = s
	return CheckWord(s)
}

// CheckWord refuses a word, such as a node's reason, that is too long or not printable.
func CheckWord(s string) error {
	switch {
	case len(s) > maxWord:
		return fmt.Errorf("the text has %d bytes; at most %d are kept", len(s), maxWord)
	case !text.IsPrintable(s):
		return fmt.Errorf("%s has characters that cannot be printed", strconv.Quote(s))
	}
	return nil
}

// readResource reads a node's value of a resource; nil for "".
func readResource(def index.Def, s string) (*index.Value, error) {
	if s == "" {
		return nil, nil
	}
	if err := CheckWord(s); err != nil {
		return nil, err
	}
	v, err := def.ParseLoose(s)
	if err != nil {
		return nil, fmt.Errorf("%w (%s is a %s)", err, def.Name, def.Type)
	}
	if def.Type == index.StringArray && v.Str == "" {
		return nil, nil
	}
	return &v, nil
}
