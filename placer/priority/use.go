package priority

import (
	"cmp"
	"maps"
	"slices"

	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/subject"
)

// Use is each subject's fraction of all use, and its share by Fair Tree. It has the accounts that were
// set, subjects with use, and those with waiting jobs.
type Use struct {
	parts  map[subject.Subject]float64 // of all use
	shares map[subject.Subject]float64 // of all
	ranks  map[[2]string]float64       // by account and user

	root     *fairshare.Member
	accounts map[string]*fairshare.Member
	parents  map[string]string               // of accounts that were set
	users    map[[2]string]*fairshare.Member // by account and user
	closed   map[string]bool                 // accounts whose members were set
	all      float64
}

// NewUse makes an empty Use. Set accounts first, then add use.
func NewUse() *Use {
	return &Use{parts: make(map[subject.Subject]float64), shares: make(map[subject.Subject]float64),
		ranks: make(map[[2]string]float64),
		root:  &fairshare.Member{Account: true}, accounts: make(map[string]*fairshare.Member),
		parents: make(map[string]string),
		users:   make(map[[2]string]*fairshare.Member), closed: make(map[string]bool)}
}

// Account adds an account to the tree.
func (t *Use) Account(name, parent string, shares int64) {
	t.accounts[name] = &fairshare.Member{Name: name, Account: true, Shares: shares}
	t.parents[name] = parent
}

// Member adds a member to an account.
func (t *Use) Member(account, user string, shares int64) {
	t.closed[account] = true
	u := &fairshare.Member{Name: user, Shares: shares}
	t.users[[2]string{account, user}] = u
	t.accounts[account].Members = append(t.accounts[account].Members, u)
}

// Had adds a job's use, in any unit.
func (t *Use) Had(w subject.Names, use float64) {
	t.all += use
	t.user(w[subject.Account], w[subject.User]).Usage += use
	for _, kind := range subject.Shared {
		t.parts[kind.Of(w[kind])] += use
	}
}

// Waits says that a user of an account has a waiting job, so that users without use have a rank,
// too.
func (t *Use) Waits(account, user string) { t.user(account, user) }

// Class sets a class's fraction of the cluster.
func (t *Use) Class(name string, part float64) {
	t.shares[subject.Class.Of(name)] = part
}

// Rank computes parts, shares and ranks, once everything is set. It adds in the order of names, so sums
// of floats are the same each time.
func (t *Use) Rank() {
	for _, name := range slices.Sorted(maps.Keys(t.parents)) {
		up := t.accounts[t.parents[name]]
		if up == nil {
			up = t.root
		}
		up.Members = append(up.Members, t.accounts[name])
	}
	for whose := range t.parts {
		if t.all > 0 {
			t.parts[whose] /= t.all
		}
	}
	fairshare.Rank(t.root)
	for name, a := range t.accounts {
		t.shares[subject.Account.Of(name)] = a.Part
	}
	byName := func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	for _, key := range slices.SortedFunc(maps.Keys(t.users), byName) {
		u := t.users[key]
		t.ranks[key] = u.Factor
		t.shares[subject.User.Of(key[1])] += u.Part
	}
}

// user finds a user of an account. In an account without members each user has one share; in one
// with members, users who are not among them have none.
func (t *Use) user(account, name string) *fairshare.Member {
	key := [2]string{account, name}
	if u := t.users[key]; u != nil {
		return u
	}
	u := &fairshare.Member{Name: name, Shares: 1}
	up := t.root
	if account != "" {
		if up = t.accounts[account]; up == nil {
			up = &fairshare.Member{Name: account, Account: true, Shares: 1}
			t.accounts[account] = up
			t.root.Members = append(t.root.Members, up)
		}
		if t.closed[account] {
			u.Shares = 0
		}
	}
	up.Members = append(up.Members, u)
	t.users[key] = u
	return u
}
