package row

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/timeline"
)

// The coders that each kind of row had before there were lists of fields: what the lists are
// compared with.

func wasEncodeAccount(a *Account) []byte {
	e := encoder{}
	e.byte(accountVersion)
	e.string(a.Parent)
	e.int(a.Shares)
	e.uint(uint64(len(a.Members)))
	for _, m := range a.Members {
		e.string(m.User)
		e.int(m.Shares)
	}
	e.strings(a.Allow)
	return e.b
}

func wasDecodeAccount(key, payload []byte) (*Account, error) {
	d := decoder{b: payload}
	d.byte()
	a := &Account{Name: string(key), Parent: d.string(), Shares: d.int()}
	for range d.count() {
		a.Members = append(a.Members, AccountMember{User: d.string(), Shares: d.int()})
	}
	a.Allow = d.strings()
	return a, d.done(Accounts, key)
}

func (a *Answer) wasEncode() ([]byte, error) {
	e := encoder{}
	e.byte(answerVersion)
	e.b = append(e.b, a.Request[:]...)
	e.int(a.At)
	e.int(a.Until)
	e.uint(a.First)
	e.uint(a.Jobs)
	e.uint(uint64(len(a.Text)))
	b := bytes.NewBuffer(e.b)
	w, err := flate.NewWriter(b, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(a.Text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func wasDecodeAnswerText(key, payload []byte) (*Answer, error) {
	a, d := wasAnswerHead(key, payload)
	size := d.uint()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(flate.NewReader(bytes.NewReader(d.b)), int64(min(size, maxAnswer))+1))
	d.bad = d.bad || err != nil || uint64(n) != size
	a.Text = b.Bytes()
	return a, d.done(Answers, key)
}

func wasAnswerHead(key, payload []byte) (*Answer, *decoder) {
	a := &Answer{Key: string(key)}
	d := &decoder{b: payload}
	d.byte()
	copy(a.Request[:], d.take(len(a.Request)))
	a.At, a.Until = d.int(), d.int()
	a.First, a.Jobs = d.uint(), d.uint()
	return a, d
}

func wasEncodeBatch(b *Batch) []byte {
	e := encoder{}
	e.byte(batchVersion)
	e.fixed32(b.Number)
	e.string(b.Settings.Policy)
	flags := byte(0)
	if b.Layered {
		flags = 1
	}
	e.byte(flags)
	for _, n := range wasBatchInts(b) {
		e.int(*n)
	}
	for _, n := range b.Rates {
		e.uint(uint64(n))
	}
	for _, n := range wasBatchCounts(b) {
		e.uint(uint64(*n))
	}
	e.float(b.Stretch)
	if b.UID != nil {
		e.uint(uint64(*b.UID))
	}
	return e.b
}

func wasBatchInts(b *Batch) []*int64 {
	return []*int64{&b.Bytes, &b.Total, &b.Created, &b.Ended, &b.Remaining, &b.Waiting, &b.Rate, &b.Settings.Lease, &b.Settings.Away}
}

func wasBatchCounts(b *Batch) []*int {
	s := &b.Settings
	return []*int{&s.Team, &s.Hosts, &s.Cushion, &s.LeastJobs, &s.MaxErrors, &s.Keep, &b.Files, &b.Used, &b.Bound, &b.Jobs, &b.Layers,
		&b.Active, &b.Done, &b.Failed, &b.Transfers, &b.Moves}
}

func wasDecodeBatch(key, payload []byte) (*Batch, error) {
	d := decoder{b: payload}
	d.byte()
	b := &Batch{Number: d.fixed32()}
	b.Name = string(key)
	b.Settings.Policy = d.string()
	b.Layered = d.byte()&1 != 0
	for _, n := range wasBatchInts(b) {
		*n = d.int()
	}
	for i := range b.Rates {
		b.Rates[i] = uint32(d.uint())
	}
	for _, n := range wasBatchCounts(b) {
		*n = int(d.uint())
	}
	b.Stretch = d.float()
	if len(d.b) > 0 {
		uid := uint32(d.uint())
		b.UID = &uid
	}
	if err := d.done(Batches, key); err != nil {
		return nil, err
	}
	if b.Jobs < 1 || b.Layers < 1 || b.Layers > locality.MaxQuorum {
		return nil, fmt.Errorf("%w: batch %q has %d jobs in %d layers", ErrDamaged, key, b.Jobs, b.Layers)
	}
	return b, nil
}

func wasEncodeBatchFiles(files []BatchFile) []byte {
	e := encoder{}
	e.byte(batchFilesVersion)
	e.uint(uint64(len(files)))
	for _, f := range files {
		e.string(f.Name)
		e.int(f.Size)
	}
	return e.b
}

func wasDecodeBatchFiles(key, payload []byte) ([]BatchFile, error) {
	d := decoder{b: payload}
	d.byte()
	files := make([]BatchFile, d.count())
	for i := range files {
		files[i] = BatchFile{d.string(), d.int()}
	}
	return files, d.done(BatchFiles, key)
}

func wasEncodeBatchJobs(b *locality.JobBlock) []byte {
	e := encoder{b: make([]byte, 0, 8*locality.BlockJobs)}
	e.byte(batchJobsVersion)
	e.uint(uint64(b.First))
	e.uint(uint64(len(b.Before)))
	for _, c := range b.Before {
		e.int(c)
	}
	e.int(int64(b.Reach))
	e.uint(uint64(len(b.Jobs)))
	last := 0
	for _, j := range b.Jobs {
		e.uint(uint64(j.A - last))
		e.uint(uint64(j.B - j.A))
		e.uint(uint64(j.Credit))
		e.byte(byte(j.Quorum))
		last = j.A
	}
	return e.b
}

func wasDecodeJobsHead(d *decoder) *locality.JobBlock {
	d.byte()
	b := &locality.JobBlock{First: int(d.uint()), Before: make([]locality.Credit, d.count())}
	for i := range b.Before {
		b.Before[i] = d.int()
	}
	if len(b.Before) != locality.MaxQuorum {
		d.bad = true
	}
	return b
}

func wasDecodeBatchJobs(key, payload []byte) (*locality.JobBlock, error) {
	d := decoder{b: payload}
	b := wasDecodeJobsHead(&d)
	b.Reach = int(d.int())
	b.Jobs = make([]locality.Job, d.count())
	last := 0
	for i := range b.Jobs {
		last += int(d.uint())
		b.Jobs[i] = locality.Job{A: last, B: last + int(d.uint()), Credit: int64(d.uint()), Quorum: int(d.byte())}
	}
	return b, d.done(BatchJobs, key)
}

func wasEncodeBatchTasks(b *locality.TaskBlock) []byte {
	e := encoder{b: make([]byte, 0, 16*locality.BlockJobs)}
	e.byte(batchTasksVersion)
	e.uint(uint64(b.First))
	e.uint(uint64(len(b.Tasks)))
	for i := range b.Tasks {
		t := &b.Tasks[i]
		e.uint(uint64(len(t.Slots)))
		for _, s := range t.Slots {
			e.byte(byte(s))
		}
		e.uint(uint64(t.Errors))
		e.uint(uint64(len(t.Instances)))
		for _, x := range t.Instances {
			e.byte(byte(x.Layer))
			e.byte(byte(x.State))
			e.uint(uint64(x.Host))
			e.int(x.Sent)
			e.int(x.Until - x.Sent)
		}
	}
	return e.b
}

func wasDecodeBatchTasks(key, payload []byte) (*locality.TaskBlock, error) {
	d := decoder{b: payload}
	d.byte()
	b := &locality.TaskBlock{First: int(d.uint()), Tasks: make([]locality.Task, d.count())}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		for range d.count() {
			t.Slots = append(t.Slots, locality.SlotState(d.byte()))
		}
		t.Errors = int(d.uint())
		for range d.count() {
			x := locality.Instance{Layer: int(d.byte()), State: locality.InstanceState(d.byte()), Host: uint32(d.uint()), Sent: d.int()}
			x.Until = x.Sent + d.int()
			t.Instances = append(t.Instances, x)
		}
	}
	return b, d.done(BatchTasks, key)
}

func wasEncodeRange(c *locality.Cursor) []byte {
	e := encoder{}
	e.byte(batchRangeVersion)
	for _, n := range wasRangeSlots(c) {
		e.int(int64(*n))
	}
	e.int(c.Open)
	for _, end := range c.Ends {
		e.uint(uint64(end.Hosts))
		e.int(end.Rate)
		e.int(end.Hand)
		e.int(end.Back)
	}
	e.uint(uint64(len(c.Gone)))
	for _, slot := range c.Gone {
		e.uint(uint64(slot))
	}
	return e.b
}

func wasRangeSlots(c *locality.Cursor) []*int {
	return []*int{&c.Last, &c.Unfinished, &c.Top, &c.Low, &c.High, &c.Generated}
}

func wasDecodeRange(key, payload []byte) (*locality.Cursor, error) {
	d := decoder{b: payload}
	d.byte()
	c := &locality.Cursor{}
	for _, n := range wasRangeSlots(c) {
		*n = int(d.int())
	}
	c.Open = d.int()
	for i := range c.Ends {
		c.Ends[i] = locality.End{Hosts: int(d.uint()), Rate: d.int(), Hand: d.int(), Back: d.int()}
	}
	for range d.count() {
		c.Gone = append(c.Gone, int(d.uint()))
	}
	if len(key) == 12 {
		c.First = int(binary.BigEndian.Uint64(key[4:]))
	} else {
		d.bad = true
	}
	return c, d.done(BatchRanges, key)
}

func wasEncodeBeat(b *Beat) []byte {
	e := encoder{}
	e.byte(beatVersion)
	e.string(b.Host)
	e.string(b.User)
	e.string(b.Boot)
	e.int(b.Seen)
	e.uint(uint64(len(b.Down)))
	for _, n := range b.Down {
		e.uint(uint64(n))
	}
	return e.b
}

func wasDecodeBeat(key, payload []byte) (*Beat, error) {
	d := decoder{b: payload}
	d.byte()
	b := &Beat{Host: d.string(), User: d.string(), Boot: d.string(), Seen: d.int()}
	for range d.count() {
		b.Down = append(b.Down, uint32(d.uint()))
	}
	d.bad = d.bad || string(b.Key()) != string(key)
	return b, d.done(Meta, key)
}

func wasEncodeBucket(b *index.Bucket) []byte {
	e := encoder{}
	e.byte(bucketVersion)
	e.string(string(b.Signature))
	e.string(b.Queue)
	e.int(int64(b.Priority))
	e.uint(uint64(b.Total))
	for _, n := range b.Count {
		e.uint(uint64(n))
	}
	e.fixed32(b.First)
	return e.b
}

func wasDecodeBucket(id uint32, key, payload []byte) (*index.Bucket, error) {
	d := decoder{b: payload}
	d.byte()
	b := &index.Bucket{ID: id}
	b.Signature = index.Signature(d.string())
	b.Queue = d.string()
	b.Priority = int32(d.int())
	b.Total = uint32(d.uint())
	for i := range b.Count {
		b.Count[i] = uint32(d.uint())
	}
	b.First = d.fixed32()
	return b, d.done(Buckets, key)
}

func wasEncodeClaim(c *Claim) []byte {
	e := encoder{}
	e.byte(1)
	e.int(c.Start)
	e.int(c.End)
	e.uint(uint64(c.Slid))
	e.uint(uint64(len(c.Held)))
	for _, h := range c.Held {
		e.string(h.Counter)
		e.int(h.Amount)
	}
	return e.b
}

func wasDecodeClaim(key, payload []byte) (*Claim, error) {
	d := decoder{b: payload}
	d.byte()
	c := &Claim{Start: d.int(), End: d.int(), Slid: int(d.uint())}
	for range d.count() {
		h := ClaimHeld{d.string(), d.int()}
		_, _, rule := LimitCounterOf(h.Counter)
		d.bad = d.bad || !rule || h.Amount <= 0 || h.Amount > limits.MaxAmount
		c.Held = append(c.Held, h)
	}
	if d.bad = d.bad || len(key) != 8 || c.Start >= c.End; !d.bad {
		c.Job = Number64(key)
	}
	return c, d.done(Claims, key)
}

func wasEncodeCounter(c *Counter) []byte {
	e := encoder{}
	e.byte(counterVersion)
	for _, n := range []int64{c.Amount, c.Outside, c.Until} {
		e.int(n)
	}
	return e.b
}

func wasDecodeCounter(key, payload []byte) (*Counter, error) {
	d := decoder{b: payload}
	d.byte()
	c := &Counter{Amount: d.int(), Outside: d.int(), Until: d.int()}
	_, pool := PoolOf(string(key))
	_, array := ArrayOf(string(key))
	within := func(n int64) bool { return n >= 0 && n <= limits.MaxAmount }
	d.bad = d.bad || !pool && !array || !within(c.Amount) || !within(c.Outside) || c.Until < 0
	return c, d.done(Counters, key)
}

func wasEncodeHolding(h limits.Holder) []byte {
	e := encoder{}
	e.byte(1)
	e.int(h.Start)
	e.int(h.End)
	e.int(h.Amount)
	e.uint(h.Within)
	e.bool(h.Claim)
	return e.b
}

func wasDecodeHolding(key, payload []byte) (limits.Holder, error) {
	d := decoder{b: payload}
	d.byte()
	h := limits.Holder{Start: d.int(), End: d.int(), Amount: d.int(), Within: d.uint(), Claim: d.byte() == 1}
	owner, ok := holderOf(key)
	h.Owner, d.bad = owner, d.bad || !ok
	return h, d.done(Holdings, key)
}

func wasEncodePools(e *encoder, list []placer.PoolAmount) {
	e.uint(uint64(len(list)))
	for _, a := range list {
		e.string(a.Pool)
		e.int(a.Amount)
	}
}

func wasDecodePools(d *decoder) []placer.PoolAmount {
	var list []placer.PoolAmount
	for range d.count() {
		list = append(list, placer.PoolAmount{Pool: d.string(), Amount: d.int()})
	}
	return list
}

func wasEncodeDecayed(x *Decayed) []byte {
	e := encoder{}
	e.byte(1)
	e.int(x.At)
	e.uint(uint64(len(x.Uses)))
	for _, u := range x.Uses {
		e.string(u.Name)
		e.float(u.Value)
		e.int(u.Rate)
		e.int(u.One)
	}
	return e.b
}

func wasDecodeDecayed(key, payload []byte) (*Decayed, error) {
	d := decoder{b: payload}
	d.byte()
	x := &Decayed{At: d.int()}
	for range d.count() {
		x.Uses = append(x.Uses, DecayedUse{d.string(), d.float(), d.int(), d.int()})
	}
	for _, u := range x.Uses {
		d.bad = d.bad || math.IsNaN(u.Value) || math.IsInf(u.Value, 0) || u.One < 1
	}
	if _, err := SplitDecayedKey(key); err != nil {
		d.bad = true
	}
	return x, d.done(Decays, key)
}

func (ev *Event) wasTexts() [5]*string {
	return [...]*string{&ev.Node, &ev.Event, &ev.Old, &ev.New, &ev.Reason}
}

func wasEncodeEvent(ev *Event) []byte {
	e := encoder{b: make([]byte, 0, 64)}
	e.byte(eventVersion)
	e.int(ev.Time)
	e.uint(ev.Job)
	for _, s := range ev.wasTexts() {
		e.string(*s)
	}
	switch {
	case ev.By != nil:
		e.uint(uint64(max(0, ev.Attempt)))
		e.uint(uint64(*ev.By))
	case ev.Attempt > 1:
		e.uint(uint64(ev.Attempt))
	}
	return e.b
}

func wasDecodeEvent(key, payload []byte) (*Event, error) {
	d := decoder{b: payload}
	d.byte()
	ev := &Event{Time: d.int(), Job: d.uint()}
	for _, s := range ev.wasTexts() {
		*s = d.string()
	}
	if len(d.b) > 0 { // most are about a job's first attempt
		ev.Attempt = int(d.uint())
	}
	if len(d.b) > 0 {
		by := uint32(d.uint())
		ev.By = &by
	}
	if len(key) == 8 {
		ev.ID = binary.BigEndian.Uint64(key)
	} else {
		d.bad = true
	}
	return ev, d.done(Events, key)
}

func wasEncodeFreed(f *Freed) []byte {
	if f.Anywhere {
		return []byte{freedAnywhere}
	}
	content, err := roaring.BitmapOf(f.Nodes...).MarshalBinary()
	if err != nil {
		panic(err) // it writes to memory
	}
	return append([]byte{freedNodes}, content...)
}

func wasDecodeFreed(payload []byte) (*Freed, error) {
	if len(payload) == 1 && payload[0] == freedAnywhere {
		return &Freed{Anywhere: true}, nil
	}
	if len(payload) == 0 || payload[0] != freedNodes {
		return nil, fmt.Errorf("%w: where room was made: %x", ErrDamaged, payload)
	}
	nodes := roaring.New()
	if err := nodes.UnmarshalBinary(payload[1:]); err != nil {
		return nil, fmt.Errorf("%w: where room was made: %v", ErrDamaged, err)
	}
	return &Freed{Nodes: nodes.ToArray()}, nil
}

func wasEncodeHook(h *Hook) []byte {
	e := encoder{}
	e.byte(hookVersion)
	e.uint(h.Cursor)
	e.b = append(e.b, h.Holder[:]...)
	e.int(h.Until)
	e.int(h.Failing)
	return e.b
}

func wasDecodeHook(payload []byte) (*Hook, error) {
	d := decoder{b: payload}
	d.byte()
	h := &Hook{Cursor: d.uint()}
	copy(h.Holder[:], d.take(len(h.Holder)))
	h.Until, h.Failing = d.int(), d.int()
	return h, d.done(Meta, KeyHook)
}

func wasEncodeHost(h *locality.Host) []byte {
	e := encoder{}
	e.byte(hostVersion)
	e.string(h.Name)
	e.string(h.User)
	e.float(h.Earned)
	e.float(h.Spent)
	e.int(h.Seen)
	return e.b
}

func wasDecodeHost(key, payload []byte) (*locality.Host, error) {
	d := decoder{b: payload}
	d.byte()
	h := &locality.Host{Name: d.string(), User: d.string(), Earned: d.float(), Spent: d.float(), Seen: d.int()}
	if len(key) == 4 {
		h.Number = binary.BigEndian.Uint32(key)
	} else {
		d.bad = true
	}
	return h, d.done(Hosts, key)
}

func wasEncodeMember(m *locality.Member) []byte {
	e := encoder{}
	e.byte(batchHostVersion)
	flags := byte(m.Side) << 2
	if m.Placed {
		flags |= 1
	}
	if m.Measured {
		flags |= 2
	}
	e.byte(flags)
	e.uint(uint64(m.At))
	e.uint(uint64(m.Jobs))
	for _, t := range wasMemberTimes(m) {
		e.int(*t)
	}
	wasEncodeSpans(&e, m.Held)
	wasEncodeSlots(&e, m.Live)
	if a := &m.Asked; a.Key != "" { // rows of the first version end here
		e.string(a.Key)
		wasEncodeSlots(&e, a.Slots)
		wasEncodeSpans(&e, a.Fetch)
		wasEncodeSpans(&e, a.Delete)
	}
	return e.b
}

func wasEncodeSlots(e *encoder, slots []int) {
	e.uint(uint64(len(slots)))
	for _, slot := range slots {
		e.uint(uint64(slot))
	}
}

func wasDecodeSlots(d *decoder) (slots []int) {
	for range d.count() {
		slots = append(slots, int(d.uint()))
	}
	return slots
}

func wasEncodeSpans(e *encoder, spans []locality.Span) {
	e.uint(uint64(len(spans)))
	last := 0
	for _, s := range spans {
		e.uint(uint64(s.A - last))
		e.uint(uint64(s.B - s.A))
		last = s.B
	}
}

func wasDecodeSpans(d *decoder) (spans []locality.Span) {
	last := 0
	for range d.count() {
		s := locality.Span{A: last + int(d.uint())}
		s.B = s.A + int(d.uint())
		last = s.B
		spans = append(spans, s)
	}
	return spans
}

func wasMemberTimes(m *locality.Member) []*int64 {
	return []*int64{&m.Rate, &m.Joined, &m.Moved, &m.Busy, &m.Idle, &m.Seen}
}

func wasDecodeMember(key, payload []byte) (*locality.Member, error) {
	d := decoder{b: payload}
	d.byte()
	flags := d.byte()
	m := &locality.Member{Placed: flags&1 != 0, Measured: flags&2 != 0, Side: locality.Side(flags >> 2 & 1), At: int(d.uint()), Jobs: int(d.uint())}
	for _, t := range wasMemberTimes(m) {
		*t = d.int()
	}
	m.Held, m.Live = wasDecodeSpans(&d), wasDecodeSlots(&d)
	if len(d.b) > 0 {
		m.Asked = locality.Asked{Key: d.string(), Slots: wasDecodeSlots(&d), Fetch: wasDecodeSpans(&d), Delete: wasDecodeSpans(&d)}
	}
	if len(key) == 8 {
		m.Host = binary.BigEndian.Uint32(key[4:])
	} else {
		d.bad = true
	}
	return m, d.done(BatchHosts, key)
}

func (i *Identity) wasEncode() []byte {
	e := encoder{}
	e.byte(identityVersion)
	e.b = append(e.b, i.ID[:]...)
	e.fixed32(i.Epoch)
	e.bool(i.AnyTime)
	if i.Owner != nil {
		e.uint(uint64(*i.Owner))
	}
	return e.b
}

func (i *Identity) wasDecode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	copy(i.ID[:], d.take(len(i.ID)))
	i.Epoch, i.AnyTime = d.fixed32(), d.byte() == 1
	if len(d.b) > 0 {
		uid := uint32(d.uint())
		i.Owner = &uid
	}
	return d.done(Meta, KeyIdentity)
}

