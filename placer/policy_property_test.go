package placer

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// What a policy chooses, compared with its definition applied to every node. The requests have
// one kind of chunk that takes one node each, so that the choice is a list of nodes.

// choice is a request at an instant, and the nodes that could serve it.
type choice struct {
	*site
	a        Ask
	at       int64
	see      *naiveNodes
	feasible []int // in node order
}

// drawChoice fills a cluster a little and asks for one to three nodes.
func drawChoice(t *rapid.T, policy Policy) *choice {
	c := &choice{site: drawRanked(t)}
	later := policy == LastAvailable // what is planned after the request decides
	most := 4
	if later {
		most = 8
	}
	for range rapid.IntRange(0, most).Draw(t, "jobs") {
		job := Ask{Duration: rapid.Int64Range(1, 12).Draw(t, "duration"), User: "ann"}
		job.Place.Arrange = Scatter
		job.Chunks = []Chunk{
			{Count: 1,
				Wants: []Want{{Res: index.NCPUs, Value: index.Value{Num: rapid.Int64Range(0, 2).Draw(t, "ncpus")}},
					{Res: index.Mem, Value: index.Value{Num: rapid.Int64Range(0, 2).Draw(t, "mem") << 10}}}}}
		job.Policy, job.Ranking = Local, []uint32{rapid.Uint32Range(0, 7).Draw(t, "on")}
		c.drawGrants(t, &job)
		starts := usually(t, "starts in", 0, int64(3), 9)
		if later {
			starts = rapid.SampledFrom([]int64{0, 3, 13, 13, 14, 16, 20, 25}).Draw(t, "planned in")
		}
		if plan, err := c.Place(job, c.Now+starts); err == nil {
			c.carryOut(t, job, plan)
		}
	}
	if rapid.Bool().Draw(t, "clock") {
		c.passTime(t)
	}
	c.at = c.Now + usually(t, "from", 0, int64(2), 5, 9)
	a := Ask{Duration: rapid.Int64Range(1, 12).Draw(t, "duration"), User: "ann", Policy: policy, Since: c.Now}
	a.Place.Arrange = Scatter
	if a.Place.Share = rapid.SampledFrom([]Sharing{Shared, Excl}).Draw(t, "share"); policy == FirstAvailable {
		a.Place.Share = Shared // whole nodes of the first available buckets have tests of their own
	}
	a.Chunks = []Chunk{{Count: rapid.IntRange(1, 3).Draw(t, "count"),
		Wants: []Want{{Res: index.NCPUs, Value: index.Value{Num: rapid.Int64Range(0, 2).Draw(t, "ncpus")}},
			{Res: index.Mem, Value: index.Value{Num: rapid.Int64Range(0, 2).Draw(t, "mem") << 10}}}}}
	var err error
	if a.Prefer, err = ParsePrefer(c.defs, usually(t, "prefers", nil, []string{"fast"}, []string{"host=n1"},
		[]string{"vnode=n2", "mem>=3mb"}, []string{"color=r"})); err != nil {
		t.Fatal(err)
	}
	c.drawGrants(t, &a)
	c.a = a
	c.see = c.oracle(a).looking(c.at, false)
	for k := range c.nodes {
		if c.see.left[k] != nil && c.see.may(k, 0) {
			c.feasible = append(c.feasible, k)
		}
	}
	slices.SortFunc(c.feasible, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.nodes[b].Priority, c.nodes[a].Priority), a-b)
	})
	return c
}

