package row

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/timeline"
)

// fill makes a random value: every field is sometimes zero, and texts have any length.
func fill(r *rand.Rand, v reflect.Value) {
	if v.Kind() != reflect.Struct && r.IntN(4) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString([]string{"ann", "ünicode \"x\" <&>\n", strings.Repeat("long", r.IntN(60)), "a,b"}[r.IntN(4)])
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{1, 2, 63, 64, 1 << 20, 1 << 40}[r.IntN(6)])
	case reflect.Int8, reflect.Int32:
		v.SetInt(int64(r.IntN(256) - 128))
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(4)))
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(r.IntN(1 << 15)))
	case reflect.Uint64:
		v.SetUint(r.Uint64N(1 << 50))
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	}
}

// sampled is a kind of row.
type sampled struct {
	name   string // of its table, of its key in table meta, or both
	random func(t *testing.T, r *rand.Rand)
	again  func(key, payload []byte) ([]byte, error)               // read and written
	said   func(key, payload []byte) (doc, back []byte, err error) // as a document, and as that is heard
}

// sample returns a kind of row. fit turns a random row into a possible one, and returns its
// key.
func sample[T any](name string, list func(*Fields, *T), fit func(r *rand.Rand, v *T) (key []byte)) sampled {
	s, kind := sampled{name: name}, &Kind[T]{Jobs, list}
	s.again = func(key, payload []byte) ([]byte, error) {
		v, err := kind.Decode(key, payload)
		return kind.Encode(v), err
	}
	s.said = func(key, payload []byte) (doc, back []byte, err error) {
		v, err := decode(Jobs, kind, key, payload)
		if err != nil {
			return nil, nil, err
		}
		doc = v.json()
		heard, err := readJSON(kind, doc)
		if err != nil {
			return doc, nil, err
		}
		return doc, heard.written(), nil
	}
	s.random = func(t *testing.T, r *rand.Rand) {
		v := new(T)
		fill(r, reflect.ValueOf(v).Elem())
		key := fit(r, v)
		payload := kind.Encode(v)
		is, err := kind.Decode(key, payload)
		if diff := cmp.Diff(v, is, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(index.Bucket{})); err != nil ||
			diff != "" {
			t.Fatalf("%x: %v: -was +is\n%s", payload, err, diff)
		}
		if doc, back, err := s.said(key, payload); s.documented() && (err != nil || !bytes.Equal(back, payload)) {
			t.Fatalf("%s: %v\n%x comes back as\n%x", doc, err, payload, back)
		}
		damaged := bytes.Clone(payload[:r.IntN(len(payload))])
		if _, err := kind.Decode(key, damaged); len(damaged) == 0 && err == nil && name != "decided" {
			t.Fatal("an empty row is read")
		}
		if len(damaged) > 0 {
			damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
		}
		_, _ = kind.Decode(key, damaged) // says something, and ends
	}
	return s
}

// documented reports whether documents hold the row, and all of it.
func (s *sampled) documented() bool {
	table, ok := TableNamed(s.name)
	return !(ok && table.Derived() || s.name == "sums" || s.name == "identity")
}

func fits[T any](key func(v *T) []byte) func(*rand.Rand, *T) []byte {
	return func(_ *rand.Rand, v *T) []byte { return key(v) }
}