func wasEncodeLimit(r *limits.Rule) []byte {
	e := encoder{}
	e.byte(1)
	e.int(r.Max)
	return e.b
}

func wasDecodeLimit(key, payload []byte) (*limits.Rule, error) {
	d := decoder{b: payload}
	d.byte()
	r := &limits.Rule{Max: d.int()}
	head, soft := bytes.CutSuffix(key, []byte(softSuffix))
	of, measure, found := bytes.Cut(head, []byte{0})
	var err error
	if r.Key, err = limits.ParseKey(string(of)); err == nil {
		r.Measure, err = limits.ParseMeasure(string(measure))
	}
	if err != nil || !found || r.Max < 0 || r.Max > limits.MaxAmount {
		return nil, fmt.Errorf("%w: limit %q", ErrDamaged, key)
	}
	r.Soft = soft
	return r, d.done(Limits, key)
}

func wasEncodeLimitSum(n int64) []byte {
	e := encoder{}
	e.byte(1)
	e.int(n)
	return e.b
}

func wasDecodeLimitSum(key, payload []byte) (int64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.int()
	return n, d.done(LimitSums, key)
}

func wasEncodeNumber(n int64) []byte {
	e := encoder{}
	e.byte(1)
	e.int(n)
	return e.b
}

func wasDecodeNumber(key, payload []byte) (*int64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.int()
	return &n, d.done(Numbers, key)
}

