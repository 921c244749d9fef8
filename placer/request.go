package placer

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/placer/syntax"
)

// Limits of a request. A text beyond them is refused, never cut or wrapped.
const (
	MaxText   = 64 << 10  // bytes of a select, a place or a resource list
	MaxChunks = 4096      // chunks joined by + in one select
	MaxWants  = 256       // resources of one chunk
	MaxCount  = 1<<31 - 1 // chunks, counts included
)

// Request is a user's request, unparsed. The zero value asks for one cpu for the default walltime.
type Request struct {
	// Select is a select, or a PBS resource list such as
	// "ncpus=2,mem=4gb,walltime=1:00:00" or "nodes=2:ppn=4". The resource vnode asks for a node by name:
	// "1:ngpus=1:vnode=n3" is one GPU of n3.
	Select   string
	Place    string
	Walltime time.Duration // 0: from a resource list, else the store's default

	Name, User, Group, Account, Queue, Class string

	Policy string // in any case; "": the default of the queue, else of the store
	Access string // whose jobs may be on its nodes besides: shared, singleuser, singlejob, singletask
	// Reservation is the reservation that it insists on: it runs there, within its time, or
	// not at all.
	Reservation string

	// Pools are the pools that it asks for, besides those in a resource list.
	Pools []PoolAmount

	// OverLimits exempts it from limits, except the limit on how many jobs of its own array
	// run at once.
	OverLimits bool

	// Bind says how devices are chosen on nodes that name them: compact, tight or scatter; "":
	// the store's default.
	Bind string

	// Prefer says which nodes to take first, by features and conditions on resources
	// (ParsePrefer). It only has an effect through PRIORITYF.
	Prefer []string
	// Exclude lists the names of nodes that it must not get, such as n[1-4],n9.
	Exclude string
	// Ranking is the order of nodes by name for the policy local.
	Ranking []string
}

// Whose returns whose request it is.
func (r *Request) Whose() subject.Names {
	return subject.Names{subject.User: r.User, subject.Group: r.Group, subject.Account: r.Account,
		subject.Class: r.Class, subject.Queue: r.Queue}
}

// Want is one demand of a chunk: an amount, or a value to match. The index matches nodes against
// it.
type Want = index.Demand

// Chunk is Count equal pieces of a request, each served by one node. Wants are in written order; if
// none names ncpus, ncpus=1 is added at the end. Only feature may be named more than once: the node
// must have each.
type Chunk struct {
	Count int // 1 to MaxCount
	Wants []Want
	// Implied says that the last want is the added ncpus=1.
	Implied bool
}

// Spec is a parsed request.
type Spec struct {
	Chunks   []Chunk
	Place    Place
	Walltime int64        // seconds, at most MaxWalltime; 0 if none was given
	Pools    []PoolAmount // by name, each once
}

