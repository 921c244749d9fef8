package index

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The model of an Index is the nodes themselves: whatever the Index holds is computed from
// them again after every step, without bitmaps. Two indexes take the same steps: one that
// stays in memory, and one that is written and reopened at random moments.

// ask is a query for candidates.
type ask struct {
	queue   string
	demands []Demand
}

// modelNode is a node as it was inserted, and its class.
type modelNode struct {
	*Node
	class Class
}

type model struct {
	defs  *Defs
	sign  []ResID
	keys  []ResID // resources that sets are made by
	nodes map[uint32]*modelNode
	next  uint32
	made  map[uint32]*Node // by bucket ever made: a node like those it is for
	room  map[uint32][]Amount

	stays, reopened *Index
	file            *memSource
}

func modelDefs(t *rapid.T) *model {
	m := &model{defs: NewDefs(), nodes: make(map[uint32]*modelNode), made: make(map[uint32]*Node),
		room: make(map[uint32][]Amount), file: newMemSource()}
	for _, def := range []Def{
		{Name: "cores", Type: Long, Consumable: true},
		{Name: "scratch", Type: Size, Consumable: true},
		{Name: "power", Type: Float, Consumable: true},
		{Name: "level", Type: Long},
		{Name: "ssd", Type: Boolean},
		{Name: "color", Type: String},
		{Name: "aoe", Type: StringArray},
		{Name: "seats", Type: Long, Consumable: true, Unique: true},
		{Name: "serial", Type: String, Unique: true},
		{Name: "tags", Type: StringArray, Unique: true},
	} {
		def, err := m.defs.Add(def)
		if err != nil {
			t.Fatal(err)
		}
		if def.Type == String || def.Type == StringArray {
			m.keys = append(m.keys, def.ID)
		}
		if m.defs.MaySign(def) && rapid.Bool().Draw(t, "signed "+def.Name) {
			m.sign = append(m.sign, def.ID)
		}
	}
	if rapid.Bool().Draw(t, "signed ncpus") {
		m.sign = append(m.sign, NCPUs)
	}
	m.stays, m.reopened = New(m.defs, m.sign, nil, Limits{}), New(m.defs, m.sign, m.file, Limits{})
	return m
}

func drawValue(t *rapid.T, def Def) Value {
	switch def.Type {
	case Boolean:
		return Value{Num: rapid.Int64Range(0, 1).Draw(t, def.Name)}
	case String:
		return Value{Str: rapid.SampledFrom([]string{"a", "b", "b,c"}).Draw(t, def.Name)}
	case StringArray:
		return Value{Str: rapid.SampledFrom([]string{"a", "b", "a,b", "b,a", "c,a"}).Draw(t, def.Name)}
	}
	return Value{Num: rapid.SampledFrom([]int64{0, 1, 2, 3, 300, 1 << 40}).Draw(t, def.Name)}
}

func (m *model) drawNode(t *rapid.T, number uint32) *modelNode {
	n := &Node{Number: number, Name: fmt.Sprintf("n%d", number),
		Queue:    rapid.SampledFrom([]string{"", "", "q"}).Draw(t, "queue"),
		Priority: rapid.SampledFrom([]int32{0, 0, 5, -1 << 31, 1<<31 - 1}).Draw(t, "priority"),
		State:    rapid.SampledFrom([]State{Up, Up, Up, Down, Offline, Drained}).Draw(t, "state"),
		Features: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"fast", "gpu"}), 0, 2, rapid.ID).Draw(t,
			"features"),
	}
	for _, def := range m.defs.All() {
		if (def.ID >= FirstDeclared || def.ID == NCPUs || def.ID == Mem) && rapid.IntRange(0, 2).Draw(t, "has") > 0 {
			n.Set(def.ID, drawValue(t, def))
		}
	}
	if len(m.nodes) > 0 && rapid.Bool().Draw(t, "alike") { // else hardly two are in a bucket
		other := m.pick(t)
		n.Queue, n.Priority, n.Res = other.Queue, other.Priority, slices.Clone(other.Res)
	}
	n.Set(Host, Value{Str: n.Name})
	return &modelNode{n, drawClass(t)}
}

func drawClass(t *rapid.T) Class {
	return rapid.SampledFrom([]Class{Free, Free, Later, Busy}).Draw(t, "class")
}

// classOf returns the class in the Index: None for a node that is not up.
func (n *modelNode) classOf() Class {
	if n.State != Up {
		return None
	}
	return n.class
}