func wasEncodePayload(p *Payload) []byte {
	e := encoder{b: make([]byte, 0, len(p.Script)+256)}
	e.byte(payloadVersion)
	e.uint(p.Jobs)
	for _, s := range []string{p.Script, p.Interpreter, p.Dir} {
		e.string(s)
	}
	e.uint(uint64(p.Umask))
	e.strings(p.Env)
	e.uint(uint64(len(p.Limits)))
	for _, l := range p.Limits {
		e.string(l.Name)
		e.uint(l.Soft)
		e.uint(l.Hard)
	}
	e.string(p.Out)
	e.string(p.Err)
	e.bool(p.Append)
	e.string(p.Compat)
	e.strings(p.Variables)
	if p.Input == "" && p.Owner == nil && p.Ending == (Ending{}) {
		return e.b
	}
	e.bool(p.Owner != nil)
	if o := p.Owner; o != nil {
		e.uint(uint64(o.UID))
		e.string(o.Name)
		e.string(o.Host)
	}
	x := p.Ending
	for _, n := range []int64{int64(x.Retries), x.RetryWait, int64(x.Signal), x.Before, x.Grace} {
		e.int(n)
	}
	for _, s := range []string{x.RetryOn, x.Mail, x.MailTo} {
		e.string(s)
	}
	e.bool(x.First)
	e.string(p.Input)
	return e.b
}

func wasDecodePayload(key, payload []byte) (*Payload, error) {
	d := decoder{b: payload}
	d.byte()
	p := &Payload{Jobs: d.uint(), Script: d.string(), Interpreter: d.string(), Dir: d.string(), Umask: uint32(d.uint()), Env: d.strings()}
	if n := d.count(); n > 0 {
		p.Limits = make([]ResourceLimit, n)
	}
	for i := range p.Limits {
		p.Limits[i] = ResourceLimit{Name: d.string(), Soft: d.uint(), Hard: d.uint()}
	}
	p.Out, p.Err, p.Append, p.Compat, p.Variables = d.string(), d.string(), d.byte() != 0, d.string(), d.strings()
	if len(d.b) > 0 {
		p.wasDecodeEnding(&d)
	}
	return p, d.done(Payloads, key)
}

func (p *Payload) wasDecodeEnding(d *decoder) {
	if d.byte() != 0 {
		p.Owner = &Submitter{UID: uint32(d.uint()), Name: d.string(), Host: d.string()}
	}
	p.Ending = Ending{Retries: int(d.int()), RetryWait: d.int(), Signal: int(d.int()), Before: d.int(), Grace: d.int(),
		RetryOn: d.string(), Mail: d.string(), MailTo: d.string()}
	if len(d.b) > 0 {
		p.Ending.First, p.Input = d.byte() != 0, d.string()
	}
}

