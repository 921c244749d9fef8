package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/replica"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// How much is read at once. A replica is usually a little behind: the first page comes with everything else.
const (
	firstPage = 100
	nextPage  = 500
)

// stateReads is the number of operations of state.
const stateReads = 5

// state returns the operations that read the state of the log, and the entries after a position.
func (d *driver) state(at uint64) []clientv3.Op {
	return []clientv3.Op{
		clientv3.OpGet(d.keys.meta()), clientv3.OpGet(d.keys.head()), clientv3.OpGet(d.keys.first()),
		clientv3.OpGet(d.keys.snap()), d.page(at+1, firstPage),
	}
}

// page reads entries from n on.
func (d *driver) page(n uint64, most int64) clientv3.Op {
	return clientv3.OpGet(d.keys.entry(n), clientv3.WithRange(clientv3.GetPrefixRangeEnd(d.keys.key("log/"))),
		clientv3.WithLimit(most))
}

// seen is the state of the log, and the first page of its entries after a position.
type seen struct {
	tail   replica.Tail
	newest newest
	rev    int64 // of the last put of snap
	page   []*mvccpb.KeyValue
}

// describe reads the answer to the operations of state.
func describe(r *clientv3.TxnResponse) (s seen, err error) {
	if s.tail.Log, err = decodeMeta(value(part(r, 0))); err != nil {
		return s, err
	}
	var ok bool
	if s.tail.Head, ok = replica.ParsePosition(value(part(r, 1))); !ok {
		return s, fmt.Errorf("head: %w", errForeign)
	}
	if s.tail.First, err = decodeFirst(value(part(r, 2))); err != nil {
		return s, err
	}
	if s.newest, err = decodeNewest(value(part(r, 3))); err != nil {
		return s, err
	}
	s.tail.Snapshot, s.tail.SnapshotBytes = s.newest.at, int64(s.newest.bytes)
	s.rev, s.page = part(r, 3).Kvs[0].ModRevision, part(r, 4).Kvs
	return s, nil
}