var samples = []sampled{
	sample("accounts", accountFields, fits(func(a *Account) []byte { return []byte(a.Name) })),
	sample("answers", answerFields, fits(func(a *Answer) []byte { return []byte(a.Key) })),
	sample("attempts", attemptFields, func(r *rand.Rand, a *Attempt) []byte {
		a.Number = 1 + r.IntN(5)
		fitChunks(r, a.Chunks)
		return AttemptKey(a.Job, a.Number)
	}),
	sample("batches", batchFields, fits(func(b *Batch) []byte { b.Jobs, b.Layers = 7, 2; return []byte(b.Name) })),
	sample("batch_files", batchFilesFields, fits(func(*[]BatchFile) []byte { return BatchBlockKey(1, 2) })),
	sample("batch_jobs", batchJobsFields, func(r *rand.Rand, b *locality.JobBlock) []byte {
		b.Before = make([]locality.Credit, locality.MaxQuorum)
		last := 0
		for i := range b.Jobs {
			j := &b.Jobs[i]
			j.A, j.Quorum = last+r.IntN(300), r.IntN(9)
			j.B, last = j.A+r.IntN(300), j.A
		}
		return BatchBlockKey(1, 2)
	}),
	sample("batch_tasks", batchTasksFields, fits(func(b *locality.TaskBlock) []byte {
		for i := range b.Tasks {
			for k := range b.Tasks[i].Instances {
				b.Tasks[i].Instances[k].Layer = k
			}
		}
		return BatchBlockKey(1, 2)
	})),
	sample("batch_hosts", memberFields, func(r *rand.Rand, m *locality.Member) []byte {
		m.Side &= 1
		for _, list := range [][]locality.Span{m.Held, m.Asked.Fetch, m.Asked.Delete} {
			last := 0
			for i := range list {
				list[i].A = last + r.IntN(300)
				list[i].B = list[i].A + r.IntN(300)
				last = list[i].B
			}
		}
		if m.Asked.Key == "" {
			m.Asked = locality.Asked{}
		}
		return BatchBlockKey(1, int(m.Host))
	}),
	sample("batch_ranges", rangeFields, fits(func(c *locality.Cursor) []byte { return RangeKey(1, c.First) })),
	sample("beats", beatFields, fits((*Beat).Key)),
	sample("claims", claimFields, fits(func(c *Claim) []byte {
		c.End = c.Start + 1
		for i := range c.Held {
			c.Held[i] = ClaimHeld{LimitCounter(&limits.Applied{Rule: new(limits.Rule), Whom: "x"}), 5}
		}
		return Key64(c.Job)
	})),
	sample("counters", counterFields, fits(func(*Counter) []byte { return []byte(PoolKey("x")) })),
	sample("holdings", holdingFields, fits(func(h *limits.Holder) []byte { return HoldingKey("pool:x", h.Owner) })),
	sample("decayed", decayedFields, fits(func(x *Decayed) []byte {
		for i := range x.Uses {
			x.Uses[i].One = 1024
		}
		return DecayedKey(subject.Names{subject.Group: "g"})
	})),
	sample("events", eventFields, fits(func(ev *Event) []byte {
		if ev.Attempt == 1 && ev.By == nil {
			ev.Attempt = 0 // which is what it reads as
		}
		return Key64(ev.ID)
	})),
	sample("wakes", freedFields, fits(func(x *Freed) []byte {
		if x.Anywhere || len(x.Nodes) == 0 {
			x.Nodes = nil
		} else {
			x.Nodes = []uint32{3, 4, 5, 70000}
		}
		return KeyFreed
	})),
	sample("hook", hookFields, fits(func(*Hook) []byte { return KeyHook })),
	sample("hosts", hostFields, fits(func(h *locality.Host) []byte { return Key32(h.Number) })),
	sample("limits", limitFields, fits(func(x *limits.Rule) []byte {
		x.Key, x.Measure = subject.Key{{Kind: subject.User, Name: "ann"}},
			limits.Measure{Resource: "ncpus", Form: limits.OfQueued}
		return LimitKey(x)
	})),
	sample("numbers", numberFields, fits(func(*int64) []byte { return NumberKey(subject.User.Of("ann")) })),
	sample("limit_sums", numberFields, fits(func(*int64) []byte { return []byte("limit:x\x01y") })),
	sample("payloads", payloadFields, fits(func(*Payload) []byte { return make([]byte, 16) })),
	sample("forecasts", forecastsFields, fits(func(*Forecasts) []byte { return KeyForecasts })),
	sample("past_runs", pastRunFields, fits(func(p *PastRun) []byte {
		p.Asked, p.Ran = max(p.Asked, 1), max(p.Ran, 0)
		return Key64(p.Job)
	})),
	sample("postponed", postponedFields, fits(func(*Postponed) []byte { return KeyPostponed })),
	sample("preempts", preemptFields, func(r *rand.Rand, x *preempt.Rule) []byte {
		said, err := preempt.Parse([]string{"user=ann over account=b", "soft"}[r.IntN(2)])
		if err != nil {
			said, _ = preempt.Parse("soft")
		}
		x.Over, x.Under, x.Soft = said.Over, said.Under, said.Soft
		x.AtMost, x.How = 5, x.How%(preempt.Cancel+1)
		return []byte(x.String())
	}),
	sample("queues", queueFields, fits(func(q *Queue) []byte { return []byte(q.Name) })),
	sample("refused", refusedFields, fits(func(*Refused) []byte { return KeyRefused(3) })),
	sample("replica", replicaFields, fits(func(*Replica) []byte { return KeyReplica })),
	sample("reservations", reservationFields, func(r *rand.Rand, x *Reservation) []byte {
		last := uint32(0)
		for i := range x.Nodes {
			x.Nodes[i] = last + r.Uint32N(200)
			last = x.Nodes[i]
		}
		if x.Uses = nil; r.IntN(2) == 0 && len(x.Nodes) > 0 {
			x.Uses = make([]timeline.Use, len(x.Nodes))
			fill(r, reflect.ValueOf(&x.Uses).Elem())
			if len(x.Uses) != len(x.Nodes) {
				x.Uses = make([]timeline.Use, len(x.Nodes))
			}
		}
		return []byte(x.Name)
	}),
	sample("resources", resourceFields, fits(func(d *index.Def) []byte {
		d.Builtin, d.Directive = false, false // the row has neither
		return Key16(uint16(d.ID))
	})),
	sample("shares settings", shareSettingsFields, fits(func(*fairshare.Settings) []byte { return KeyShareSettings })),
	sample("shares state", shareTimerFields, fits(func(x *fairshare.Timer) []byte {
		x.Running = true
		return KeyShareState
	})),
	sample("standings", standingFields, fits(func(s *Standing) []byte {
		q := &s.Request
		q.Name, q.Reservation, q.OverLimits, q.Bind, q.Ranking = "", "", false, "", nil
		return []byte(s.Name)
	})),
	sample("state", stateFields, fits(func(s *State) []byte {
		for _, at := range []*int64{&s.AsOf, &s.UsageSince, &s.NodesSince, &s.Ordered, &s.Jumped, &s.Woke} {
			*at %= LastInstant
		}
		return KeyState
	})),
	sample("sums", sumsFields, fits(func(*Sums) []byte { return KeySums })),
	sample("tallies", tallyFields, fits(func(*Tally) []byte { return TallyKey("q") })),
	sample("tallies cycle", lastCycleFields, fits(func(*LastCycle) []byte { return KeyLastCycle })),
	sample("job_counts", countFields, fits(func(*uint64) []byte { return JobCountKey(1, "q") })),
	sample("totals", totalFields, fits(func(*Total) []byte { return TotalKey(7, subject.Names{subject.User: "ann"}) })),
	sample("usage", usageFields, fits(func(*UsageBlock) []byte { return Key32(1) })),
	sample("views", viewFields, fits(func(v *View) []byte { return []byte(v.Name) })),
	sample("nodes", nodeFields, func(r *rand.Rand, n *index.Node) []byte { fitNode(r, n); return Key32(n.Number) }),
	sample("node_pasts", nodePastFields, func(r *rand.Rand, p *NodePast) []byte {
		p.Nodes = [][]uint32{{7}, {1, 2, 3, 9}}[r.IntN(2)]
		p.Parts = []NodeParts{PartAbsent, PartState | PartDevices, PartResources}[r.IntN(3)]
		if fitNode(r, &p.Was); p.Parts == PartAbsent {
			p.Was, p.Lacked = index.Node{}, nil
		}
		p.Was.Number = 0
		return TimeKey(5, 6)
	}),
	sample("buckets", bucketFields, fits(func(b *index.Bucket) []byte { return Key32(b.ID) })),
	sample("reaches", reachFields, fits(func(x *ReachBlock) []byte { x[0] = 7; return Key32(1) })),
	sample("index_sums", indexSumFields, fits(func(s *Sum) []byte { s.Count = 7; return []byte{1} })),
	sample("identity", identityFields, fits(func(*Identity) []byte { return KeyIdentity })),
	sample("jobs", jobFields, func(r *rand.Rand, j *Job) []byte {
		fitChunks(r, j.Chunks)
		j.State, j.Bind = JobState(1+r.IntN(7)), devices.Policy(r.IntN(3))
		if len(j.Pools) == 0 {
			j.PoolsWithin = 0
		}
		j.Devices = nil
		if r.IntN(3) == 0 {
			j.Devices = []JobDevices{{Node: r.Uint32N(99), Res: index.ResID(r.IntN(9)),
				Which: devices.Bits{1 + r.Uint64N(1<<40)}},
				{Node: 7, Which: devices.Bits{0, 1 << 63}}}
		}
		return Key64(j.ID)
	}),
}