func wasEncodePostponed(p *Postponed) []byte {
	e := encoder{}
	e.byte(postponedVersion)
	e.uint(p.Tried)
	e.uint(uint64(len(p.Jobs)))
	for _, j := range p.Jobs {
		e.uint(j.Job)
		e.int(j.Wanted)
	}
	return e.b
}

func wasDecodePostponed(payload []byte) (*Postponed, error) {
	d := decoder{b: payload}
	d.byte()
	p := &Postponed{Tried: d.uint()}
	for range d.count() {
		p.Jobs = append(p.Jobs, PostponedJob{d.uint(), d.int()})
	}
	return p, d.done(Meta, KeyPostponed)
}

func wasEncodePreempt(r *preempt.Rule) []byte {
	e := encoder{}
	e.byte(preemptVersion)
	e.byte(byte(r.How))
	for _, n := range []int64{r.Grace, r.MinRun, int64(r.AtMost)} {
		e.int(n)
	}
	return e.b
}

func wasDecodePreempt(key, payload []byte) (*preempt.Rule, error) {
	d := decoder{b: payload}
	d.byte()
	r, err := preempt.Parse(string(key))
	if err != nil || r.String() != string(key) {
		d.bad, r = true, new(preempt.Rule)
	}
	r.How, r.Grace, r.MinRun = preempt.How(d.byte()), d.int(), d.int()
	atMost := d.int()
	r.AtMost = int(atMost)
	d.bad = d.bad || r.How > preempt.Cancel || r.Grace < preempt.OwnGrace || r.MinRun < 0 || atMost < 0 || atMost > math.MaxInt32
	return r, d.done(Preempts, key)
}

func wasEncodeQueue(q Queue) []byte {
	e := encoder{}
	e.byte(queueVersion)
	e.strings(q.GroupKey)
	e.string(q.Policy)
	if len(q.Allow) > 0 {
		e.strings(q.Allow)
	}
	return e.b
}

func wasDecodeQueue(key, payload []byte) (Queue, error) {
	d := decoder{b: payload}
	d.byte()
	q := Queue{Name: string(key), GroupKey: d.strings()}
	if len(d.b) > 0 { // version 1 had none at first
		q.Policy = d.string()
	}
	if len(d.b) > 0 { // format 8 brought it
		q.Allow = d.strings()
	}
	return q, d.done(Queues, key)
}

func wasEncodeRefused(r *Refused) []byte {
	e := encoder{}
	e.byte(refusedVersion)
	e.uint(uint64(len(r.Jobs)))
	for _, j := range r.Jobs {
		e.uint(j.Job)
		e.int(j.At)
	}
	return e.b
}

func wasDecodeRefused(key, payload []byte) (*Refused, error) {
	d := decoder{b: payload}
	d.byte()
	r := &Refused{}
	for range d.count() {
		r.Jobs = append(r.Jobs, RefusedJob{d.uint(), d.int()})
	}
	return r, d.done(Meta, key)
}

func (r *Replica) wasEncode() []byte {
	e := encoder{}
	e.byte(replicaVersion)
	e.b = append(append(e.b, r.Log[:]...), r.Chain[:]...)
	e.uint(r.N)
	e.uint(r.Since)
	e.uint(r.SinceBytes)
	e.uint(r.Behind)
	return e.b
}

func (r *Replica) wasDecode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	copy(r.Log[:], d.take(len(r.Log)))
	copy(r.Chain[:], d.take(len(r.Chain)))
	r.N, r.Since, r.SinceBytes, r.Behind = d.uint(), d.uint(), d.uint(), d.uint()
	return d.done(Meta, KeyReplica)
}

func wasEncodeReservation(r *Reservation) []byte {
	e := encoder{}
	e.byte(reservationVersion)
	e.uint(r.ID)
	e.int(r.Start)
	e.int(r.End)
	e.uint(uint64(len(r.Nodes)))
	last := uint32(0)
	for _, n := range r.Nodes {
		e.uint(uint64(n - last))
		last = n
	}
	wasEncodeAccess(&e, r.Access)
	e.int(r.Limit)
	e.string(r.Series)
	e.string(r.Note)
	e.uint(uint64(len(r.Uses)))
	for i := range r.Uses {
		wasEncodeUse(&e, &r.Uses[i])
	}
	if len(r.Pools) > 0 {
		wasEncodePools(&e, r.Pools)
	}
	return e.b
}

func wasDecodeReservation(key, payload []byte) (*Reservation, error) {
	d := decoder{b: payload}
	version := d.byte()
	r := &Reservation{Name: string(key), ID: d.uint(), Start: d.int(), End: d.int()}
	r.Nodes = make([]uint32, d.count())
	last := uint32(0)
	for i := range r.Nodes {
		last += uint32(d.uint())
		r.Nodes[i] = last
	}
	if version >= 2 {
		r.Access = wasDecodeAccess(&d)
		r.Limit, r.Series, r.Note = d.int(), d.string(), d.string()
		if n := d.count(); n > 0 {
			r.Uses = make([]timeline.Use, n)
		}
		for i := range r.Uses {
			r.Uses[i] = *wasDecodeUse(&d)
		}
		d.bad = d.bad || r.Uses != nil && len(r.Uses) != len(r.Nodes)
		if len(d.b) > 0 {
			r.Pools = wasDecodePools(&d)
		}
	}
	return r, d.done(Reservations, key)
}

func wasEncodeAccess(e *encoder, list placer.AccessList) {
	e.uint(uint64(len(list)))
	for _, a := range list {
		e.byte(byte(a.Kind))
		e.string(a.Value)
		e.int(int64(a.Affinity))
	}
}

func wasDecodeAccess(d *decoder) placer.AccessList {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make(placer.AccessList, n)
	for i := range list {
		list[i] = placer.AccessEntry{Kind: placer.AccessKind(d.byte()), Value: d.string(), Affinity: placer.Affinity(d.int())}
	}
	return list
}

func wasEncodeResource(def index.Def) []byte {
	e := encoder{}
	e.byte(resourceVersion)
	e.byte(byte(def.Type))
	var flags byte
	if def.Consumable {
		flags |= flagConsumable
	}
	if def.Unique {
		flags |= flagUnique
	}
	e.byte(flags)
	e.string(def.Name)
	return e.b
}

func wasDecodeResource(key, payload []byte) (index.Def, error) {
	d := decoder{b: payload}
	d.byte()
	def := index.Def{Type: index.Type(d.byte())}
	flags := d.byte()
	def.Consumable, def.Unique = flags&flagConsumable != 0, flags&flagUnique != 0
	def.Name = d.string()
	if len(key) != 2 {
		d.bad = true
	} else {
		def.ID = index.ResID(binary.BigEndian.Uint16(key))
	}
	return def, d.done(Resources, key)
}

func wasEncodeShareSettings(s *fairshare.Settings) []byte {
	e := encoder{}
	e.byte(shareSettingsVersion)
	e.uint(uint64(len(s.Loads)))
	for _, c := range s.Loads {
		e.string(c.Class)
		e.int(int64(c.Load))
	}
	e.uint(uint64(len(s.Map)))
	for _, m := range s.Map {
		e.string(m.Class)
		e.string(m.Requestor)
	}
	e.string(s.Default)
	e.int(int64(s.Rebalance.Threshold))
	e.int(s.Rebalance.MinDuration)
	if len(s.Allow) > 0 || s.Spare != (fairshare.Spare{}) {
		e.uint(uint64(len(s.Allow)))
		for _, p := range s.Allow {
			e.string(p.Class)
			e.strings(p.Who)
		}
	}
	if s.Spare != (fairshare.Spare{}) { // the tail may be missing
		e.int(s.Spare.MinRun)
		e.int(int64(s.Spare.AtMost))
	}
	return e.b
}

func wasDecodeShareSettings(payload []byte) (*fairshare.Settings, error) {
	d := decoder{b: payload}
	d.byte()
	s := new(fairshare.Settings)
	if n := d.count(); n > 0 {
		s.Loads = make([]fairshare.ClassLoad, n)
	}
	for i := range s.Loads {
		s.Loads[i] = fairshare.ClassLoad{Class: d.string(), Load: int(d.int())}
	}
	if n := d.count(); n > 0 {
		s.Map = make([]fairshare.Mapping, n)
	}
	for i := range s.Map {
		s.Map[i] = fairshare.Mapping{Class: d.string(), Requestor: d.string()}
	}
	s.Default = d.string()
	s.Rebalance = fairshare.Rebalance{Threshold: int(d.int()), MinDuration: d.int()}
	if len(d.b) > 0 { // format 8 brought it
		for range d.count() {
			s.Allow = append(s.Allow, fairshare.Permission{Class: d.string(), Who: d.strings()})
		}
	}
	if len(d.b) > 0 {
		s.Spare = fairshare.Spare{MinRun: d.int(), AtMost: int(d.int())}
	}
	return s, d.done(Shares, KeyShareSettings)
}

