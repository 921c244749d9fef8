package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// derived is what the derived tables should hold, recomputed from the rows that
// are not derived.
type derived struct {
	*checker
	tx       *Tx
	calendar *timeline.Calendar
	rows     [row.TableCount]map[string][]byte // by table and key
	buckets  uint32                            // the smallest bucket number never used
	rooms    map[uint32]*row.RoomBlock
	moved    []*index.Node // nodes whose rows name another bucket than their values do
	// contradictions counts what no rebuilding mends: a node taken twice, a
	// number that does not exist.
	contradictions int
}

// derive recomputes every derived table. What it finds on the way is about the
// rows it does so from.
func (c *checker) derive(tx *Tx) (*derived, error) {
	d := &derived{checker: c, tx: tx, calendar: timeline.NewCalendar(nil, tx.now, overdueGrace), rooms: make(map[uint32]*row.RoomBlock)}
	for t := range row.TableCount {
		if t.Derived() {
			d.rows[t] = make(map[string][]byte)
		}
	}
	if err := d.jobs(); err != nil {
		return nil, err
	}
	if err := d.reservations(); err != nil {
		return nil, err
	}
	if err := d.batches(); err != nil {
		return nil, err
	}
	d.blocks()
	return d, d.index()
}

// blocks writes the recomputed calendar down.
func (d *derived) blocks() {
	groups := make(map[uint32]row.ReachBlock)
	for number, block := range d.calendar.Changed() {
		if payload := row.EncodeBlock(block); payload != nil {
			d.rows[row.Calendar][string(row.Key32(number))] = payload
		}
		r := groups[number/row.ReachBlocks]
		r[number%row.ReachBlocks] = d.calendar.Reach(number)
		groups[number/row.ReachBlocks] = r
	}
	for group, r := range groups {
		if payload := row.EncodeReaches(r); payload != nil {
			d.rows[row.Reaches][string(row.Key32(group))] = payload
		}
	}
}

// contradict reports what the rows themselves disagree on.
func (d *derived) contradict(format string, args ...any) {
	d.contradictions++
	d.find(format, args...)
}

func (d *derived) jobs() error {
	return d.tx.EachJob(func(j *Job) error {
		if j.ID >= d.tx.state.NextJob {
			d.contradict("job %d: the next job number is %d", j.ID, d.tx.state.NextJob)
		}
		if j.State < JobHeld || j.State > JobCancelled {
			d.contradict("job %d has no legal state: %d", j.ID, j.State)
		}
		d.rows[row.JobStates][string(row.JobStateKey(j.State, j.ID))] = row.EncodeMark()
		if j.waits(j.State) {
			d.rows[row.Waiting][string(row.WaitingKey((*row.Job)(j)))] = row.EncodeMark()
		}
		if j.toLaunch() {
			d.rows[row.Launches][string(row.Key64(j.ID))] = row.EncodeMark()
		}
		switch {
		case j.State == JobReserved && j.Start > d.tx.now:
			d.rows[row.Changes][string(row.TimeKey(j.Start, row.JobOwner(j.ID)))] = row.EncodeMark()
		case j.State == JobReserved:
			d.contradict("job %d was to start at @%d, and it is @%d", j.ID, j.Start, d.tx.now)
		case j.State != JobRunning:
			return nil
		}
		d.rows[row.Endings][string(row.TimeKey(j.End, row.JobOwner(j.ID)))] = row.EncodeMark()
		for i, c := range j.Chunks {
			have := 0
			for _, n := range c.Nodes {
				have += n.Chunks
			}
			if have != c.Count {
				d.contradict("job %d: chunk %d is on nodes %d times, asked for %d", j.ID, i+1, have, c.Count)
			}
		}
		spans, err := d.tx.spansOf(j)
		if err != nil {
			d.contradict("job %d: %v", j.ID, err)
		}
		for _, s := range spans {
			d.span(fmt.Sprintf("job %d", j.ID), s)
		}
		return nil
	})
}

func (d *derived) reservations() error {
	return d.tx.EachReservation(func(r *Reservation) error {
		if r.ID >= d.tx.state.NextReservation {
			d.contradict("reservation %s: its number is %d, the next one %d", r.Name, r.ID, d.tx.state.NextReservation)
		}
		d.rows[row.ReservationIDs][string(row.Key64(r.ID))] = row.EncodeText(r.Name)
		for _, a := range r.Access {
			d.rows[row.Access][string(row.AccessKey(a, r.ID))] = row.EncodeMark()
		}
		if r.End <= d.tx.now {
			return nil
		}
		owner := row.ReservationOwner(r.ID)
		d.rows[row.Endings][string(row.TimeKey(r.End, owner))] = row.EncodeMark()
		for _, t := range []int64{r.Start, r.End} {
			if t > d.tx.now {
				d.rows[row.Changes][string(row.TimeKey(t, owner))] = row.EncodeMark()
			}
		}
		for i, n := range r.Nodes {
			d.span("reservation "+r.Name, span{n, r.span(i)})
		}
		return nil
	})
}

// span puts a stretch on a node.
func (d *derived) span(who string, s span) {
	if _, _, err := d.tx.nodeHead(s.node); err != nil {
		d.contradict("%s is on node number %d, which does not exist", who, s.node)
	}
	if err := d.calendar.Put(s.node, s.Busy); err != nil {
		d.contradict("%s: %v", who, err)
	}
}