// fitChunks makes nodes be shared equally sometimes.
func fitChunks(r *rand.Rand, chunks []JobChunk) {
	alike := r.IntN(2) == 0
	for i := range chunks {
		for k := range chunks[i].Nodes {
			n := &chunks[i].Nodes[k]
			if n.Within >>= 4; alike {
				n.Shared, n.Alone, n.Within = chunks[i].Nodes[0].Shared, false, chunks[i].Nodes[0].Within>>4
			}
		}
	}
	if alike {
		for i := range chunks {
			for k := range chunks[i].Nodes {
				chunks[i].Nodes[k].Shared, chunks[i].Nodes[k].Alone, chunks[i].Nodes[k].Within = i == 0, false, 3
			}
		}
	}
}

func fitNode(r *rand.Rand, n *index.Node) {
	n.Access, n.Sharing = index.Access(r.IntN(2)), index.Sharing(r.IntN(2))
	n.Devices, n.Distances = nil, nil
	if r.IntN(2) == 0 {
		set := devices.Set{{ID: "0"}, {ID: "1", Group: 1}, {ID: "7", Group: 1}, {ID: "x"}}
		for i := range set {
			id, group := set[i].ID, set[i].Group
			fill(r, reflect.ValueOf(&set[i]).Elem())
			if set[i].ID, set[i].Group = id, group; set[i].Slices == 0 {
				set[i].Into = ""
			}
		}
		n.Devices = []index.NamedDevices{{Res: 3, Set: set}, {Res: 5, Set: devices.Set{{ID: "0"}}}}
		n.Distances = []devices.Distances{nil, {{10, 21}, {21, 10}}}[r.IntN(2)]
	}
}