func wasEncodeShareTimer(t fairshare.Timer) []byte {
	e := encoder{}
	e.byte(shareStateVersion)
	e.int(t.Since)
	return e.b
}

func wasDecodeShareTimer(payload []byte) (fairshare.Timer, error) {
	d := decoder{b: payload}
	d.byte()
	return fairshare.Timer{Running: true, Since: d.int()}, d.done(Shares, KeyShareState)
}

func (s *Standing) wasTexts() [12]*string {
	q := &s.Request
	return [...]*string{&q.Select, &q.Place, &q.User, &q.Group, &q.Account, &q.Queue, &q.Class, &q.Policy, &q.Access,
		&s.Repeat.Rule, &s.Repeat.Zone, &s.Note}
}

func wasEncodeStanding(s *Standing) []byte {
	e := encoder{}
	e.byte(standingVersion)
	spec := &s.ReserveSpec
	e.uint(uint64(len(spec.Nodes)))
	for _, n := range spec.Nodes {
		e.uint(uint64(n))
	}
	for _, text := range s.wasTexts() {
		e.string(*text)
	}
	e.strings(spec.Request.Prefer)
	for _, n := range []int64{int64(spec.Request.Walltime), spec.Start, spec.End, spec.Limit, int64(spec.Depth), int64(s.Made), s.Last} {
		e.int(n)
	}
	e.bool(s.Over)
	wasEncodeAccess(&e, spec.Access)
	if len(spec.Request.Pools)+len(s.Missing) > 0 {
		wasEncodePools(&e, spec.Request.Pools)
	}
	if len(s.Missing) > 0 { // since format 10
		e.uint(uint64(len(s.Missing)))
		for _, at := range s.Missing {
			e.int(at)
		}
	}
	return e.b
}

func wasDecodeStanding(key, payload []byte) (*Standing, error) {
	d := decoder{b: payload}
	d.byte()
	s := new(Standing)
	spec := &s.ReserveSpec
	spec.Name = string(key)
	if n := d.count(); n > 0 {
		spec.Nodes = make([]uint32, n)
	}
	for i := range spec.Nodes {
		spec.Nodes[i] = uint32(d.uint())
	}
	for _, text := range s.wasTexts() {
		*text = d.string()
	}
	spec.Request.Prefer = d.strings()
	spec.Request.Walltime = time.Duration(d.int())
	spec.Start, spec.End, spec.Limit = d.int(), d.int(), d.int()
	spec.Depth, s.Made, s.Last = int(d.int()), int(d.int()), d.int()
	s.Over = d.byte() == 1
	spec.Access = wasDecodeAccess(&d)
	if len(d.b) > 0 {
		spec.Request.Pools = wasDecodePools(&d)
	}
	if len(d.b) > 0 {
		for range d.count() {
			s.Missing = append(s.Missing, d.int())
		}
	}
	return s, d.done(Standings, key)
}

func (s *State) wasEncode() []byte {
	e := encoder{}
	e.byte(stateVersion)
	e.int(s.AsOf)
	e.uint(uint64(s.NextNode))
	e.uint(uint64(s.NextBucket))
	e.uint(uint64(s.NextResource))
	e.uint(s.NextJob)
	e.uint(s.NextReservation)
	e.int(s.UsageSince)
	e.uint(s.Events)
	e.uint(s.Invalidations)
	e.uint(s.Planned)
	e.uint(s.ForgottenJobs)
	e.uint(s.ForgottenEvents)
	e.uint(s.Looked)
	e.int(s.Ordered)
	e.int(s.NodesSince)
	return e.b
}

func (s *State) wasDecode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	s.AsOf = d.int()
	s.NextNode = uint32(d.uint())
	s.NextBucket = uint32(d.uint())
	s.NextResource = index.ResID(d.uint())
	s.NextJob = d.uint()
	s.NextReservation = d.uint()
	if len(d.b) > 0 { // the first files had no more
		s.UsageSince = d.int()
	}
	if len(d.b) > 0 {
		s.Events, s.Invalidations, s.Planned = d.uint(), d.uint(), d.uint()
	}
	if len(d.b) > 0 {
		s.ForgottenJobs, s.ForgottenEvents = d.uint(), d.uint()
	}
	if len(d.b) > 0 {
		s.Looked = d.uint()
	}
	if len(d.b) > 0 {
		s.Ordered = d.int()
	}
	if len(d.b) > 0 {
		s.NodesSince = d.int()
	}
	for _, at := range []int64{s.AsOf, s.UsageSince, s.NodesSince, s.Ordered} {
		d.bad = d.bad || at < 0 || at > LastInstant
	}
	return d.done(Meta, KeyState)
}

func (s *Sums) wasEncode() []byte {
	e := encoder{}
	e.byte(sumsVersion)
	e.uint(s.Transaction)
	for t := range TableCount {
		e.uint(s.Tables[t].Count)
		e.uint(s.Tables[t].Sum)
	}
	return e.b
}

func (s *Sums) wasDecode(payload []byte) error {
	*s = Sums{}
	d := decoder{b: payload}
	d.byte()
	s.Transaction = d.uint()
	for t := Table(0); t < TableCount && len(d.b) > 0; t++ {
		s.Tables[t] = Sum{d.uint(), d.uint()}
	}
	return d.done(Meta, KeySums)
}

func (s *Sum) wasEncode() []byte {
	if *s == (Sum{}) {
		return nil
	}
	e := encoder{}
	e.byte(1)
	e.uint(s.Count)
	e.uint(s.Sum)
	return e.b
}

func wasDecodeIndexSum(key, payload []byte) (s Sum, err error) {
	d := decoder{b: payload}
	d.byte()
	s = Sum{d.uint(), d.uint()}
	return s, d.done(IndexSums, key)
}

func wasEncodeTally(t *Tally) []byte {
	e := encoder{}
	e.byte(tallyVersion)
	for _, n := range []uint64{t.Submitted, t.Finished, t.Failed, t.Cancelled, uint64(len(t.Waits))} {
		e.uint(n)
	}
	for _, n := range t.Waits {
		e.uint(n)
	}
	e.int(t.Waited)
	return e.b
}

func wasDecodeTally(key, payload []byte) (*Tally, error) {
	d := decoder{b: payload}
	d.byte()
	t := &Tally{Submitted: d.uint(), Finished: d.uint(), Failed: d.uint(), Cancelled: d.uint()}
	_, ok := TallyQueue(key)
	d.bad = d.bad || d.count() != len(t.Waits) || !ok
	for i := range t.Waits {
		t.Waits[i] = d.uint()
	}
	t.Waited = d.int()
	return t, d.done(Tallies, key)
}

func wasEncodeLastCycle(c *LastCycle) []byte {
	e := encoder{}
	e.byte(tallyVersion)
	e.int(c.Began)
	e.int(c.Took)
	return e.b
}

func wasDecodeLastCycle(key, payload []byte) (*LastCycle, error) {
	d := decoder{b: payload}
	d.byte()
	c := &LastCycle{Began: d.int(), Took: d.int()}
	return c, d.done(Tallies, key)
}

func wasEncodeCount(n uint64) []byte {
	e := encoder{}
	e.byte(tallyVersion)
	e.uint(n)
	return e.b
}

func wasDecodeCount(key, payload []byte) (uint64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.uint()
	return n, d.done(JobCounts, key)
}

func wasEncodeTotal(t *Total) []byte {
	e := encoder{}
	e.byte(totalVersion)
	for _, n := range []int64{t.Jobs, t.Failed, t.Preempted, t.Waits} {
		e.int(n)
	}
	e.uint(uint64(len(t.Held)))
	for _, h := range t.Held {
		e.string(h.Name)
		e.int(h.Seconds)
	}
	return e.b
}

func wasDecodeTotal(key, payload []byte) (*Total, error) {
	d := decoder{b: payload}
	d.byte()
	t := &Total{Jobs: d.int(), Failed: d.int(), Preempted: d.int(), Waits: d.int()}
	for range d.count() {
		t.Held = append(t.Held, TotalHeld{d.string(), d.int()})
	}
	if _, _, err := SplitTotalKey(key); err != nil {
		d.bad = true
	}
	return t, d.done(Totals, key)
}