// drawRanked returns a cluster of nodes that policies distinguish.
func drawRanked(t *rapid.T) *site {
	defs := index.NewDefs()
	ids := []index.ResID{index.NCPUs, index.Mem}
	for _, name := range []string{"color", "row", "rack"} {
		def, err := defs.Add(index.Def{Name: name, Type: index.String})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, def.ID)
	}
	c := newSite(defs, rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID).Draw(t, "signature"), propertyNow,
		propertyGrace)
	c.Rules.Topology = ids[3:]
	alike := rapid.Bool().Draw(t, "much alike")
	mostly := func(label string, first, second float64) float64 {
		if alike && rapid.IntRange(0, 5).Draw(t, "usual "+label) > 0 {
			return first
		}
		return rapid.SampledFrom([]float64{first, second, 2 * second}).Draw(t, label)
	}
	for i := range rapid.IntRange(2, 8).Draw(t, "nodes") {
		n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i)}
		n.Set(index.NCPUs, index.Value{Num: int64(mostly("ncpus", 2, 1)) + rapid.Int64Range(0, 1).Draw(t, "one more")})
		if mem := rapid.Int64Range(0, 4).Draw(t, "mem"); mem > 0 {
			n.Set(index.Mem, index.Value{Num: mem << 10})
		}
		for _, id := range ids[2:] {
			if word := rapid.SampledFrom([]string{"r", "g", "r", "g", "b", ""}).Draw(t, "word"); word != "" {
				n.Set(id, index.Value{Str: word})
			}
		}
		n.Priority = usually(t, "priority", int32(0), 7, -7)
		n.State = usually(t, "state", index.Up, index.Up, index.Down)
		n.Features = usually(t, "features", nil, []string{"fast"})
		n.Speed, n.ProcSpeed = mostly("speed", 0, 0.5), mostly("procspeed", 0, 500)
		n.Load, n.Usage = mostly("load", 0, 0.75), mostly("usage", 0, 0.5)
		n.PriorityF = usually(t, "priorityf", "", "", "", "SPEED + 3")
		c.add(n)
	}
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		c.drawClaim(t)
	}
	return c
}

// affinity returns the level of a node, by the reservations that the request would be in
// there; the first reservation is used first.
func (c *choice) affinity(k int) int {
	levels := make(map[Affinity]bool)
	for _, g := range c.a.Grants {
		inside := min(c.at+c.a.Duration, g.End) - max(c.at, g.Start)
		if g.Nodes.Contains(uint32(k)) && inside > 0 && (g.Limit == 0 || inside <= g.Limit) {
			levels[g.Affinity] = true
		}
	}
	switch {
	case levels[Required]:
		return 0
	case levels[Negative]:
		return 4
	case levels[Positive]:
		return 1
	case levels[Neutral]:
		return 2
	}
	return 3
}

// taken returns how much of a resource is taken of a node at the start.
func (c *choice) taken(k int, id index.ResID) int64 {
	return sumOf(c.see.minded(uint32(k), c.at), id)
}

func (c *choice) has(k int, id index.ResID) int64 {
	v, _ := c.nodes[k].Get(id)
	return v.Num
}

// untilEvent returns how long after an instant something begins on a node.
func (c *choice) untilEvent(k int, from int64, atOnce bool) float64 {
	next := math.Inf(1)
	for _, b := range c.Calendar.At(uint32(k)) {
		if b.Start > from || atOnce && b.Start == from {
			next = min(next, float64(b.Start-from))
		}
	}
	return next
}

