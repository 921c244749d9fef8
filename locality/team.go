package locality

import (
	"fmt"
	"slices"
)

// Places holds the hosts of a batch that have a range, in the order of where they work.
type Places []place

type place struct {
	at   int
	host *Host
	rate int64
}

// Add adds a host, if it has a range. Order the places after adding all hosts.
func (all *Places) Add(h *Host, m *Member) {
	if m.Placed {
		*all = append(*all, place{m.At, h, m.Rate})
	}
}

// Sort sorts the places.
func (all Places) Sort() {
	slices.SortStableFunc(all, func(x, y place) int { return x.at - y.at })
}

// Team holds the hosts of a range.
type Team struct {
	Hosts []string
	users map[string]int
	rates []int64
}

// In returns the team of a range.
func (all Places) In(c *Cursor) *Team {
	t := &Team{Hosts: []string{}, users: make(map[string]int)}
	from, _ := slices.BinarySearchFunc(all, c.First, func(p place, first int) int { return p.at - first })
	for _, p := range all[from:] {
		if p.at > c.Last {
			break
		}
		t.Hosts = append(t.Hosts, p.host.Name)
		t.rates = append(t.rates, p.rate)
		if p.host.User != "" {
			t.users[p.host.User]++
		}
	}
	return t
}

// Broken lists the soft rules that a team breaks. Its fastest host should be no faster than
// the others together, and its hosts should belong to different users.
func (t *Team) Broken() []string {
	out := []string{}
	if len(t.rates) > 1 {
		sum, most := int64(0), slices.Max(t.rates)
		for _, n := range t.rates {
			sum += n
		}
		if most > sum-most {
			out = append(out, t.Hosts[slices.Index(t.rates, most)]+" is faster than the others together")
		}
	}
	var users []string
	for u, n := range t.users {
		if n > 1 {
			users = append(users, fmt.Sprintf("%d hosts of %s", n, u))
		}
	}
	slices.Sort(users)
	return append(out, users...)
}