func (m *model) both(f func(ix *Index)) {
	f(m.stays)
	f(m.reopened)
}

func (m *model) insert(t *rapid.T) {
	m.put(m.drawNode(t, m.next))
	m.next++
}

func (m *model) put(n *modelNode) {
	ids := make([]uint32, 0, 2)
	m.both(func(ix *Index) {
		ix.Insert(n.Node, n.class)
		ids = append(ids, n.Bucket)
	})
	if ids[0] != ids[1] {
		panic(fmt.Sprintf("node %d is in bucket %d of the one, %d of the other", n.Number, ids[0], ids[1]))
	}
	m.nodes[n.Number] = n
	if m.made[n.Bucket] == nil {
		m.made[n.Bucket] = n.Node
	}
}

func (m *model) pick(t *rapid.T) *modelNode {
	if len(m.nodes) == 0 {
		t.Skip("no nodes")
	}
	return m.nodes[rapid.SampledFrom(slices.Sorted(maps.Keys(m.nodes))).Draw(t, "node")]
}

func (m *model) remove(t *rapid.T) {
	n := m.pick(t)
	m.both(func(ix *Index) { ix.Remove(n.Node, n.class) })
	delete(m.nodes, n.Number)
}

// replace gives a node other resources.
func (m *model) replace(t *rapid.T) {
	n := m.pick(t)
	m.both(func(ix *Index) { ix.Remove(n.Node, n.class) })
	m.put(m.drawNode(t, n.Number))
}

// move changes a node's class, or makes it go up or down.
func (m *model) move(t *rapid.T) {
	n := m.pick(t)
	was := n.classOf()
	state := n.State
	if rapid.IntRange(0, 3).Draw(t, "toggle") == 0 {
		state = Down
		if n.State != Up {
			state = Up
		}
	}
	next := *n.Node
	next.State = state
	*n = modelNode{&next, drawClass(t)}
	m.both(func(ix *Index) { ix.Move(ix.Bucket(n.Bucket), n.Number, was, n.classOf()) })
}

func (m *model) moveMany(t *rapid.T) {
	of := m.pick(t)
	from, to := of.classOf(), drawClass(t)
	if from == None || from == to {
		t.Skip("stays")
	}
	some := roaring.New()
	for _, n := range m.nodes {
		if n.Bucket == of.Bucket && n.classOf() == from && (n == of || n.Number%3 > 0) {
			some.Add(n.Number)
			n.class = to
		}
	}
	m.both(func(ix *Index) { ix.MoveMany(ix.Bucket(of.Bucket), some, from, to) })
}

func (m *model) reopen(t *rapid.T) {
	m.file.write(t, m.reopened)
	m.reopened = New(m.defs, m.sign, m.file, m.reopened.Limits())
}

// TestModel runs the state machine.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := modelDefs(t)
		for range rapid.IntRange(0, 10).Draw(t, "nodes") {
			m.insert(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert":   m.insert,
			"remove":   m.remove,
			"replace":  m.replace,
			"move":     m.move,
			"moveMany": m.moveMany,
			"reopen":   m.reopen,
			"":         func(t *rapid.T) { m.check(t, m.stays) },
			// The reopened index loads what it needs: if all of it were read after every step,
			// nothing would be left to load.
			"look":   func(t *rapid.T) { m.check(t, m.reopened) },
			"ask":    func(t *rapid.T) { m.both(m.checkAsk(t)); m.both(m.checkSets(t)) },
			"around": m.askAround,
			"room":   func(t *rapid.T) { m.setRoom(t); m.both(m.checkRoom(t)) },
		})
		m.check(t, m.reopened)
		m.both(m.checkAsk(t))
		m.both(m.checkSets(t))
		m.reopen(t)
		m.check(t, m.reopened)
	})
}

// shape is everything that an Index holds, in words.
type shape struct {
	Buckets    []string
	Classes    map[uint32]string
	Postings   map[string]string
	Attributes map[string]string
	Queues     map[string]int
}

func (m *model) check(t *rapid.T, ix *Index) {
	t.Helper()
	if diff := gocmp.Diff(m.shape(), m.shapeOf(ix)); diff != "" {
		t.Fatalf("the index (-recomputed +kept)\n%s", diff)
	}
	if err := ix.Err(); err != nil {
		t.Fatal(err)
	}
}

