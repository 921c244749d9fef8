package fairshare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// shareRow is a line of what sshare prints, or what goes into it.
type shareRow struct {
	Name, Kind, Parent string
	Shares             int64
	Usage              float64
	Level              json.RawMessage
	NormShares         *float64 `json:"norm_shares"`
	EffectiveUsage     *float64 `json:"effective_usage"`
	Fairshare          *float64
}

// TestFairTreeAsSlurm: ranks are those of a real Slurm, and levels agree to the last digit
// that its whole numbers of seconds allow.
func TestFairTreeAsSlurm(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/fairtree.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tables, values := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); tables++ {
		var table struct {
			ID   string
			Tree []shareRow
		}
		if err := json.Unmarshal(lines.Bytes(), &table); err != nil {
			t.Fatal(err)
		}
		root, all := treeOf(table.Tree)
		Rank(root)
		for _, want := range table.Tree {
			m := all[want.Name]
			if want.Fairshare != nil {
				values++
				if math.Abs(m.Factor-*want.Fairshare) > 5e-7 {
					t.Errorf("%s: %s has factor %v, Slurm says %v", table.ID, want.Name, m.Factor, *want.Fairshare)
				}
			}
			if want.NormShares != nil && want.EffectiveUsage != nil {
				values += 2
				parent := all[want.Parent]
				norm, effective := float64(want.Shares)/float64(sharesOf(parent)), m.Usage/parent.Usage
				if math.Abs(norm-*want.NormShares) > 5e-7 {
					t.Errorf("%s: %s has %v of the shares, Slurm says %v", table.ID, want.Name, norm, *want.NormShares)
				}
				// Slurm rounds seconds down when it prints them.
				if off := 1.5 * (1 + effective*float64(len(all))) / max(parent.Usage, 1); math.Abs(
					effective-*want.EffectiveUsage) > off {
					t.Errorf("%s: %s has had %v of what its siblings had, Slurm says %v", table.ID, want.Name,
						effective, *want.EffectiveUsage)
				}
			}
			if len(want.Level) > 0 {
				values++
				sameLevel(t, table.ID, m, all[want.Parent], want)
			}
		}
	}
	if tables < 5 || values < 72 {
		t.Errorf("%d tables with %d values", tables, values)
	}
}

func sharesOf(m *Member) (sum int64) {
	for _, c := range m.Members {
		sum += c.Shares
	}
	return sum
}

// sameLevel compares a level: with the parts that Slurm prints, to the last digit; with
// seconds, as far as whole ones allow.
func sameLevel(t *testing.T, id string, m, parent *Member, want shareRow) {
	t.Helper()
	text, err := strconv.Unquote(string(want.Level))
	if err != nil {
		t.Fatal(err)
	}
	level := math.Inf(1)
	if text != "inf" {
		if level, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatal(err)
		}
	}
	if math.IsInf(level, 1) || math.IsInf(m.Level, 1) {
		if m.Level != level {
			t.Errorf("%s: %s is at level %v, Slurm says %s", id, m.Name, m.Level, text)
		}
		return
	}
	// The error of printing a second too little, and a part half its last digit.
	off := level*(1.5/max(m.Usage, 1)+1.5*float64(len(parent.Members))/max(parent.Usage, 1)) + 5e-7
	if math.Abs(m.Level-level) > off {
		t.Errorf("%s: %s is at level %v, Slurm says %s", id, m.Name, m.Level, text)
	}
}

func treeOf(rows []shareRow) (*Member, map[string]*Member) {
	root := &Member{Name: "root", Account: true}
	all := map[string]*Member{"root": root}
	for _, r := range rows {
		all[r.Name] = &Member{Name: r.Name, Account: r.Kind == "account", Shares: r.Shares}
		if r.Kind == "user" {
			all[r.Name].Usage = r.Usage
		}
	}
	for _, r := range rows {
		all[r.Parent].Members = append(all[r.Parent].Members, all[r.Name])
	}
	return root, all
}