// ask reads by a transaction whose first operation, in either case, reads meta.
func (d *driver) ask(ctx context.Context, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) (
	r *clientv3.TxnResponse, err error) {
	for {
		if err := d.read(ctx, d.txn(&r, cmps, then, otherwise)); err != nil {
			return nil, err
		}
		if value(part(r, 0)) != nil {
			d.cluster.CompareAndSwap(0, r.Header.ClusterId)
			return r, nil
		}
		if len(d.config.Endpoints) == 1 || d.cluster.Load() != 0 {
			return r, replica.ErrNoLog
		}
		err := d.elsewhere(ctx)
		if errors.Is(err, replica.ErrAway) { // the members that have it may come back
			select {
			case <-ctx.Done():
			case <-time.After(askNext):
				continue
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// elsewhere looks for the log at each member, because a member of another etcd may be in the list. The etcd that has
// the log counts from then on. A member whose disk is slow is waited for as long as a call may take: its silence is
// no answer. Only if most of the list say so there is no log, because those that say nothing may be the ones that
// have it.
func (d *driver) elsewhere(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	type answer struct {
		member string
		meta   *clientv3.TxnResponse // nil if none came
	}
	answers := make(chan answer, len(d.config.Endpoints))
	for _, member := range d.config.Endpoints {
		go func() { answers <- answer{member, d.alone(ctx, member)} }()
	}
	none, answered := make(map[uint64]string), 0
	for range d.config.Endpoints {
		switch a := <-answers; {
		case a.meta == nil:
		case value(part(a.meta, 0)) != nil:
			d.cluster.CompareAndSwap(0, a.meta.Header.ClusterId)
			return nil
		default:
			none[a.meta.Header.ClusterId] = a.member
			answered++
		}
	}
	if len(none) > 1 {
		return fmt.Errorf("%s are members of different etcds, and none has a database below %s: correct the list",
			strings.Join(slices.Sorted(maps.Values(none)), " and "), d.keys)
	}
	if all := len(d.config.Endpoints); 2*answered <= all {
		return fmt.Errorf("%w: %d of %d members answered, and have no database", replica.ErrAway, answered, all)
	}
	return replica.ErrNoLog
}

// logIn connects, and with a user gets a token, so that neither takes time from an attempt.
func (d *driver) logIn(ctx context.Context) error {
	return d.read(ctx, func(context.Context, *clientv3.Client) error { return nil })
}

// known finds the etcd that has the log, before anything is put that must not reach another one.
func (d *driver) known(ctx context.Context) error {
	if len(d.config.Endpoints) == 1 || d.cluster.Load() != 0 {
		return nil
	}
	_, err := d.ask(ctx, nil, d.state(nowhere)[:1], nil)
	return err
}

// alone reads meta from one member, and returns nil if it cannot be reached or does not answer.
func (d *driver) alone(ctx context.Context, member string) (meta *clientv3.TxnResponse) {
	it := &driver{keys: d.keys, config: d.config}
	it.config.Endpoints = []string{member}
	it.config.DialOptions = append(slices.Clone(d.config.DialOptions), grpc.WithContextDialer(it.way.dial))
	defer it.Close()
	for patience := askNext; ; patience = min(2*patience, giveUp) {
		attempt, cancel := context.WithTimeout(ctx, patience)
		err := it.once(attempt, it.txn(&meta, nil, d.state(nowhere)[:1], nil))
		cancel()
		silent := errors.Is(err, replica.ErrAway) || errors.Is(err, replica.ErrLost)
		if !silent || it.way.last(nil) != nil || ctx.Err() != nil {
			return meta
		}
	}
}

// look reads the state of the log, and the first page after a position.
func (d *driver) look(ctx context.Context, at uint64) (seen, error) {
	r, err := d.ask(ctx, nil, d.state(at), nil)
	if err != nil {
		return seen{}, err
	}
	return describe(r)
}

// nowhere is after the end of every log.
const nowhere = 1 << 62

func (d *driver) headIs(at replica.Position) clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(d.keys.head()), "=", string(at.Bytes()))
}

// After reads the entries after a position. Usually there are none: head is compared, and the rest is read only
// if it differs, in the same step.
func (d *driver) After(ctx context.Context, at replica.Position, wait bool) (*replica.Tail, error) {
	if wait {
		moved := func(r *clientv3.GetResponse) bool { return string(value(r)) != string(at.Bytes()) }
		if err := d.watch(ctx, d.keys.head(), moved); err != nil {
			return nil, err
		}
	}
	for {
		r, err := d.ask(ctx, []clientv3.Cmp{d.headIs(at)}, d.state(0)[:1], d.state(at.N))
		if err != nil {
			return nil, err
		}
		if r.Succeeded {
			log, err := decodeMeta(value(part(r, 0)))
			return &replica.Tail{Log: log, Head: at}, err
		}
		s, err := describe(r)
		if err != nil {
			return nil, err
		}
		if t, err := d.follow(ctx, at, s); !errors.Is(err, errMoved) {
			return t, err
		}
	}
}

// errMoved means that entries were trimmed between two pages.
var errMoved = errors.New("the log was trimmed meanwhile")

// follow reads the entries after a position, as many as a Tail holds. Their first page has been read.
func (d *driver) follow(ctx context.Context, at replica.Position, s seen) (*replica.Tail, error) {
	t, page, total := &s.tail, s.page, 0
	if at.N+1 < t.First || t.Head.N <= at.N {
		return t, nil
	}
	for n := at.N + 1; ; {
		for _, p := range page {
			if string(p.Key) != d.keys.entry(n) {
				return nil, d.hole(ctx, n)
			}
			entry, err := d.whole(ctx, n, p.Value)
			if err != nil {
				return nil, err
			}
			if total += len(entry); total > replica.MostBytes && len(t.Entries) > 0 {
				return t, nil
			}
			if t.Entries = append(t.Entries, entry); n == t.Head.N || len(t.Entries) == replica.MostEntries {
				return t, nil
			}
			n++
		}
		if len(page) == 0 {
			return nil, d.hole(ctx, n)
		}
		var r *clientv3.TxnResponse
		if err := d.read(ctx, d.txn(&r, nil, []clientv3.Op{d.page(n, nextPage)}, nil)); err != nil {
			return nil, err
		}
		page = part(r, 0).Kvs
	}
}

// hole returns the error for an entry n that is missing, or lacks parts.
func (d *driver) hole(ctx context.Context, n uint64) error {
	s, err := d.look(ctx, nowhere)
	switch {
	case err != nil:
		return err
	case n < s.tail.First:
		return errMoved
	}
	return fmt.Errorf("entry %d, or a part of it, is missing, though the log begins with %d and ends with %d: another "+
		"program has deleted it", n, s.tail.First, s.tail.Head.N)
}

// whole returns the entry of a value, which may be a stub.
func (d *driver) whole(ctx context.Context, n uint64, b []byte) ([]byte, error) {
	s, ok := decodeStub(b)
	if !ok {
		return b, nil
	}
	entry, err := d.gather(ctx, d.keys.parts(n, s.id), int(s.parts), s.bytes)
	if err == nil && entry == nil {
		err = d.hole(ctx, n)
	}
	return entry, err
}

// Append is one attempt to put an entry after a position. It sends no transaction twice.
func (d *driver) Append(ctx context.Context, at replica.Position, entry []byte, where replica.Turn) (*replica.Tail,
	error) {
	if len(entry) == 0 || entry[0] == inParts {
		return nil, errors.New("an entry begins with its version")
	}
	if err := d.logIn(ctx); err != nil {
		return nil, err
	}
	stored, parts, err := d.enterParts(ctx, at.N+1, entry)
	if err != nil {
		return nil, err
	}
	mine, _ := where.(*turn)
	line := d.keys.line()
	none := clientv3.Compare(clientv3.CreateRevision(line).WithPrefix(), "=", 0) // no keys count as one at 0
	then := append([]clientv3.Op{
		clientv3.OpPut(d.keys.head(), string(at.After(entry).Bytes())),
		clientv3.OpPut(d.keys.entry(at.N+1), string(stored)),
	}, counted(parts.keys)...)
	if mine != nil {
		none = clientv3.Compare(clientv3.CreateRevision(line).WithPrefix(), ">", mine.came-1)
		then = append(then, clientv3.OpDelete(mine.key))
	}
	oldest := d.oldest()
	var r *clientv3.TxnResponse
	attempt, cancel := context.WithTimeout(ctx, askNext+time.Duration(len(stored)>>10)*time.Millisecond)
	defer cancel()
	err = d.once(attempt, d.txn(&r, []clientv3.Cmp{d.headIs(at), none}, then, append(d.state(at.N), oldest)))
	switch {
	case errors.Is(err, rpctypes.ErrKeyNotFound) && len(parts.keys) > 0:
		return nil, errLeaseOver
	case err != nil:
		return nil, err
	case r.Succeeded:
		d.cluster.CompareAndSwap(0, r.Header.ClusterId)
		if mine != nil {
			mine.given()
		}
		return nil, nil
	}
	d.revoke(ctx, parts.lease)
	if value(part(r, 0)) == nil {
		return nil, d.noLog(ctx)
	}
	d.cluster.CompareAndSwap(0, r.Header.ClusterId)
	s, err := describe(r)
	if err != nil {
		return nil, err
	}
	before := part(r, stateReads).Kvs
	s.tail.Waiting = s.tail.Head == at || len(before) > 0 && (mine == nil || before[0].CreateRevision < mine.came)
	t, err := d.follow(ctx, at, s)
	if errors.Is(err, errMoved) {
		t, err = d.After(ctx, at, false)
	}
	return t, err
}

// noLog is why an entry was refused by a member that has no log: there is none, or it is of another etcd.
func (d *driver) noLog(ctx context.Context) error {
	if _, err := d.look(ctx, nowhere); err != nil {
		return err
	}
	return fmt.Errorf("%w: a member of another etcd was asked", replica.ErrAway)
}