// sorted lists the nodes by number.
func (m *model) sorted() []*modelNode {
	return slices.SortedFunc(maps.Values(m.nodes), func(a, b *modelNode) int { return cmp.Compare(a.Number, b.Number) })
}

// signatureOf returns the node's signature in words, as buckets are described.
func (m *model) signatureOf(n *Node) string {
	var parts []string
	for _, def := range m.defs.All() {
		v, ok := n.Get(def.ID)
		if slices.Contains(m.sign, def.ID) && (ok || def.Type == Boolean) {
			parts = append(parts, def.Name+"="+def.Format(v))
		}
	}
	return strings.Join(parts, ":")
}

func (m *model) shape() shape {
	s := shape{Classes: make(map[uint32]string), Postings: make(map[string]string), Attributes: make(map[string]string),
		Queues: make(map[string]int)}
	type bucket struct {
		*Node
		first    uint32
		members  [4][]uint32
		all      []uint32
		id       uint32
		describe string
	}
	byName := make(map[string]*bucket)
	for _, n := range m.sorted() {
		name := fmt.Sprintf("%s queue=%q priority=%d", m.signatureOf(n.Node), n.Queue, n.Priority)
		b := byName[name]
		if b == nil {
			b = &bucket{Node: n.Node, first: NoNode, id: n.Bucket, describe: name}
			byName[name] = b
		}
		class := n.classOf()
		if class != None {
			b.first = min(b.first, n.Number)
		}
		b.members[class] = append(b.members[class], n.Number)
		b.all = append(b.all, n.Number)
		s.Classes[n.Number] = fmt.Sprintf("%s of %d", class, b.id)
		s.Queues[n.Queue]++
		for key := range m.attributeKeys(n.Node) {
			s.Attributes[key] += fmt.Sprint(n.Number, " ")
		}
	}
	list := slices.SortedFunc(maps.Values(byName), func(a, b *bucket) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.first, b.first), cmp.Compare(a.id, b.id))
	})
	for _, b := range list {
		s.Buckets = append(s.Buckets, fmt.Sprint(b.id, b.describe, b.first, len(b.all), b.all, b.members[Free],
			b.members[Later], b.members[Busy], len(b.members[None])))
	}
	for _, id := range slices.Sorted(maps.Keys(m.made)) {
		for key := range m.postingKeys(m.made[id]) {
			s.Postings[key] += fmt.Sprint(id, " ")
		}
	}
	return s
}

// attributeKeys returns the values of a node outside the signature.
func (m *model) attributeKeys(n *Node) map[string]bool {
	keys := make(map[string]bool)
	for _, a := range n.Res {
		if !slices.Contains(m.sign, a.Res) && a.Res != Host {
			m.valueKeys(keys, a)
		}
	}
	for _, f := range n.Features {
		keys["feature="+f] = true
	}
	return keys
}

// postingKeys returns the values of a node's signature.
func (m *model) postingKeys(n *Node) map[string]bool {
	keys := make(map[string]bool)
	for _, a := range n.Res {
		if slices.Contains(m.sign, a.Res) {
			m.valueKeys(keys, a)
		}
	}
	return keys
}

func (m *model) valueKeys(keys map[string]bool, a Amount) {
	def, _ := m.defs.Get(a.Res)
	switch {
	case def.Type == StringArray:
		for _, member := range a.Value.Members() {
			keys[def.Name+"="+member] = true
		}
	case def.Type == String || a.Value.Num != 0:
		keys[def.Name+"="+def.Format(a.Value)] = true
	}
}

// shapeOf reads the same from an Index.
func (m *model) shapeOf(ix *Index) shape {
	s := shape{Classes: make(map[uint32]string), Postings: make(map[string]string), Attributes: make(map[string]string),
		Queues: make(map[string]int)}
	for _, b := range ix.Buckets() {
		name := fmt.Sprintf("%s queue=%q priority=%d", ix.Describe(b), b.Queue, b.Priority)
		var of [4][]uint32
		for c := range of {
			of[c] = nilIfEmpty(ix.Nodes(b, Class(c)).ToArray())
		}
		s.Buckets = append(s.Buckets, fmt.Sprint(b.ID, name, b.First, b.Total, of[None], of[Free], of[Later], of[Busy],
			b.Count[None]))
		if got := [...]int{len(of[Free]), len(of[Later]), len(of[Busy])}; got != [...]int{int(b.Count[Free]),
			int(b.Count[Later]), int(b.Count[Busy])} {
			s.Buckets = append(s.Buckets, fmt.Sprint("counts differ: ", got, b.Count))
		}
		for _, n := range of[None] {
			s.Classes[n] = fmt.Sprintf("%s of %d", ix.ClassOf(b, n), b.ID)
		}
	}
	for _, q := range []string{"", "q"} {
		if n := ix.CountNodes(q); n > 0 {
			s.Queues[q] = n
		}
		if ix.OwnsNodes(q) != (ix.CountNodes(q) > 0) {
			s.Queues[q] = -1
		}
	}
	for _, def := range m.defs.All() {
		scanned(ix, def, HavingValue, s.Postings)
		scanned(ix, def, NodesWith, s.Attributes)
	}
	return s
}