// Parse reads a whole request: select or resource list, place, walltime.
//
// Request.Select is read as a resource list if it has a comma outside quotes, or begins with a key
// that only lists have (select=, place=, nodes=, walltime=). Otherwise it is a select. A lone
// "ncpus=2", which could be either, is a select: you may set a place beside it, and it is placed
// free, not packed. A list may name pools; a select may not.
//
// An empty request is one chunk of ncpus=1. All errors match ErrRequest; those about a text are of
// type *syntax.Error.
func Parse(defs *index.Defs, r Request) (Spec, error) {
	spec, err := parseTexts(defs, r.Select, r.Place)
	if err != nil {
		return Spec{}, err
	}
	if spec.Walltime, err = wallSeconds(r.Walltime, spec.Walltime); err != nil {
		return Spec{}, err
	}
	if spec.Pools, err = poolsOf(defs, spec.Pools, r.Pools); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

func parseTexts(defs *index.Defs, sel, place string) (spec Spec, err error) {
	var given *Place
	if place != "" {
		if spec.Place, err = ParsePlace(defs, place); err != nil {
			return spec, err
		}
		given = &spec.Place
	}
	switch {
	case sel == "":
		spec.Chunks = []Chunk{{Count: 1, Wants: []Want{oneCPU}, Implied: true}}
	case isResourceList(defs, sel):
		return parseResourceList(defs, sel, given)
	default:
		spec.Chunks, err = ParseSelect(defs, sel)
	}
	return spec, err
}

// oneCPU is the want added to a chunk that does not name ncpus.
var oneCPU = Want{Res: index.NCPUs, Value: index.Value{Num: 1}}

// Select returns the chunks in normal form: each chunk has its count, its ncpus, and values as
// their resources write them. ParseSelect reads it back.
func (s Spec) Select(defs *index.Defs) string {
	var b strings.Builder
	for i, c := range s.Chunks {
		if i > 0 {
			b.WriteByte('+')
		}
		c.write(&b, defs, c.Wants)
	}
	return b.String()
}

// Text returns the chunks as the user asked for them: in normal form, but without an added ncpus=1.
// ParseSelect reads back the same chunks.
func (s Spec) Text(defs *index.Defs) string {
	texts := make([]string, len(s.Chunks))
	for i, c := range s.Chunks {
		texts[i] = c.Text(defs)
	}
	return strings.Join(texts, "+")
}

// Text returns one chunk as the user asked for it: 2:ncpus=4:mem=8gb.
func (c Chunk) Text(defs *index.Defs) string {
	var b strings.Builder
	c.write(&b, defs, c.Asked())
	return b.String()
}

// Asked returns the wants that the user wrote.
func (c Chunk) Asked() []Want {
	if c.Implied {
		return c.Wants[:len(c.Wants)-1]
	}
	return c.Wants
}

func (c Chunk) write(b *strings.Builder, defs *index.Defs, wants []Want) {
	b.WriteString(strconv.Itoa(c.Count))
	for _, w := range wants {
		def, _ := defs.Get(w.Res)
		b.WriteByte(':')
		b.WriteString(def.Name)
		b.WriteByte('=')
		v := def.Format(w.Value)
		if strings.ContainsAny(v, `"'+:=(), #`) { // a select would otherwise split it
			v = syntax.Quote(v)
		}
		b.WriteString(v)
	}
}

// Names reports whether the request names a resource, in a chunk or as the key of its group.
func (s Spec) Names(id index.ResID) bool {
	if s.Place.HasGroup && s.Place.Group == id {
		return true
	}
	return slices.ContainsFunc(s.Chunks, func(c Chunk) bool { return names(c.Wants, id) })
}

// NumChunks returns the number of chunks, counts included: nodect in PBS.
func (s Spec) NumChunks() int {
	n := 0
	for _, c := range s.Chunks {
		n += c.Count
	}
	return n
}

// Totals adds up the amounts of all chunks, sorted by resource number: consumable resources, and
// mpiprocs, which PBS counts with them. Chunks from Parse cannot overflow here.
func (s Spec) Totals(defs *index.Defs) []Want {
	sums, _, _ := sumChunks(nil, defs, s.Chunks)
	slices.SortFunc(sums, func(a, b Want) int { return int(a.Res) - int(b.Res) })
	return sums
}

// sumChunks appends the totals to sums. If a total overflows, it returns that resource and false.
func sumChunks(sums []Want, defs *index.Defs, chunks []Chunk) ([]Want, index.Def, bool) {
	for _, c := range chunks {
		for _, w := range c.Wants {
			def, _ := defs.Get(w.Res)
			if !def.Consumable && def.ID != index.MPIProcs {
				continue
			}
			i := 0
			for i < len(sums) && sums[i].Res != w.Res {
				i++
			}
			if i == len(sums) {
				sums = append(sums, Want{Res: w.Res})
			}
			hi, lo := bits.Mul64(uint64(c.Count), uint64(w.Value.Num))
			if hi != 0 || lo > uint64(math.MaxInt64-sums[i].Value.Num) {
				return sums, def, false
			}
			sums[i].Value.Num += int64(lo)
		}
	}
	return sums, index.Def{}, true
}

// Affinity says how strongly a job prefers a reservation that it may use. Whatever the policy, the
// placer tries nodes of a higher affinity first. The numbers are on disk and must not change.
type Affinity int8

// The affinities. A node without a reservation ranks between Neutral and Negative.
const (
	Negative Affinity = -1 // only if nothing else is left
	Neutral  Affinity = 0  // as good as any other
	Positive Affinity = 1  // preferred to other nodes
	Required Affinity = 2  // nowhere else: the job insists on the reservation
)