// best returns the first of the feasible nodes by keys, each ascending; ties go in node order.
func (c *choice) best(keys func(k int) []*big.Rat) []int {
	order := slices.Clone(c.feasible)
	slices.SortStableFunc(order, func(a, b int) int {
		if c.affinity(a) != c.affinity(b) {
			return c.affinity(a) - c.affinity(b)
		}
		return slices.CompareFunc(keys(a), keys(b), (*big.Rat).Cmp)
	})
	return order[:c.a.Chunks[0].Count]
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// number returns a float64 as it is; what is infinite is more than all the others here.
func number(v float64) *big.Rat {
	if math.IsInf(v, 1) {
		v = math.MaxFloat64
	}
	return new(big.Rat).SetFloat64(v)
}

func minus(r *big.Rat) *big.Rat { return new(big.Rat).Neg(r) }

// configured returns what minresource sorts by: the largest of a node's shares of the cluster,
// then each resource in declared order.
func (c *choice) configured(k int) []*big.Rat {
	keys := []*big.Rat{new(big.Rat)}
	for _, id := range []index.ResID{index.NCPUs, index.Mem} {
		total := int64(0)
		for other := range c.nodes {
			total += c.has(other, id)
		}
		if total == 0 {
			continue
		}
		if share := ratio(c.has(k, id), total); share.Cmp(keys[0]) > 0 {
			keys[0] = share
		}
		keys = append(keys, ratio(c.has(k, id), 1))
	}
	return keys
}

// rankings are the policies that sort nodes, according to their definitions.
var rankings = map[Policy]func(c *choice, k int) []*big.Rat{
	FirstAvailable: func(*choice, int) []*big.Rat { return nil },
	LastAvailable: func(c *choice, k int) []*big.Rat {
		return []*big.Rat{number(c.untilEvent(k, c.at+c.a.Duration, true))}
	},
	CPULoad: func(c *choice, k int) []*big.Rat {
		if c.at > c.Now {
			return c.configured(k)
		}
		busy := max(float64(c.taken(k, index.NCPUs)), c.nodes[k].Load)
		return []*big.Rat{number(busy - float64(c.has(k, index.NCPUs)))}
	},
	MinResource: (*choice).configured,
	Fastest: func(c *choice, k int) []*big.Rat {
		return []*big.Rat{number(-c.speed(k)), number(-c.nodes[k].ProcSpeed)}
	},
	Tetris: func(c *choice, k int) []*big.Rat {
		dot := new(big.Rat)
		for _, w := range c.a.Chunks[0].Wants {
			if have := c.has(k, w.Res); have > 0 {
				left := c.see.left[k][slices.Index(c.see.defs, w.Res)]
				dot.Add(dot, new(big.Rat).Mul(ratio(w.Value.Num, have), ratio(left, have)))
			}
		}
		return []*big.Rat{minus(dot)}
	},
	Local: func(c *choice, k int) []*big.Rat {
		at := slices.Index(c.a.Ranking, uint32(k))
		if at < 0 {
			at = len(c.a.Ranking)
		}
		return []*big.Rat{ratio(int64(at), 1)}
	},
}

func (c *choice) speed(k int) float64 {
	if speed := c.nodes[k].Speed; speed != 0 {
		return speed
	}
	return 1
}

// TestRankings: a policy that sorts nodes takes the first ones, in order.
func TestRankings(t *testing.T) {
	for policy := range rankings {
		t.Run(policy.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawChoice(t, policy)
				if policy == Local {
					c.a.Ranking = rapid.SliceOfDistinct(rapid.Uint32Range(0, 8), rapid.ID).Draw(t, "ranking")
				}
				c.checkRanking(t, func(k int) []*big.Rat { return rankings[policy](c, k) })
			})
		})
	}
}

func (c *choice) checkRanking(t *rapid.T, keys func(k int) []*big.Rat) {
	plan := c.decided(t, len(c.feasible) >= c.a.Chunks[0].Count)
	if plan == nil {
		return
	}
	if got, want := chosen(plan), c.best(keys); !slices.Equal(got, want) {
		t.Fatalf("nodes %v, by looking at every node %v of %v: %s", got, want, c.feasible, c.text(c.a))
	}
}

// decided returns the plan, which must exist exactly if the request fits.
func (c *choice) decided(t *rapid.T, fits bool) *Plan {
	plan, err := c.Place(c.a, c.at)
	if (plan != nil) != fits || err != nil && verdictOf(err) != "NOT_RUN" && verdictOf(err) != "NEVER" {
		t.Fatalf("from %d on (%v), by looking at every node (%v) %v: %s", c.at, err, c.feasible, fits, c.text(c.a))
	}
	return plan
}

// chosen returns a plan's nodes in the order in which they were taken.
func chosen(p *Plan) []int {
	var out []int
	for _, node := range p.NodeNumbers() {
		out = append(out, int(node))
	}
	return out
}