func wasEncodeUsage(b *UsageBlock) []byte {
	e := encoder{}
	e.byte(usageVersion)
	for i, n := range b {
		if n != 0 {
			e.byte(byte(i))
			e.int(n)
		}
	}
	return e.b
}

func wasDecodeUsage(key, payload []byte) (b UsageBlock, err error) {
	d := decoder{b: payload}
	d.byte()
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		b[at] = d.int()
	}
	return b, d.done(Usage, key)
}

func wasEncodeView(v *View) []byte {
	e := encoder{}
	e.byte(viewVersion)
	e.string(v.Select)
	return e.b
}

func wasDecodeView(key, payload []byte) (*View, error) {
	d := decoder{b: payload}
	d.byte()
	v := &View{Name: string(key), Select: d.string()}
	return v, d.done(Views, key)
}

func wasEncodeReaches(r ReachBlock) []byte {
	if r == (ReachBlock{}) {
		return nil
	}
	e := encoder{}
	e.byte(reachVersion)
	for _, t := range r {
		e.int(t)
	}
	return e.b
}

func wasDecodeReaches(key, payload []byte) (ReachBlock, error) {
	d := decoder{b: payload}
	d.byte()
	var r ReachBlock
	for i := range r {
		r[i] = d.int()
	}
	return r, d.done(Reaches, key)
}

func wasEncodeUse(e *encoder, u *timeline.Use) {
	within := u.Within << 1
	if u.Alone {
		within |= 1
	}
	e.uint(within)
	e.uint(uint64(len(u.Amounts)))
	for _, a := range u.Amounts {
		e.uint(uint64(a.Quantity))
		e.int(a.N)
	}
}

func wasDecodeUse(d *decoder) *timeline.Use { return new(arena).use(d) }

func wasEncodeAttempt(a *Attempt) []byte {
	e := encoder{b: make([]byte, 0, 128)}
	e.byte(attemptVersion)
	for _, b := range []byte{byte(a.State), byte(a.By), byte(a.Outcome), byte(a.Becomes)} {
		e.byte(b)
	}
	e.b = append(e.b, a.Nonce[:]...)
	for _, s := range []string{a.Host, a.Boot, a.Why, a.Log} {
		e.string(s)
	}
	for _, n := range []uint64{a.PIDNS, uint64(a.PID), a.Born} {
		e.uint(n)
	}
	for _, n := range []int64{a.Began, a.Claimed, a.Ended, int64(a.Exit), int64(a.Signal), a.Use.CPUUser, a.Use.CPUSystem, a.Use.MaxRSS, a.Use.MemPeak, int64(a.Use.Leftover)} {
		e.int(n)
	}
	wasEncodeChunks(&e, a.Chunks)
	for _, c := range a.Chunks {
		wasEncodeShares(&e, c.Nodes)
	}
	e.uint(uint64(len(a.Along)))
	for _, n := range a.Along {
		e.uint(uint64(n))
	}
	if a.Devices != "" { // the tail may be missing
		e.string(a.Devices)
	}
	return e.b
}

func wasDecodeAttempt(key, payload []byte) (*Attempt, error) {
	d := decoder{b: payload}
	d.byte()
	a := &Attempt{State: AttemptState(d.byte()), By: Claimant(d.byte()), Outcome: Outcome(d.byte()), Becomes: JobState(d.byte())}
	copy(a.Nonce[:], d.take(len(a.Nonce)))
	for _, s := range []*string{&a.Host, &a.Boot, &a.Why, &a.Log} {
		*s = d.string()
	}
	a.PIDNS, a.PID, a.Born = d.uint(), int(d.uint()), d.uint()
	a.Began, a.Claimed, a.Ended, a.Exit, a.Signal = d.int(), d.int(), d.int(), int(d.int()), int(d.int())
	a.Use = ResourceUse{CPUUser: d.int(), CPUSystem: d.int(), MaxRSS: d.int(), MemPeak: d.int(), Leftover: int(d.int())}
	a.Chunks = wasDecodeChunks(&d, nil)
	for i := range a.Chunks {
		wasDecodeShares(&d, a.Chunks[i].Nodes)
	}
	if n := d.count(); n > 0 {
		a.Along = make([]uint32, n)
	}
	for i := range a.Along {
		a.Along[i] = uint32(d.uint())
	}
	if len(d.b) > 0 {
		a.Devices = d.string()
	}
	if a.Job, a.Number, _ = splitAttemptKey(key); a.Number == 0 {
		d.bad = true
	}
	return a, d.done(Attempts, key)
}

