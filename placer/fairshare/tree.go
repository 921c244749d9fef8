package fairshare

import (
	"cmp"
	"math"
	"slices"
)

// Fair Tree (R. Cox and L. Morrison: "Fair Tree: Fairshare Algorithm for Slurm", Brigham Young
// University, 2014) ranks users by a tree of accounts. Among siblings, the one with the least use for
// its shares comes first, and an account comes with all of its users. So no user passes those of another
// account with less use.
//
// The level of a child is its part of its siblings' shares, divided by its part of their use. Siblings
// are visited by level, the highest first, and each account with everything below it before the next.
// The n-th of N users visited gets (N-n+1)/N. Users of one level share a rank. Accounts of one level
// count as one, and their children are ranked together. A user with the level of an account has the rank
// of the account's first user.

// Member is a user, or an account with members.
type Member struct {
	Name    string
	Account bool
	Shares  int64
	Usage   float64 // of a user; Rank adds up those of accounts
	Members []*Member

	Level  float64 // set by Rank; +Inf if it has used nothing
	Part   float64 // of all shares, by way of its accounts, 0 to 1
	Factor float64 // of a user: 0 to 1; a higher one comes sooner
}

// Rank computes the levels, parts and factors of all members below a root.
func Rank(root *Member) {
	root.Part = 1
	users := root.levels()
	r := &ranking{users: users, next: users}
	r.visit(root.Members, false)
}

// levels adds up use and computes the levels of all members below an account. It returns the number of
// users.
func (m *Member) levels() (users int) {
	if !m.Account {
		return 1
	}
	m.Usage = 0
	shares := int64(0)
	for _, c := range m.Members {
		shares += c.Shares
	}
	for _, c := range m.Members {
		if shares > 0 {
			c.Part = m.Part * float64(c.Shares) / float64(shares)
		}
		users += c.levels()
		m.Usage += c.Usage
	}
	for _, c := range m.Members {
		switch {
		case c.Usage == 0:
			c.Level = math.Inf(1)
		case shares > 0:
			c.Level = float64(c.Shares) / float64(shares) / (c.Usage / m.Usage)
		}
	}
	return users
}

type ranking struct {
	users, next int // the number of users, and the rank of the next one
	rank        int // of the user met last
}

// visit gives ranks to siblings. If tied, the first of them have the rank of the user met last.
func (r *ranking) visit(siblings []*Member, tied bool) {
	list := slices.Clone(siblings)
	slices.SortStableFunc(list, func(a, b *Member) int { return cmp.Compare(b.Level, a.Level) })
	for len(list) > 0 {
		n := 1
		for n < len(list) && same(list[0].Level, list[n].Level) {
			n++
		}
		var children []*Member
		met := false
		if !tied {
			r.rank = r.next
		}
		for _, m := range list[:n] {
			if m.Account {
				children = append(children, m.Members...)
				continue
			}
			met = true
			m.Factor = float64(r.rank) / float64(r.users)
			r.next--
		}
		if len(children) > 0 {
			r.visit(children, met || tied)
			met = true
		}
		tied = tied && !met // there was no user to give the rank to
		list = list[n:]
	}
}

// same reports whether two levels are equal except for rounding.
func same(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) && !math.IsInf(a, 0) && !math.IsInf(b, 0)
}