// TestTetrisTies: 2/25+2/25 and 1/25+3/25 are equal, but not as sums of float64; the first
// node must be taken.
func TestTetrisTies(t *testing.T) {
	c := newSite(index.NewDefs(), nil, propertyNow, propertyGrace)
	for i, taken := range [][2]int64{{3, 3}, {4, 2}, {2, 4}} {
		n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i)}
		n.Set(index.NCPUs, index.Value{Num: 5})
		n.Set(index.Mem, index.Value{Num: 5})
		c.add(n)
		use := &timeline.Use{Amounts: []timeline.Amount{{Quantity: uint16(index.NCPUs), N: taken[0]},
			{Quantity: uint16(index.Mem), N: taken[1]}}}
		c.put(t, n.Number, timeline.Busy{Start: 0, End: propertyEnd, Owner: c.newOwner(""), Held: true, Use: use})
	}
	a := Ask{Duration: 1, Policy: Tetris}
	a.Chunks = []Chunk{{Count: 1, Wants: []Want{oneCPU, {Res: index.Mem, Value: index.Value{Num: 1}}}}}
	if plan, err := c.Place(a, c.Now); err != nil || !slices.Equal(chosen(plan), []int{0}) {
		t.Errorf("%v, %v", plan, err)
	}
}

// priorityFunctions are some functions, and their values.
var priorityFunctions = []struct {
	text  string
	value func(c *choice, k int) float64
}{
	{"SPEED + .01*AMEM - 10*JOBCOUNT", func(c *choice, k int) float64 {
		return float64(c.speed(k)+float64(.01*float64(c.free(k, index.Mem))/1024)) - float64(10*c.jobCount(k))
	}},
	{"APROCS", func(c *choice, k int) float64 { return float64(c.free(k, index.NCPUs)) }},
	{"-APROCS", func(c *choice, k int) float64 { return -float64(c.free(k, index.NCPUs)) }},
	{"", func(c *choice, k int) float64 { return float64(c.nodes[k].Priority) + 100*c.preferred(k) }},
	{"5*PREF - LOAD", func(c *choice, k int) float64 { return 5*c.preferred(k) - c.load(k) }},
	{"-LOAD - 5*USAGE", func(c *choice, k int) float64 { return -c.load(k) - 5*c.nodes[k].Usage }},
	{"FREETIME", func(c *choice, k int) float64 { return min(c.untilEvent(k, c.at, false), priorityf.MaxFreeTime) }},
	{"-NODEINDEX", func(c *choice, k int) float64 { return -float64(k) }},
	{"3*FEATURE[fast] + CPROCS", func(c *choice, k int) float64 {
		fast := 0.0
		if slices.Contains(c.nodes[k].Features, "fast") {
			fast = 3
		}
		return fast + float64(c.has(k, index.NCPUs))
	}},
	{"RESAFFINITY", func(c *choice, k int) float64 { return []float64{1, 1, 0, 0, -1}[c.affinity(k)] }},
}

func (c *choice) free(k int, id index.ResID) int64 { return max(0, c.has(k, id)-c.taken(k, id)) }

func (c *choice) jobCount(k int) (n int) {
	for _, b := range c.see.minded(uint32(k), c.at) {
		if !b.Claim {
			n++
		}
	}
	return n
}

func (c *choice) load(k int) float64 {
	if c.at > c.Now {
		return float64(c.taken(k, index.NCPUs))
	}
	return c.nodes[k].Load
}

// preferred knows the preferences that drawChoice draws.
func (c *choice) preferred(k int) float64 {
	n := c.nodes[k]
	color, _ := n.Get(index.FirstDeclared)
	for _, one := range c.a.Prefer.any {
		switch one.res {
		case index.Feature:
			if slices.Contains(n.Features, "fast") {
				return 1
			}
		case index.Host:
			if k == 1 {
				return 1
			}
		case index.VNode:
			if k == 2 {
				return 1
			}
		case index.Mem:
			if c.has(k, index.Mem) >= 3<<10 {
				return 1
			}
		case index.FirstDeclared:
			if color.Str == "r" {
				return 1
			}
		}
	}
	return 0
}