func wasEncodeJobDevices(e *encoder, j *Job) {
	e.byte(byte(j.Bind))
	e.uint(uint64(len(j.Devices)))
	for _, d := range j.Devices {
		e.uint(uint64(d.Node))
		e.uint(uint64(d.Res))
		var b []byte
		for _, w := range d.Which {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		for len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		e.string(string(b))
	}
}

func wasDecodeJobDevices(d *decoder, j *Job) {
	j.Bind = devices.Policy(d.byte())
	n := d.count()
	d.bad = d.bad || !j.Bind.Valid()
	for range n {
		bound := JobDevices{Node: uint32(d.uint()), Res: index.ResID(d.uint())}
		b := d.take(d.count())
		if len(b) > devices.MaxDevices/8 {
			d.bad = true
			return
		}
		for ; len(b) > 0; b = b[min(8, len(b)):] {
			var w [8]byte
			copy(w[:], b)
			bound.Which = append(bound.Which, binary.LittleEndian.Uint64(w[:]))
		}
		j.Devices = append(j.Devices, bound)
	}
}

func (j *Job) wasTimes() [jobTimes]*int64 {
	return [...]*int64{jobWalltime: &j.Walltime, jobSubmit: &j.Submit, jobStart: &j.Start, jobEnd: &j.End}
}

func (j *Job) wasTexts() [jobTexts]*string {
	return [...]*string{&j.Name, &j.User, &j.Account, jobQueue: &j.Queue, &j.Class, &j.Key, jobSelect: &j.Select, &j.Place,
		(*string)(&j.Path), &j.Policy, &j.Set, &j.Reason}
}

func wasEncodeJob(j *Job) []byte {
	e := encoder{b: make([]byte, 0, 128)}
	e.byte(jobVersion)
	e.byte(byte(j.State))
	for _, t := range j.wasTimes() {
		e.int(*t)
	}
	for _, s := range j.wasTexts() {
		e.string(*s)
	}
	wasEncodeChunks(&e, j.Chunks)
	e.string(j.Group)
	e.byte(byte(j.Access))
	e.string(j.Reservation)
	e.strings(j.Prefer)
	e.uint(uint64(len(j.Along)))
	for _, n := range j.Along {
		e.uint(uint64(n))
	}
	for _, c := range j.Chunks {
		wasEncodeShares(&e, c.Nodes)
	}
	e.byte(j.wasFlags())
	j.wasEncodeQueued(&e)
	return e.b
}

func wasEncodeChunks(e *encoder, chunks []JobChunk) {
	e.uint(uint64(len(chunks)))
	for _, c := range chunks {
		e.uint(uint64(c.Count))
		e.uint(uint64(len(c.Nodes)))
		last := int64(0)
		for _, n := range c.Nodes {
			e.int(int64(n.Node) - last)
			e.uint(uint64(n.Chunks))
			last = int64(n.Node)
		}
	}
}

func wasDecodeChunks(d *decoder, chunks []JobChunk) []JobChunk {
	n := d.count()
	chunks = slices.Grow(chunks[:0], n)[:n]
	for i := range chunks {
		c := &chunks[i]
		c.Count = int(d.uint())
		n := d.count()
		c.Nodes = slices.Grow(c.Nodes[:0], n)[:n]
		last := int64(0)
		for k := range c.Nodes {
			last += d.int()
			c.Nodes[k] = JobNode{Node: uint32(last), Chunks: int(d.uint())}
		}
	}
	return chunks
}

func (j *Job) wasFacts() [8]*bool {
	return [...]*bool{&j.Queued, &j.Attended, &j.NoRequeue, &j.Launched, &j.NoPolicy, &j.Never, &j.Claimed, &j.Ending}
}

func (j *Job) wasFlags() byte {
	bits := byte(0)
	for i, set := range j.wasFacts() {
		if *set {
			bits |= 1 << i
		}
	}
	return bits
}

func (j *Job) wasEncodeQueued(e *encoder) {
	for _, n := range []int64{j.Priority, j.Begin, j.Deadline, int64(j.Array), int64(j.Index), int64(j.Exit), int64(j.Failures)} {
		e.int(n)
	}
	e.uint(uint64(len(j.After)))
	for _, d := range j.After {
		e.byte(byte(d.When))
		e.uint(d.Job)
	}
	e.strings(j.Command)
	j.wasEncodeRest(e)
}

func (j *Job) wasEncodeRest(e *encoder) {
	parts := 0
	if j.Retried != 0 || j.Unbegun != 0 || j.Lost != 0 || len(j.Excluded) > 0 {
		parts |= tailFailures
	}
	if j.Bind != 0 || len(j.Devices) > 0 {
		parts |= tailDevices
	}
	if j.Attendant != nil {
		parts |= tailAttendant
	}
	if len(j.Pools) > 0 {
		parts |= tailPools
	}
	if len(j.YieldedTo) > 0 {
		parts |= tailYielded
	}
	if j.OverLimits {
		parts |= tailOverLimits
	}
	if j.Idle != 0 || j.IdleSince != 0 {
		parts |= tailIdle
	}
	further := uint64(0)
	if j.UID != nil {
		further |= moreUID
	}
	if len(j.Signature) > 0 {
		further |= moreSignature
	}
	if further != 0 {
		parts |= tailMore
	}
	carries, more := j.Payload != (PayloadKey{}), j.Attempt != 0 || parts != 0
	if carries {
		e.string(string(j.Payload[:]))
	} else if more {
		e.string("")
	}
	if more {
		e.uint(uint64(j.Attempt))
	}
	if parts == 0 {
		return
	}
	e.byte(byte(parts))
	if parts&tailFailures != 0 {
		for _, n := range []int{j.Retried, j.Unbegun, j.Lost, len(j.Excluded)} {
			e.uint(uint64(n))
		}
		for _, n := range j.Excluded {
			e.uint(uint64(n))
		}
	}
	if parts&tailDevices != 0 {
		wasEncodeJobDevices(e, j)
	}
	if a := j.Attendant; a != nil {
		e.b = append(e.b, a.Nonce[:]...)
		e.uint(uint64(a.UID))
		e.string(a.Host)
		e.string(a.Boot)
		for _, n := range []uint64{a.PIDNS, uint64(a.PID), a.Born} {
			e.uint(n)
		}
	}
	if parts&tailPools != 0 {
		wasEncodePools(e, j.Pools)
		e.uint(j.PoolsWithin)
	}
	if parts&tailYielded != 0 {
		e.uint(uint64(len(j.YieldedTo)))
		for _, id := range j.YieldedTo {
			e.uint(id)
		}
	}
	if parts&tailIdle != 0 {
		e.int(j.Idle)
		e.int(j.IdleSince)
	}
	if further == 0 {
		return
	}
	e.uint(further)
	if j.UID != nil {
		e.uint(uint64(*j.UID))
	}
	if further&moreSignature != 0 {
		e.string(string(j.Signature))
	}
}

func (j *Job) wasDecodeQueued(d *decoder) {
	j.Priority, j.Begin, j.Deadline = d.int(), d.int(), d.int()
	j.Array, j.Index, j.Exit, j.Failures = uint64(d.int()), int(d.int()), int(d.int()), int(d.int())
	if n := d.count(); n > 0 {
		j.After = make([]Dependency, n)
	}
	for i := range j.After {
		j.After[i] = Dependency{When: When(d.byte()), Job: d.uint()}
	}
	j.Command = d.strings()
	j.wasDecodeRest(d)
}

func (j *Job) wasDecodeRest(d *decoder) {
	if len(d.b) > 0 {
		if key := d.take(d.count()); len(key) == len(j.Payload) {
			copy(j.Payload[:], key)
		} else if len(key) > 0 {
			d.bad = true
		}
	}
	if len(d.b) > 0 {
		j.Attempt = int(d.uint())
	}
	if len(d.b) == 0 {
		return
	}
	parts := d.byte()
	j.OverLimits = parts&tailOverLimits != 0
	if parts&tailFailures != 0 {
		j.Retried, j.Unbegun, j.Lost = int(d.uint()), int(d.uint()), int(d.uint())
		for range d.count() {
			j.Excluded = append(j.Excluded, uint32(d.uint()))
		}
	}
	if parts&tailDevices != 0 {
		wasDecodeJobDevices(d, j)
	}
	if parts&tailAttendant != 0 {
		a := new(Attendant)
		copy(a.Nonce[:], d.take(len(a.Nonce)))
		a.UID, a.Host, a.Boot = uint32(d.uint()), d.string(), d.string()
		a.PIDNS, a.PID, a.Born = d.uint(), int(d.uint()), d.uint()
		j.Attendant = a
	}
	if parts&tailPools != 0 {
		j.Pools, j.PoolsWithin = wasDecodePools(d), d.uint()
	}
	if parts&tailYielded != 0 {
		j.YieldedTo = make([]uint64, d.count())
		for i := range j.YieldedTo {
			j.YieldedTo[i] = d.uint()
		}
	}
	if parts&tailIdle != 0 {
		j.Idle, j.IdleSince = d.int(), d.int()
	}
	if parts&tailMore == 0 {
		return
	}
	further := d.uint()
	if further&moreUID != 0 {
		uid := uint32(d.uint())
		j.UID = &uid
	}
	if further&moreSignature != 0 {
		j.Signature = []byte(d.string())
	}
}

func wasEncodeShares(e *encoder, nodes []JobNode) {
	n := len(nodes)
	if n > 0 && !slices.ContainsFunc(nodes, func(x JobNode) bool { return x.share() != nodes[0].share() }) {
		n = 1
	}
	e.uint(uint64(n))
	for _, x := range nodes[:n] {
		e.uint(x.share())
	}
}

func wasDecodeShares(d *decoder, nodes []JobNode) {
	list := make([]uint64, d.count())
	for i := range list {
		list[i] = d.uint()
	}
	for i := range nodes {
		if len(list) == 0 {
			return
		}
		head := list[min(i, len(list)-1)]
		nodes[i].Shared, nodes[i].Alone, nodes[i].Within = head&1 != 0, head&2 != 0, head>>2
	}
}

func wasDecodeJob(key, payload []byte) (*Job, error) {
	j := new(Job)
	return j, j.wasDecode(key, payload)
}

func (j *Job) wasDecode(key, payload []byte) error {
	d := decoder{b: payload}
	version := d.byte()
	*j = Job{State: JobState(d.byte()), Chunks: j.Chunks}
	for _, t := range j.wasTimes() {
		*t = d.int()
	}
	for _, s := range j.wasTexts() {
		*s = d.string()
	}
	j.Chunks = wasDecodeChunks(&d, j.Chunks)
	if version >= 2 {
		j.wasDecodeTail(&d, version)
	}
	if len(key) != 8 {
		d.bad = true
	} else {
		j.ID = binary.BigEndian.Uint64(key)
	}
	return d.done(Jobs, key)
}

func (j *Job) wasDecodeTail(d *decoder, version byte) {
	j.Group = d.string()
	j.Access = index.Access(d.byte())
	j.Reservation = d.string()
	j.Prefer = d.strings()
	if n := d.count(); n > 0 {
		j.Along = make([]uint32, n)
	}
	for i := range j.Along {
		j.Along[i] = uint32(d.uint())
	}
	for i := range j.Chunks {
		wasDecodeShares(d, j.Chunks[i].Nodes)
	}
	if version >= 3 {
		bits := d.byte()
		for i, set := range j.wasFacts() {
			*set = bits&(1<<i) != 0
		}
		j.wasDecodeQueued(d)
	}
}

func wasEncodeNode(n *index.Node) []byte {
	e := encoder{b: make([]byte, 0, 96)}
	e.byte(nodeVersion)
	e.byte(byte(n.State))
	e.fixed32(n.Bucket)
	e.fixed32(uint32(n.Priority))
	for _, s := range [nodeTexts]string{n.Name, n.Queue, n.Reason, wasAccessWord(n.Access), n.PriorityF} {
		e.string(s)
	}
	e.strings(n.Features)
	measures := wasNodeMeasures(n)
	var set byte
	for i, v := range measures {
		if *v != 0 {
			set |= 1 << i
		}
	}
	e.byte(set)
	for _, v := range measures {
		if *v != 0 {
			e.float(*v)
		}
	}
	e.uint(uint64(len(n.Res)))
	for _, a := range n.Res {
		e.uint(uint64(a.Res))
		e.string(a.Value.Str)
		e.int(a.Value.Num)
	}
	e.byte(byte(n.Sharing)) // rows of before there was sharing end above
	e.bool(n.Lessened)      // as do, here, those that do not know
	wasEncodeDevices(&e, n) // and here those of nodes that name none
	return e.b
}

func wasAccessWord(a index.Access) string {
	if a == index.AccessShared {
		return ""
	}
	return a.String()
}

func wasNodeMeasures(n *index.Node) [4]*float64 {
	return [...]*float64{&n.Speed, &n.ProcSpeed, &n.Load, &n.Usage}
}

func wasReadNodeOnly(key, payload []byte, n *index.Node, words *Words) (devices []byte, err error) {
	*n = index.Node{Features: n.Features[:0], Res: n.Res[:0]}
	d := decoder{b: payload}
	wasReadNodeHead(&d, n)
	n.Name, n.Queue, n.Reason = d.string(), words.wasNext(&d), d.string()
	err = wasReadNodeRest(key, &d, n, words)
	return d.b, err
}

func wasDecodeDevices(key, part []byte, n *index.Node) error {
	d := decoder{b: part}
	wasDecodeNodeDevices(&d, n)
	return d.done(Nodes, key)
}

func wasReadNodeHead(d *decoder, n *index.Node) {
	d.byte()
	n.State, n.Bucket, n.Priority = index.State(d.byte()), d.fixed32(), int32(d.fixed32())
}

func wasReadNodeRest(key []byte, d *decoder, n *index.Node, words *Words) error {
	var unknown error
	n.Access, unknown = index.ParseAccess(words.wasNext(d))
	n.PriorityF = words.wasNext(d)
	for range d.count() {
		n.Features = append(n.Features, words.wasNext(d))
	}
	set := d.byte()
	for i, v := range wasNodeMeasures(n) {
		if set&(1<<i) != 0 {
			*v = d.float()
		}
	}
	count := d.count()
	if n.Res == nil {
		n.Res = make([]index.Amount, 0, count)
	}
	for range count {
		n.Res = append(n.Res, index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Str: words.wasNext(d), Num: d.int()}})
	}
	if len(d.b) > 0 {
		n.Sharing = index.Sharing(d.byte())
	}
	n.Lessened = true
	if len(d.b) > 0 {
		n.Lessened = d.byte() == 1
	}
	d.bad = d.bad || unknown != nil || !n.Sharing.Valid() || len(key) != 4
	if len(key) == 4 {
		n.Number = binary.BigEndian.Uint32(key)
	}
	return d.done(Nodes, key)
}