// scanned lists all bitmaps of a resource, and checks that their values ascend.
func scanned(ix *Index, def Def, fam Family, into map[string]string) {
	last, seen := "", false
	for k, bm := range ix.scan(BitsKey{Family: fam, ID: uint32(def.ID)}) {
		name := def.Name + "=" + def.Format(def.keyValue(k.Value))
		for _, n := range bm.ToArray() {
			into[name] += fmt.Sprint(n, " ")
		}
		if seen && k.Value <= last {
			into[name] += "out of order"
		}
		last, seen = k.Value, true
	}
}

func nilIfEmpty(list []uint32) []uint32 {
	if len(list) == 0 {
		return nil
	}
	return list
}

// setRoom changes what is left of a node, which may be one that was not inserted.
func (m *model) setRoom(t *rapid.T) {
	node := rapid.Uint32Range(0, 5).Draw(t, "node")
	var now []Amount
	if rapid.IntRange(0, 3).Draw(t, "open") > 0 {
		now = []Amount{}
		for _, def := range m.defs.All() {
			if def.Consumable && rapid.Bool().Draw(t, "has") {
				now = append(now, Amount{Res: def.ID, Value: Value{Num: drawRoom(t)}})
			}
		}
	}
	m.both(func(ix *Index) { ix.SetRoom(node, m.room[node], now) })
	m.room[node] = now
}

func drawRoom(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{0, 1, 2, 31, 32, 33, 34, 1000, 1023, 1024}).Draw(t, "amount")
}

// checkRoom compares WithRoom with what is left of each node.
func (m *model) checkRoom(t *rapid.T) func(*Index) {
	var demands []Demand
	for _, def := range m.defs.All() {
		if def.Consumable && rapid.IntRange(0, 4).Draw(t, "asks") == 0 {
			demands = append(demands, Demand{def.ID, Value{Num: drawRoom(t)}})
		}
	}
	want := roaring.New()
	for node, left := range m.room {
		enough := left != nil
		for _, d := range demands {
			v, _ := find(left, d.Res)
			enough = enough && level(v.Num) >= level(d.Value.Num)
		}
		if enough {
			want.Add(node)
		}
	}
	return func(ix *Index) {
		if got := ix.WithRoom(demands); !got.Equals(want) {
			t.Fatalf("room for %v: %v, want %v", demands, got, want)
		}
	}
}

// drawAsk draws a query.
func (m *model) drawAsk(t *rapid.T) ask {
	a := ask{queue: rapid.SampledFrom([]string{"", "", "q", "unknown"}).Draw(t, "queue")}
	if rapid.Bool().Draw(t, "anything") { // all nodes of the queue
		return a
	}
	for _, def := range m.defs.All() {
		if def.ID != NCPUs && def.ID != Feature && def.ID < FirstDeclared || rapid.IntRange(0, 5).Draw(t, "asks") > 0 {
			continue
		}
		v := drawValue(t, def)
		if def.Type == StringArray {
			v.Str = rapid.SampledFrom([]string{"a", "c", "fast", "none"}).Draw(t, "member")
		}
		a.demands = append(a.demands, Demand{def.ID, v})
	}
	return a
}

// askAround queries before and after a change, because remembered answers may no longer hold.
func (m *model) askAround(t *rapid.T) {
	a := m.drawAsk(t)
	m.both(m.answers(t, a))
	rapid.SampledFrom([]func(*rapid.T){m.insert, m.remove, m.replace, m.move, m.moveMany}).Draw(t, "change")(t)
	m.both(m.answers(t, a))
}

func (m *model) checkAsk(t *rapid.T) func(*Index) { return m.answers(t, m.drawAsk(t)) }