// TestPriorityOrder: the node with the highest value of its own function, or of the store's,
// comes first.
func TestPriorityOrder(t *testing.T) {
	for _, f := range priorityFunctions {
		t.Run(f.text, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawChoice(t, Priority)
				if f.text != "" {
					var err error
					if c.a.PriorityF, err = priorityf.Parse(c.defs, f.text); err != nil {
						t.Fatal(err)
					}
				}
				c.checkRanking(t, func(k int) []*big.Rat {
					if c.nodes[k].PriorityF != "" {
						return []*big.Rat{number(-(c.speed(k) + 3))} // what drawRanked gives it
					}
					return []*big.Rat{number(-f.value(c, k))}
				})
			})
		})
	}
}

// TestPriorityByHand: a preference by name distinguishes nodes of a bucket, and what guests
// have of a reservation is not taken twice.
func TestPriorityByHand(t *testing.T) {
	c := handMade(t, "ncpus=3", "ncpus=3", "ncpus=3")
	a := c.request(t, "1:ncpus=1", "shared")
	a.Policy = Priority
	var err error
	if a.Prefer, err = ParsePrefer(c.defs, []string{"host=n2"}); err != nil {
		t.Fatal(err)
	}
	if plan, err := c.Place(a, c.Now); err != nil || !slices.Equal(chosen(plan), []int{2}) {
		t.Errorf("%+v, %v", plan, err)
	}
	claim := c.newOwner("")
	two := []timeline.Amount{{Quantity: uint16(index.NCPUs), N: 2}}
	c.put(t, 0, timeline.Busy{Start: 0, End: propertyEnd, Owner: claim, Claim: true, Use: &timeline.Use{Amounts: two}})
	for node, within := range []uint64{claim, 0, 0} {
		c.put(t, uint32(node), timeline.Busy{Start: 0, End: propertyEnd, Owner: c.newOwner("bob"), Held: true,
			Use: &timeline.Use{Amounts: two, Within: within}})
	}
	if a.PriorityF, err = priorityf.Parse(c.defs, "APROCS"); err != nil {
		t.Fatal(err)
	}
	if plan, err := c.Place(a, c.Now); err != nil || !slices.Equal(chosen(plan), []int{0}) {
		t.Errorf("%+v, %v", plan, err)
	}
}

// upTo returns the feasible nodes of the first levels of affinity that hold the request, as
// far as the levels tell which ones do.
func (c *choice) upTo(hold func(nodes []int) bool) []int {
	for level := range 5 {
		var nodes []int
		for _, k := range c.feasible {
			if c.affinity(k) <= level {
				nodes = append(nodes, k)
			}
		}
		if hold(nodes) {
			return nodes
		}
	}
	return nil
}

func (c *choice) enough(nodes []int) bool { return len(nodes) >= c.a.Chunks[0].Count }

// subsets returns all ways to choose as many of the nodes as are requested.
func (c *choice) subsets(nodes []int) [][]int {
	var out [][]int
	for mask := range 1 << len(nodes) {
		var some []int
		for i, k := range nodes {
			if mask>>i&1 == 1 {
				some = append(some, k)
			}
		}
		if len(some) == c.a.Chunks[0].Count {
			out = append(out, some)
		}
	}
	return out
}

// checkAmong verifies that the nodes of a plan are among some.
func (c *choice) checkAmong(t *rapid.T, plan *Plan, nodes []int) []int {
	got := chosen(plan)
	for _, k := range got {
		if !slices.Contains(nodes, k) {
			t.Fatalf("nodes %v, not among %v: %s", got, nodes, c.text(c.a))
		}
	}
	return got
}