// shared verifies that what is on a node together may be: nobody beside one who
// has the whole node, and no job in a reservation that does not let it in. That
// more is taken than the node has is no contradiction: it may have been given less
// since.
func (d *derived) shared(n *index.Node) {
	list := d.calendar.At(n.Number)
	for i := range list {
		b := &list[i]
		if b.Claim {
			continue
		}
		who := fmt.Sprintf("job %d", b.Owner>>1)
		for k := range list {
			if o := &list[k]; o.Start < b.End && b.Start < o.End && k != i {
				d.beside(n, who, b, o)
			}
		}
	}
}

// beside verifies that a job's stretch may lie where another does.
func (d *derived) beside(n *index.Node, who string, b, o *timeline.Busy) {
	switch {
	case o.Claim:
		if o.Use != nil {
			return
		}
		r, err := d.tx.reservationByID(o.Owner >> 1)
		if err != nil {
			return // found elsewhere
		}
		as := *b
		as.Held = false // by its planned end
		if in, err := (booking{d.tx, r}).letsIn(as); err == nil && !in {
			d.contradict("%s is on node %s in the time of reservation %s, which does not let it in", who, n.Name, r.Name)
		}
	case o.Owner == b.Owner:
		d.contradict("%s is on node %s twice", who, n.Name)
	case b.Use == nil || o.Use == nil:
		if b.Owner < o.Owner {
			d.contradict("%s and job %d share node %s, which one of them has whole", who, o.Owner>>1, n.Name)
		}
	}
}

// deriveIndex sorts the nodes into the buckets that the rows speak of, and
// recomputes every bitmap.
func (d *derived) index() error {
	tx := d.tx
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	set, err := tx.settings()
	if err != nil {
		return err
	}
	ix := index.New(defs, set.signature(defs), nil, index.Limits{Nodes: tx.state.NextNode})
	if err := d.adoptBuckets(ix); err != nil {
		return err
	}
	err = tx.EachNode(func(n *index.Node) error {
		d.rows[row.NodeNames][n.Name] = row.EncodeNumber32(n.Number)
		if n.Number >= d.tx.state.NextNode {
			d.contradict("node %s: its number is %d, the next one %d", n.Name, n.Number, d.tx.state.NextNode)
		}
		bucket := n.Bucket
		class := placer.ClassNow(d.calendar, n.Number)
		ix.Insert(n, class)
		d.shared(n)
		d.room(ix, n)
		if n.Bucket != bucket {
			d.find("node %s says it is in bucket %d, its values put it into %d", n.Name, bucket, n.Bucket)
			d.moved = append(d.moved, n)
		}
		return ix.Err()
	})
	if err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		if !bm.IsEmpty() {
			if d.rows[row.Bitmaps][string(row.BitsKey(k))], err = row.EncodeBits(bm); err != nil {
				return err
			}
		}
	}
	d.buckets = ix.Limits().Buckets
	for _, b := range ix.ChangedBuckets() {
		d.rows[row.Buckets][string(row.Key32(b.ID))] = row.EncodeBucket(b)
	}
	return nil
}

// room notes what is left of a node that is shared now.
func (d *derived) room(ix *index.Index, n *index.Node) {
	room := placer.RoomNow(d.calendar, ix.Defs(), n)
	if room == nil {
		return
	}
	ix.SetRoom(n.Number, nil, room)
	number := n.Number / timeline.BlockNodes
	if d.rooms[number] == nil {
		d.rooms[number] = new(row.RoomBlock)
	}
	d.rooms[number][n.Number%timeline.BlockNodes] = room
	d.rows[row.Rooms][string(row.Key32(number))] = row.EncodeRooms(d.rooms[number])
}

// adoptBuckets gives the recomputed index the stored buckets' numbers.
func (d *derived) adoptBuckets(ix *index.Index) error {
	return d.tx.file.Each(row.Buckets, nil, func(key, payload []byte) (bool, error) {
		if len(key) != 4 {
			d.find("bucket key %x is not a number", key)
			return true, nil
		}
		id := uint32(key[0])<<24 | uint32(key[1])<<16 | uint32(key[2])<<8 | uint32(key[3])
		b, err := row.DecodeBucket(id, key, payload)
		if err != nil {
			return false, err
		}
		ix.Adopt(id, b.Signature, b.Queue, b.Priority)
		return true, ix.Err()
	})
}

// compare tells how a derived table differs from what it should hold.
func (d *derived) compare(t row.Table) error {
	want := d.rows[t]
	seen := make(map[string]bool, len(want))
	err := d.tx.file.Each(t, nil, func(key, payload []byte) (bool, error) {
		seen[string(key)] = true
		expected, ok := want[string(key)]
		switch {
		case !ok:
			d.find("table %s has %x, which should not be there", t, key)
		case t == row.Bitmaps:
			if err := sameBits(key, payload, expected); err != nil {
				d.find("%v", err)
			}
		case !bytes.Equal(payload, expected):
			d.find("table %s: %x is not what the rows say", t, key)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !seen[key] {
			d.find("table %s lacks %x", t, key)
		}
	}
	return nil
}

// sameBits compares bitmaps by what they hold: one may be encoded in several
// ways.
func sameBits(key, payload, expected []byte) error {
	a, err := row.DecodeBits(key, payload)
	if err != nil {
		return err
	}
	b, err := row.DecodeBits(key, expected)
	if err != nil {
		return err
	}
	if diff := roaring.Xor(a, b); !diff.IsEmpty() {
		return fmt.Errorf("bitmap %x differs from what the rows say in %d places, first at %d", key, diff.GetCardinality(), diff.Minimum())
	}
	return nil
}