func (w *Words) wasNext(d *decoder) string { return w.Of(d.take(d.count())) }

func wasEncodeDevices(e *encoder, n *index.Node) {
	if len(n.Devices) == 0 && len(n.Distances) == 0 {
		return
	}
	e.uint(uint64(len(n.Devices)))
	for _, d := range n.Devices {
		e.uint(uint64(d.Res))
		wasEncodeSet(e, d.Set)
	}
	e.uint(uint64(len(n.Distances)))
	for _, line := range n.Distances {
		for _, far := range line {
			e.byte(byte(far))
		}
	}
}

func wasEncodeSet(e *encoder, s devices.Set) {
	e.uint(uint64(len(s)))
	ids := make([]string, len(s))
	known := 0
	for i := 0; i < len(s); {
		run := i
		for ; run < len(s) && s[run].Group == s[i].Group; run++ {
			ids[run] = s[run].ID
			if deviceFacts(&s[run]) != 0 {
				known++
			}
		}
		e.uint(uint64(run - i))
		e.uint(uint64(s[i].Group))
		i = run
	}
	e.string(devices.FormatIDs(ids))
	e.uint(uint64(known))
	for i := range s {
		if facts := deviceFacts(&s[i]); facts != 0 {
			e.uint(uint64(i))
			wasEncodeDevice(e, &s[i], facts)
		}
	}
}

func wasEncodeDevice(e *encoder, d *devices.Device, facts byte) {
	e.byte(facts)
	for _, t := range deviceTexts {
		if facts&t.bit != 0 {
			e.string(*t.of(d))
		}
	}
	if facts&deviceVRAM != 0 {
		e.int(d.VRAM)
	}
	if facts&deviceSlices != 0 {
		e.uint(uint64(d.Slices))
	}
	if facts&deviceThreads != 0 {
		e.uint(uint64(len(d.Threads)))
		for _, t := range d.Threads {
			e.uint(uint64(t))
		}
	}
}

func wasDecodeNodeDevices(d *decoder, n *index.Node) {
	if len(d.b) == 0 {
		return
	}
	for range d.count() {
		res := index.ResID(d.uint())
		n.Devices = append(n.Devices, index.NamedDevices{Res: res, Set: wasDecodeSet(d)})
	}
	size := d.count()
	flat := d.take(size * size)
	for i := range min(size, len(flat)) {
		line := make([]int, size)
		for k := range line {
			line[k] = int(flat[i*size+k])
		}
		n.Distances = append(n.Distances, line)
	}
}

func wasDecodeSet(d *decoder) devices.Set {
	size := d.uint()
	if size > devices.MaxDevices {
		d.bad = true
		return nil
	}
	set := make(devices.Set, size)
	for i := 0; i < len(set) && !d.bad; {
		run, group := int(d.uint()), int(d.uint())
		if run < 1 || run > len(set)-i {
			d.bad = true
			return nil
		}
		for ; run > 0; run-- {
			set[i].Group = group
			i++
		}
	}
	if err := set.Name(d.string()); err != nil {
		d.bad = true
		return nil
	}
	for range d.count() {
		i := d.uint()
		if i >= size {
			d.bad = true
			return nil
		}
		wasDecodeDevice(d, &set[i])
	}
	return set
}

func wasDecodeDevice(d *decoder, dev *devices.Device) {
	facts := d.byte()
	dev.Drained = facts&deviceDrained != 0
	for _, t := range deviceTexts {
		if facts&t.bit != 0 {
			*t.of(dev) = d.string()
		}
	}
	if facts&deviceVRAM != 0 {
		dev.VRAM = d.int()
	}
	if facts&deviceSlices != 0 {
		dev.Slices = int(d.uint())
	}
	if facts&deviceThreads != 0 {
		dev.Threads = make([]int, d.count())
		for i := range dev.Threads {
			dev.Threads[i] = int(d.uint())
		}
	}
}

func wasEncodeNodePast(p *NodePast) []byte {
	e := encoder{}
	e.byte(1)
	e.uint(uint64(p.Parts))
	e.wasRuns(p.Nodes)
	if p.Parts == PartAbsent {
		return e.b
	}
	was := p.Was
	was.Number = 0
	e.string(string(wasEncodeNode(&was)))
	e.uint(uint64(len(p.Lacked)))
	for _, id := range p.Lacked {
		e.uint(uint64(id))
	}
	return e.b
}

func wasDecodeNodePast(key, payload []byte) (*NodePast, error) {
	d := decoder{b: payload}
	d.byte()
	p := &NodePast{Parts: NodeParts(d.uint())}
	p.Nodes = d.wasRuns()
	if p.Parts != PartAbsent {
		was, err := wasDecodeNode(Key32(0), d.take(d.count()))
		if err != nil {
			return nil, fmt.Errorf("%w: table %s: row %x: a node that cannot be decoded", ErrDamaged, NodePasts, key)
		}
		if p.Was = *was; len(was.Res) == 0 {
			p.Was.Res = nil
		}
		for range d.count() {
			p.Lacked = append(p.Lacked, index.ResID(d.uint()))
		}
	}
	alone := p.Parts == PartAbsent || p.Parts == PartWhole && len(p.Nodes) == 1
	if len(key) != 16 || len(p.Nodes) == 0 || p.Parts == 0 || p.Parts >= partEnd || p.Parts&(PartAbsent|PartWhole) != 0 && !alone {
		return nil, fmt.Errorf("%w: table %s: row %x tells of no change", ErrDamaged, NodePasts, key)
	}
	return p, d.done(NodePasts, key)
}

func (e *encoder) wasRuns(list []uint32) {
	var runs [][2]uint32 // first, length
	for i, n := range list {
		if last := len(runs) - 1; i > 0 && n == list[i-1]+1 {
			runs[last][1]++
			continue
		}
		runs = append(runs, [2]uint32{n, 1})
	}
	e.uint(uint64(len(runs)))
	next := uint32(0)
	for _, r := range runs {
		e.uint(uint64(r[0] - next))
		e.uint(uint64(r[1]))
		next = r[0] + r[1]
	}
}

func (d *decoder) wasRuns() (list []uint32) {
	next := uint64(0)
	for range d.count() {
		first, length := next+d.uint(), d.uint()
		if d.bad || length == 0 || first > math.MaxUint32 || length > mostNodes || first+length > math.MaxUint32 || uint64(len(list))+length > mostNodes {
			d.bad = true
			return nil
		}
		for n := first; n < first+length; n++ {
			list = append(list, uint32(n))
		}
		next = first + length
	}
	return list
}

func wasDecodeNode(key, payload []byte) (*index.Node, error) {
	n := new(index.Node)
	part, err := wasReadNodeOnly(key, payload, n, nil)
	if err != nil {
		return n, err
	}
	return n, wasDecodeDevices(key, part, n)
}