// TestContiguous: nodes are in a row, in the shortest row that is long enough; of several such
// rows, the first.
func TestContiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t, Contiguous)
		nodes := c.upTo(func(nodes []int) bool { return c.shortestRow(nodes) != nil })
		plan := c.decided(t, nodes != nil)
		if plan == nil {
			return
		}
		if got, want := chosen(plan), c.shortestRow(nodes)[:c.a.Chunks[0].Count]; !slices.Equal(got, want) {
			t.Fatalf("nodes %v, by looking at every row %v: %s", got, want, c.text(c.a))
		}
	})
}

// shortestRow returns the shortest row of neighbours among nodes that holds the request, or
// nil if none does.
func (c *choice) shortestRow(nodes []int) []int {
	var best, row []int
	for k := range len(c.nodes) + 1 {
		if slices.Contains(nodes, k) {
			row = append(row, k)
			continue
		}
		if c.enough(row) && (best == nil || len(row) < len(best)) {
			best = row
		}
		row = nil
	}
	return best
}

// TestContiguousVerdict: a request that cannot have a row now waits if it could have one when
// all nodes are empty.
func TestContiguousVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t, Contiguous)
		oracle := c.oracle(c.a)
		row := func(at int64, empty bool) bool {
			look := oracle.looking(at, empty)
			var could []int
			for k := range c.nodes {
				if look.left[k] != nil && look.may(k, 0) {
					could = append(could, k)
				}
			}
			return c.shortestRow(could) != nil
		}
		_, err := c.Place(c.a, c.at)
		never := !row(c.at, true) || !oracle.startsInTime(func(at int64) bool { return row(at, false) })
		if (verdictOf(err) == "NEVER") != never {
			t.Fatalf("%v, by looking at every row of the empty cluster never: %v: %s", err, never, c.text(c.a))
		}
	})
}

// TestMaxBalance: no other choice has speeds that are closer together, and none that is equal
// has an earlier first node.
func TestMaxBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t, MaxBalance)
		plan := c.decided(t, c.enough(c.feasible))
		if plan == nil {
			return
		}
		nodes := c.upTo(c.enough)
		got := c.checkAmong(t, plan, nodes)
		first := func(some []int) int {
			least := len(nodes)
			for _, k := range some {
				least = min(least, slices.Index(nodes, k))
			}
			return least
		}
		for _, other := range c.subsets(nodes) {
			if cmp.Or(cmp.Compare(c.span(other), c.span(got)), cmp.Compare(first(other), first(got))) < 0 {
				t.Fatalf("nodes %v span %v, %v span %v: %s", got, c.span(got), other, c.span(other), c.text(c.a))
			}
		}
	})
}

// TestMaxBalanceTies: 2.4 and 2.6 are as close as 2.6 and 2.8, whatever they are as float64.
func TestMaxBalanceTies(t *testing.T) {
	c := newSite(index.NewDefs(), nil, propertyNow, propertyGrace)
	for i, speed := range []float64{2.4, 2.6, 2.8} {
		n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i), ProcSpeed: speed}
		n.Set(index.NCPUs, index.Value{Num: 1})
		c.add(n)
	}
	a := Ask{Duration: 1, Policy: MaxBalance}
	a.Chunks = []Chunk{{Count: 2, Wants: []Want{oneCPU}}}
	if plan, err := c.Place(a, c.Now); err != nil || !slices.Equal(chosen(plan), []int{0, 1}) {
		t.Errorf("%v, %v", plan, err)
	}
}

// span returns how far the speeds of nodes' processors, or else of nodes, are apart.
func (c *choice) span(nodes []int) float64 {
	var speeds []float64
	for _, k := range nodes {
		speed := c.nodes[k].ProcSpeed
		if speed == 0 {
			speed = c.speed(k)
		}
		speeds = append(speeds, speed)
	}
	return slices.Max(speeds) - slices.Min(speeds)
}