// answers compares Candidates with what each node says.
func (m *model) answers(t *rapid.T, a ask) func(*Index) {
	queue, demands := a.queue, a.demands
	want := make(map[uint32]string)
	for _, n := range m.nodes {
		if fits := m.holds(n.Node, demands); n.State == Up && n.Queue == queue && fits > 0 {
			want[n.Number] = fmt.Sprintf("%d, bucket %d", fits, n.Bucket)
		}
	}
	return func(ix *Index) {
		for range 2 { // once worked out, once remembered
			got := make(map[uint32]string)
			var order []*Bucket
			for _, c := range ix.Candidates(queue, demands) {
				order = append(order, c.Bucket)
				for _, cell := range c.Cells {
					up := 0
					for _, class := range []Class{Free, Later, Busy} {
						for _, n := range ix.Nodes(c.Bucket, class).ToArray() {
							if cell.Nodes == nil || cell.Nodes.Contains(n) {
								got[n] += fmt.Sprintf("%d, bucket %d", cell.Chunks, c.Bucket.ID)
								up++
							}
						}
					}
					if ix.Up(c, cell) != up {
						t.Errorf("%d nodes of a cell are up, %d counted", up, ix.Up(c, cell))
					}
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("nodes for %v of %q (-each by each +candidates)\n%s", demands, queue, diff)
			}
			if !slices.IsSortedFunc(order, func(a, b *Bucket) int {
				return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.First, b.First))
			}) {
				t.Fatal("the candidates are out of order")
			}
		}
	}
}

// holds returns how many chunks with these demands the node holds.
func (m *model) holds(n *Node, demands []Demand) int {
	fits := Unlimited
	for _, d := range demands {
		def, _ := m.defs.Get(d.Res)
		v, _ := n.Get(d.Res)
		ok := true
		switch {
		case d.Res == Feature:
			ok = slices.Contains(n.Features, d.Value.Str)
		case def.Type == StringArray:
			ok = slices.Contains(v.Members(), d.Value.Str)
		case def.Type == String || def.Type == Boolean:
			ok = v == d.Value
		default:
			ok = v.Num >= d.Value.Num
			if def.Consumable && d.Value.Num > 0 {
				fits = int(min(int64(fits), v.Num/d.Value.Num))
			}
		}
		if !ok {
			return 0
		}
	}
	return fits
}

// checkSets compares Sets with what each node says.
func (m *model) checkSets(t *rapid.T) func(*Index) {
	queue := rapid.SampledFrom([]string{"", "q"}).Draw(t, "queue")
	explicit := rapid.Bool().Draw(t, "explicit")
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(m.keys), 1, 3, rapid.ID).Draw(t, "keys")
	var want []*naiveSet
	for rank, key := range keys {
		for _, s := range m.setsBy(queue, key, explicit) {
			s.rank = rank
			want = append(want, s)
		}
	}
	slices.SortFunc(want, func(a, b *naiveSet) int {
		return cmp.Or(slices.Compare(a.sums[:], b.sums[:]), cmp.Compare(a.rank, b.rank),
			cmp.Compare(b.priority, a.priority), cmp.Compare(a.first, b.first), cmp.Compare(a.member, b.member),
			cmp.Compare(a.name, b.name))
	})
	return func(ix *Index) {
		var got, wanted []string
		for _, s := range want {
			wanted = append(wanted, fmt.Sprintf("%s %v %v", s.name, s.sums, s.nodes))
		}
		for _, s := range ix.Sets(queue, keys, explicit) {
			def, _ := m.defs.Get(s.Key)
			var nodes []uint32
			for _, b := range ix.Buckets() {
				if b.Queue != queue || s.Buckets != nil && !s.Buckets.Contains(b.ID) {
					continue
				}
				for _, n := range ix.Nodes(b, None).ToArray() {
					if s.Members == nil || s.Members.Contains(n) {
						nodes = append(nodes, n)
					}
				}
			}
			slices.Sort(nodes)
			sums := [4]int64{s.TotalCPUs, s.TotalMem, s.FreeCPUs, s.FreeMem}
			got = append(got, fmt.Sprintf("%s=%s unset=%v %v %v", def.Name, s.Value, s.Unset, sums, nodes))
			if s.Total != len(nodes) {
				t.Errorf("%s=%s: %d nodes, counted %d", def.Name, s.Value, len(nodes), s.Total)
			}
		}
		if diff := gocmp.Diff(wanted, got); diff != "" {
			t.Fatalf("sets (-each by each +ours)\n%s", diff)
		}
	}
}