// TestClassicShares: in recorded cases of classic fair share, which FAIRSHARE is not, users
// are in the same order. The exception is users whose recorded values differ too little.
func TestClassicShares(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/classic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	for lines := bufio.NewScanner(f); lines.Scan(); cases++ {
		var c struct {
			ID, Differs     string
			Accounts, Users []struct {
				Name, Parent, Account string
				Shares                int64
				Usage                 float64
			}
			Order, Waiting []string
			Added          map[string]float64
			Ours           json.RawMessage
			EachRuns       float64 `json:"each_runs"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Differs == "" {
			t.Errorf("%s: it does not say how we differ", c.ID)
		}
		var rows []shareRow
		for _, a := range c.Accounts {
			rows = append(rows, shareRow{Name: a.Name, Kind: "account", Parent: cmp.Or(a.Parent, "root"),
				Shares: a.Shares})
			if len(c.Users) == 0 {
				rows = append(rows, shareRow{Name: "of " + a.Name, Kind: "user", Parent: a.Name, Shares: 1,
					Usage: a.Usage})
			}
		}
		for _, u := range c.Users {
			rows = append(rows, shareRow{Name: u.Name, Kind: "user", Parent: u.Account, Shares: u.Shares,
				Usage: u.Usage})
		}
		root, all := treeOf(rows)
		if len(c.Users) > 0 {
			var ours map[string]float64
			if err := json.Unmarshal(c.Ours, &ours); err != nil {
				t.Fatal(err)
			}
			Rank(root)
			last := math.Inf(1)
			for _, name := range c.Order {
				v := all[name].Factor + c.Added[name]
				if v > last || math.Abs(v-ours[name]) > 1e-9 {
					t.Errorf("%s: %s has %v, want %v and no more than the %v before it", c.ID, name, v, ours[name],
						last)
				}
				last = v
			}
			continue
		}
		var ours, got []string
		if err := json.Unmarshal(c.Ours, &ours); err != nil {
			t.Fatal(err)
		}
		for range ours {
			Rank(root)
			next := slices.MaxFunc(c.Waiting, func(a, b string) int {
				return cmp.Compare(all["of "+a].Factor, all["of "+b].Factor)
			})
			got = append(got, next)
			all["of "+next].Usage += c.EachRuns
		}
		if !slices.Equal(got, ours) {
			t.Errorf("%s: %v, want %v", c.ID, got, ours)
		}
	}
	if cases != 4 {
		t.Errorf("%d cases", cases)
	}
}

// TestFairTreeRanks: written cases of ties, almost none of which are in the tables of Slurm.
func TestFairTreeRanks(t *testing.T) {
	t.Parallel()
	user := func(name string, shares int64, usage float64) *Member {
		return &Member{Name: name, Shares: shares, Usage: usage}
	}
	account := func(name string, shares int64, list ...*Member) *Member {
		return &Member{Name: name, Account: true, Shares: shares, Members: list}
	}
	for name, c := range map[string]struct {
		members []*Member
		want    string
	}{
		"no users":       {nil, ""},
		"by use":         {[]*Member{user("a", 1, 30), user("b", 1, 10), user("c", 1, 20)}, "b=3/3 c=2/3 a=1/3"},
		"by shares":      {[]*Member{user("a", 3, 20), user("b", 1, 10)}, "a=2/2 b=1/2"},
		"equals":         {[]*Member{user("a", 1, 10), user("b", 2, 20), user("c", 1, 30)}, "a=3/3 b=3/3 c=1/3"},
		"unused first":   {[]*Member{user("a", 9, 1), user("b", 0, 0)}, "b=2/2 a=1/2"},
		"no shares last": {[]*Member{user("a", 0, 1), user("b", 1, 100)}, "b=2/2 a=1/2"},
		"accounts go whole": {[]*Member{account("x", 1, user("a", 1, 1), user("b", 1, 99)),
			account("y", 1, user("c", 1, 200))},
			"a=3/3 b=2/3 c=1/3"},
		"equal accounts are one": {[]*Member{account("x", 1, user("a", 1, 30), user("b", 1, 70)),
			account("y", 1, user("c", 1, 50), user("d", 1, 50))},
			"a=4/4 c=3/4 d=3/4 b=1/4"},
		"a user and an account": {[]*Member{user("u", 1, 100), account("x", 1, user("a", 1, 30), user("b", 1, 70)),
			user("v", 1, 1000)},
			"a=4/4 u=4/4 b=2/4 v=1/4"},
		"an account without users": {[]*Member{account("x", 1), user("a", 1, 5)}, "a=1/1"},
	} {
		root := &Member{Account: true, Members: c.members}
		Rank(root)
		if got := factors(root); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// factors writes the users of a tree by rank, then by name.
func factors(root *Member) (text string) {
	users := usersOf(root)
	slices.SortFunc(users, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(b.Factor, a.Factor), cmp.Compare(a.Name, b.Name))
	})
	for i, u := range users {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%s=%.0f/%d", u.Name, u.Factor*float64(len(users)), len(users))
	}
	return text
}

func usersOf(m *Member) (out []*Member) {
	if !m.Account {
		return []*Member{m}
	}
	for _, c := range m.Members {
		out = append(out, usersOf(c)...)
	}
	return out
}

// TestFairTreeLaws: the first user has 1; a user of an account at a higher level comes before
// all of its lower siblings; the order in which members are named does not matter.
func TestFairTreeLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		names := 0
		var draw func(depth int) *Member
		draw = func(depth int) *Member {
			names++
			m := &Member{Name: strconv.Itoa(names), Shares: rapid.Int64Range(0, 4).Draw(rt, "shares")}
			if depth == 0 || rapid.Bool().Draw(rt, "user") {
				m.Usage = float64(rapid.IntRange(0, 4).Draw(rt, "usage"))
				return m
			}
			m.Account = true
			for range rapid.IntRange(0, 4).Draw(rt, "members") {
				m.Members = append(m.Members, draw(depth-1))
			}
			return m
		}
		root := draw(3)
		root.Account = true
		Rank(root)
		before := factors(root)
		users := usersOf(root)
		if len(users) > 0 && slices.MaxFunc(users,
			func(a, b *Member) int { return cmp.Compare(a.Factor, b.Factor) }).Factor != 1 {
			rt.Errorf("no user is first: %s", before)
		}
		var laws func(m *Member)
		laws = func(m *Member) {
			for _, a := range m.Members {
				for _, b := range m.Members {
					if a.Level <= b.Level || same(a.Level, b.Level) {
						continue
					}
					for _, x := range usersOf(a) {
						for _, y := range usersOf(b) {
							if x.Factor <= y.Factor {
								rt.Errorf("%s of %s has %v, %s of %s %v", x.Name, a.Name, x.Factor, y.Name, b.Name,
									y.Factor)
							}
						}
					}
				}
				laws(a)
			}
		}
		laws(root)
		random := rand.New(rand.NewPCG(1, 2))
		var shuffle func(m *Member)
		shuffle = func(m *Member) {
			random.Shuffle(len(m.Members), func(i, k int) { m.Members[i], m.Members[k] = m.Members[k], m.Members[i] })
			for _, c := range m.Members {
				shuffle(c)
			}
		}
		shuffle(root)
		Rank(root)
		if after := factors(root); after != before {
			rt.Errorf("in another order %s, and not %s", after, before)
		}
	})
}