// TestFields: random rows read back from their bytes and from their documents, and damaged
// ones do no harm.
func TestFields(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				s.random(t, r)
			}
		})
	}
}

// TestBounds: what lies beyond a bound is not written, and damage when read.
func TestBounds(t *testing.T) {
	for _, change := range []func(*Job){
		func(j *Job) { j.End = 1 << 53 },
		func(j *Job) { j.Start = -1 << 53 },
		func(j *Job) { j.Pools = []placer.PoolAmount{{Pool: "matlab", Amount: 1 << 60}} },
	} {
		j := new(Job)
		j.State, j.Start, j.End = JobRunning, 1000, 2000
		if _, err := DecodeJob(Key64(1), EncodeJob(j)); err != nil {
			t.Fatal(err)
		}
		change(j)
		var f Fields
		jobFields(&f, j)
		if _, err := DecodeJob(Key64(1), f.b); !errors.Is(err, ErrDamaged) || len(EncodeJob(j)) > 0 {
			t.Errorf("%+v is read: %v, and written: %d bytes", j, err, len(EncodeJob(j)))
		}
	}
}

// TestFieldsWritten: the rows of testdata/rows.txt are read, written and said as the coders did
// that the lists came after.
func TestFieldsWritten(t *testing.T) {
	kinds := samplesByName()
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s := kinds[part[0]]
		key, _ := hex.DecodeString(part[1])
		payload, _ := hex.DecodeString(part[2])
		if again, err := s.again(key, payload); err != nil || !bytes.Equal(again, payload) {
			t.Errorf("%s: %v\n%x is written as\n%x", s.name, err, payload, again)
		}
		if !s.documented() {
			continue
		}
		doc, back, err := s.said(key, payload)
		if err != nil || !bytes.Equal(back, payload) {
			t.Errorf("%s: %v\n%s\n%x comes back as\n%x", s.name, err, doc, payload, back)
		}
		if diff := cmp.Diff(parsed(t, part[3]), parsed(t, string(doc))); diff != "" && string(doc) != "{}" {
			t.Errorf("%s: -was +said\n%s", s.name, diff)
		}
	}
}