// naiveSet is a placement set: sums are total ncpus and mem, free ncpus and mem.
type naiveSet struct {
	name     string
	sums     [4]int64
	nodes    []uint32
	rank     int   // of its key
	priority int32 // of the node it first appears with
	first    uint32
	member   int
}

func (m *model) setsBy(queue string, key ResID, explicit bool) []*naiveSet {
	def, _ := m.defs.Get(key)
	byName := make(map[string]*naiveSet)
	add := func(name string, n *modelNode, member int) {
		s := byName[name]
		if s == nil {
			s = &naiveSet{name: name, priority: n.Priority, first: n.Number, member: member}
			byName[name] = s
		}
		if n.Priority > s.priority || n.Priority == s.priority && n.Number < s.first {
			s.priority, s.first, s.member = n.Priority, n.Number, member
		}
		s.nodes = append(s.nodes, n.Number)
		cpus, _ := n.Get(NCPUs)
		mem, _ := n.Get(Mem)
		s.sums[0] += cpus.Num
		s.sums[1] += mem.Num
		if c := n.classOf(); c == Free || c == Later {
			s.sums[2] += cpus.Num
			s.sums[3] += mem.Num
		}
	}
	for _, n := range m.sorted() {
		if n.Queue != queue {
			continue
		}
		v, ok := n.Get(key)
		values := []string{v.Str}
		if def.Type == StringArray {
			values = v.Members()
		}
		if !ok {
			if !explicit {
				add(def.Name+"= unset=true", n, -1)
			}
			continue
		}
		for i, value := range values {
			if !slices.Contains(m.sign, key) {
				i = 0 // the order of members is known if they are part of the signature
			}
			add(def.Name+"="+value+" unset=false", n, i)
		}
	}
	return slices.Collect(maps.Values(byName))
}

// memSource is a store in memory: serialised bitmaps, and bucket heads.
type memSource struct {
	bits    map[BitsKey][]byte
	asWas   map[BitsKey]string // the same bytes, out of reach
	buckets map[uint32]Bucket
}

func newMemSource() *memSource {
	return &memSource{make(map[BitsKey][]byte), make(map[BitsKey]string), make(map[uint32]Bucket)}
}

// write writes what an Index changed, and checks that nothing was changed in place.
func (m *memSource) write(t *rapid.T, ix *Index) {
	for k, row := range m.bits {
		if string(row) != m.asWas[k] {
			t.Fatalf("%v was changed in the store's own memory", k)
		}
	}
	for k, bm := range ix.Changed() {
		delete(m.bits, k)
		if bm.IsEmpty() {
			continue
		}
		bm.RunOptimize()
		row, err := bm.ToBytes()
		if err != nil || !k.Valid() {
			t.Fatal(k, err)
		}
		m.bits[k], m.asWas[k] = row, string(row)
	}
	for _, b := range ix.ChangedBuckets() {
		m.buckets[b.ID] = Bucket{ID: b.ID, Signature: b.Signature, Queue: b.Queue, Priority: b.Priority, Total: b.Total,
			Count: b.Count, First: b.First}
	}
	for k := range ix.Changed() {
		t.Fatalf("%v is changed again", k)
	}
}

func (m *memSource) Bucket(id uint32) (*Bucket, error) {
	b, ok := m.buckets[id]
	if !ok {
		return nil, nil
	}
	return &b, nil
}

func (m *memSource) Bits(k BitsKey) (*roaring.Bitmap, error) {
	row, ok := m.bits[k]
	if !ok {
		return nil, nil
	}
	bm := roaring.New()
	_, err := bm.FromBuffer(row)
	return bm, err
}

func (m *memSource) Range(from BitsKey) iter.Seq2[BitsKey, *roaring.Bitmap] {
	var keys []BitsKey
	for k := range m.bits {
		if k.Family == from.Family && k.ID == from.ID && k.Value >= from.Value {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b BitsKey) int { return cmp.Compare(a.Value, b.Value) })
	return func(yield func(BitsKey, *roaring.Bitmap) bool) {
		for _, k := range keys {
			bm, err := m.Bits(k)
			if err != nil {
				panic(err)
			}
			if !yield(k, bm) {
				return
			}
		}
	}
}
