package locality

import (
	"fmt"
	"strings"
)

// policy decides where hosts work. It reads everything about hosts from the rows and keeps
// nothing itself.
type policy interface {
	layered() bool             // how slots are numbered
	cuts(o *Op) ([]int, error) // the first slots of the ranges of a new batch
	stays(o *Op, m *Member) (bool, error)
	place(o *Op, m *Member, tried []int) error // enters a range that is not in tried, or none
	backRange(c *Cursor, side Side) (first, last int)
	most(o *Op, m *Member, c *Cursor) Credit // at one time
}

// doubler is a policy that gives a host without work what another host has.
type doubler interface {
	again(o *Op, m *Member) ([]int, error) // slots; none if it would gain nothing
}

// DefaultPolicy is the policy of batches that do not name one.
const DefaultPolicy = "gaps"

// Policies lists the policies with a description, the default first.
func Policies() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"gaps", "hosts work from both ends of ranges that are sized to what hosts can do, go where speed is short, " +
			"and leave what others can finish in time"},
		{"cursors", "fixed ranges, each for a team of hosts, as in BOINC's design"},
	}
}

func findPolicy(name string) (policy, error) {
	switch name {
	case "gaps":
		return gaps{}, nil
	case "cursors":
		return teams{}, nil
	}
	var names []string
	for _, p := range Policies() {
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("%w: %q; there are %s", ErrPolicy, name, strings.Join(names, ", "))
}