// TestTopology: nodes are behind one switch of the lowest possible level, on the fewest leaf
// switches, and of those on the tightest.
func TestTopology(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t, Topology)
		plan := c.decided(t, c.enough(c.feasible))
		if plan == nil {
			return
		}
		nodes := c.upTo(c.enough)
		got := c.spread(nodes, c.checkAmong(t, plan, nodes))
		for _, other := range c.subsets(nodes) {
			if want := c.spread(nodes, other); slices.Compare(want, got) < 0 {
				t.Fatalf("nodes %v: %v, nodes %v: %v: %s", chosen(plan), got, other, want, c.text(c.a))
			}
		}
	})
}

// TestTopologySwitches: which switches are taken, by hand.
func TestTopologySwitches(t *testing.T) {
	for _, one := range []struct {
		leaves string // by node: row and rack
		count  int
		want   []int
	}{
		{"aa ba bb bc ba", 2, []int{1, 4}},                // one rack, though row a comes first
		{"aa aa aa ba ba", 2, []int{3, 4}},                // the tighter one
		{"aa ab ba ba", 2, []int{2, 3}},                   // a rack before a row
		{"aa ab bb bb ba", 3, []int{2, 3, 4}},             // one row: the rack it needs whole, then the other
		{"aa ab ac ba ba bb bb", 3, []int{3, 4, 5}},       // two racks of a row, not three of a tighter one
		{"aa ab ab ac ac", 3, []int{1, 2, 0}},             // of two as large the first; then the smallest that will do
		{"aa aa ab ac ad ad", 3, []int{0, 1, 2}},          // so for the rest
		{"aa bb bb ca", 3, []int{1, 2, 0}},                // no row has enough
		{"aa ab bb ba aa", 2, []int{0, 4}},                // neighbours or not
		{"aa ab ba bb", 2, []int{0, 1}},                   // of rows alike the first
		{"ba bb ab aa", 2, []int{0, 1}},                   // whatever they are called
		{"aa aa aa ab ab ab ac", 5, []int{0, 1, 2, 3, 4}}, // the first of two as large for the rest, too
	} {
		t.Run(one.leaves, func(t *testing.T) {
			defs := index.NewDefs()
			row, _ := defs.Add(index.Def{Name: "row", Type: index.String})
			rack, _ := defs.Add(index.Def{Name: "rack", Type: index.String})
			c := newSite(defs, []index.ResID{index.NCPUs}, propertyNow, propertyGrace)
			c.Rules.Topology = []index.ResID{row.ID, rack.ID}
			for i, leaf := range strings.Fields(one.leaves) {
				n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i)}
				n.Set(index.NCPUs, index.Value{Num: 1})
				n.Set(row.ID, index.Value{Str: leaf[:1]})
				n.Set(rack.ID, index.Value{Str: leaf[1:]})
				c.add(n)
			}
			a := Ask{Duration: 1, Policy: Topology}
			a.Chunks = []Chunk{{Count: one.count, Wants: []Want{oneCPU}}}
			plan, err := c.Place(a, c.Now)
			if err != nil || !slices.Equal(chosen(plan), one.want) {
				t.Errorf("%d of them: %v (%v), want %v", one.count, chosen(plan), err, one.want)
			}
		})
	}
}

// spread says how far apart nodes are. It returns how many levels up their common switch is,
// how many leaf switches they use, how many of the possible nodes are behind the common
// switch, and which of these comes first.
func (c *choice) spread(all, nodes []int) []int {
	path := func(k, levels int) string {
		text := ""
		for _, id := range c.Rules.Topology[:levels] {
			v, ok := c.nodes[k].Get(id)
			text += fmt.Sprintf("%v %q ", ok, v.Str)
		}
		return text
	}
	depth := len(c.Rules.Topology)
	leaves := make(map[string]bool)
	for _, k := range nodes {
		leaves[path(k, depth)] = true
	}
	level := depth
	for slices.ContainsFunc(nodes, func(k int) bool { return path(k, level) != path(nodes[0], level) }) {
		level--
	}
	behind, first := 0, len(all)
	for i, k := range all {
		if path(k, level) == path(nodes[0], level) {
			behind++
			first = min(first, i)
		}
	}
	return []int{depth - level, len(leaves), behind, first}
}