func parsed(t *testing.T, text string) (out any) {
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func samplesByName() map[string]*sampled {
	kinds := make(map[string]*sampled)
	for i := range samples {
		kinds[samples[i].name] = &samples[i]
	}
	return kinds
}

// TestIdentityDocument: another file has its own epoch and owner.
func TestIdentityDocument(t *testing.T) {
	uid := uint32(7)
	line, err := AppendDocument(nil, Meta, KeyIdentity,
		IdentityRow.Encode(&Identity{ID: [16]byte{1}, Epoch: 5, AnyTime: true, Owner: &uid}))
	if want :=
		`{"table":"meta","key":"identity","row":{"id":"01000000000000000000000000000000","anyTime":true}}`; err !=
		nil || strings.TrimSpace(string(line)) != want {
		t.Errorf("%v\n%s\n%s wanted", err, line, want)
	}
}

// TestFieldsAllocate: decoding allocates what the row holds, and nothing else but, through a Kind,
// its Fields.
func TestFieldsAllocate(t *testing.T) {
	j := &Job{
		JobFacts: JobFacts{ID: 7, State: JobRunning,
			Chunks: []JobChunk{{Count: 1, Nodes: []JobNode{{Node: 3, Chunks: 1}}}}}}
	job, key := EncodeJob(j), Key64(7)
	h := new(locality.Host)
	host := HostRow.Encode(h)
	node, number := EncodeNode(&index.Node{}), int64(7)
	var into Job
	var n index.Node
	for what, c := range map[string]struct {
		most float64
		run  func()
	}{
		"write a job":    {1, func() { EncodeJob(j) }},
		"read a job":     {0, func() { _ = into.Decode(key, job) }},
		"write a host":   {2, func() { HostRow.Encode(h) }},
		"read a host":    {2, func() { _, _ = HostRow.Decode(key[4:], host) }},
		"write a node":   {1, func() { EncodeNode(&n) }},
		"read a node":    {0, func() { _ = ReadNode(key[4:], node, &n, nil) }},
		"write an event": {1, func() { EncodeEvent(new(Event)) }},
		"write a number": {2, func() { NumberRow.Encode(&number) }},
	} {
		if is := testing.AllocsPerRun(100, c.run); is > c.most {
			t.Errorf("%s: %v allocations, at most %v", what, is, c.most)
		}
	}
}

var plainJob = &Job{
	JobFacts: JobFacts{ID: 7, State: JobRunning, Path: "bucket",
		Chunks: []JobChunk{{Count: 2, Nodes: []JobNode{{Node: 17, Chunks: 1}, {Node: 18, Chunks: 1}}}},
		Queued: true, Attempt: 1,
		JobTerms: JobTerms{User: "ann", Account: "physics", Queue: "batch", Select: "2:ncpus=4:mem=8gb",
			Place: "scatter:excl", Policy: "firstavailable", Priority: 5,
			Command: []string{"./simulate", "--all"}}},
	JobTimes: JobTimes[int64, int64]{JobBounds: JobBounds[int64, int64]{Walltime: 3600}, Submit: 1_800_000_000,
		Start: 1_800_000_100, End: 1_800_003_700},
}

func wideJob() *Job {
	j := *plainJob
	j.Chunks = []JobChunk{{Count: 1000}}
	for i := range 1000 {
		j.Chunks[0].Nodes = append(j.Chunks[0].Nodes, JobNode{Node: uint32(i * 3), Chunks: 1, Shared: true})
	}
	return &j
}

func benchmarkDecode[T any](b *testing.B, key, payload []byte, decode func(key, payload []byte) (*T, error)) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(key, payload); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkEncode[T any](b *testing.B, v *T, encode func(*T) []byte) {
	b.ReportAllocs()
	for b.Loop() {
		encode(v)
	}
}

func BenchmarkDecodeJob(b *testing.B)  { benchmarkDecode(b, Key64(7), EncodeJob(plainJob), DecodeJob) }
func BenchmarkDecodeWide(b *testing.B) { benchmarkDecode(b, Key64(7), EncodeJob(wideJob()), DecodeJob) }
func BenchmarkEncodeJob(b *testing.B)  { benchmarkEncode(b, plainJob, EncodeJob) }
func BenchmarkDecodeNode(b *testing.B) {
	benchmarkDecode(b, Key32(7), EncodeNode(fullNode()), DecodeNode)
}

var update = flag.Bool("update", false, "write testdata/fields.txt anew")

// TestFieldsNamed pins the names of all fields, which documents have, and how each instant
// relates to the clock.
func TestFieldsNamed(t *testing.T) {
	var b strings.Builder
	add := func(what string, k kind) {
		for _, field := range names(k) {
			fmt.Fprintf(&b, "%s: %s\n", what, field)
		}
	}
	for table, k := range kinds {
		if k != nil {
			add(Table(table).String(), k)
		}
	}
	for _, x := range special {
		add(strings.TrimSpace(fmt.Sprintf("%s %q", x.table, x.key)), x.kind)
	}
	const golden = "testdata/fields.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), b.String()); err != nil || diff != "" {
		t.Errorf("-testdata/fields.txt +is: %v\n%s", err, diff)
	}
}

// naming collects the fields of a list.
type naming struct {
	path []string
	out  []string
}

func (n *naming) plain(name, what string, _ any) {
	text := ""
	for _, part := range append(n.path, name) {
		if text != "" && part != "" && part[0] != '[' {
			text += "."
		}
		text += part
	}
	n.out = append(n.out, text+" "+what)
}

func (n *naming) open(name string, _, _ bool) bool {
	n.path = append(n.path, name)
	return true
}

func (n *naming) list(name string, _ int) int {
	n.open(name+"[]", false, true)
	return 1
}

func (n *naming) end()  { n.path = n.path[:len(n.path)-1] }
func (n *naming) next() { n.end() }

// names lists the fields of a kind of row, with their types.
func names(k kind) []string {
	var n naming
	k.blank()(&Fields{dir: namingFields, form: &n})
	return n.out
}
