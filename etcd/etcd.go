package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/internal/replica"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

const (
	askNext = 250 * time.Millisecond // after that the next member is asked
	giveUp  = 10 * time.Second       // after that an attempt counts as lost
	// logInWithin is the least time for logging in, because checking a password is slow on purpose, and etcd goes on
	// with one even after the client has given up.
	logInWithin = 3 * time.Second
	// tellWithin bounds the time in which members say whose they are.
	tellWithin = time.Second

	defaultPort = "2379"
)

func init() {
	for _, scheme := range []string{"etcd", "etcds"} {
		replica.Register(scheme, func(c replica.Config) (replica.Driver, error) { return open(c, os.Getenv) })
	}
}

// driver is a connection to one log. It connects with the first call, so that an answer from a stale replica
// costs nothing.
type driver struct {
	keys    keys
	owner   string // its key in the line
	config  clientv3.Config
	detail  func(string)
	way     way
	cluster atomic.Uint64  // the etcd cluster that has the log; 0 while unknown
	leaving sync.WaitGroup // turns that are being given up

	mu     sync.Mutex
	client *clientv3.Client // nil before the first call
}

var _ replica.Driver = (*driver)(nil)

func open(c replica.Config, env func(string) string) (*driver, error) {
	if len(c.Members) == 0 {
		return nil, fmt.Errorf("%w: there is no member in it", replica.ErrName)
	}
	d := &driver{keys: keys(c.Prefix), owner: ownerOf(c.Owner), detail: c.Detail}
	d.config = clientv3.Config{
		Logger:               zap.NewNop(), // the default one writes to stderr
		BackoffWaitBetween:   25 * time.Millisecond,
		DialKeepAliveTime:    5 * time.Second, // for watches: a member that hangs
		DialKeepAliveTimeout: 3 * time.Second,
		DialOptions: []grpc.DialOption{
			grpc.WithStatsHandler(sendings{}),
			grpc.WithNoProxy(), // etcd is near
			grpc.WithContextDialer(d.way.dial),
			grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: giveUp / 2, Backoff: backoff.Config{
				BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: .2, MaxDelay: time.Second}}),
		},
	}
	scheme := "http://"
	if c.Scheme == "etcds" {
		scheme = "https://"
		secured, err := secure(env)
		if err != nil {
			return nil, err
		}
		d.config.TLS = secured
		d.config.DialOptions = append(d.config.DialOptions,
			grpc.WithTransportCredentials(&watchful{credentials.NewTLS(secured), &d.way}))
	}
	for _, m := range c.Members {
		if _, _, err := net.SplitHostPort(m); err != nil {
			m = net.JoinHostPort(strings.Trim(m, "[]"), defaultPort)
		}
		d.config.Endpoints = append(d.config.Endpoints, scheme+m)
	}
	if path := env(envAuth); path != "" {
		var err error
		if d.config.Username, d.config.Password, err = readLogin(path); err != nil {
			return nil, fmt.Errorf("%s: %w", envAuth, err)
		}
	}
	return d, nil
}

// connect returns the client. With a user, making it asks a member for a token, within the call's time.
func (d *driver) connect(ctx context.Context) (*clientv3.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client != nil {
		return d.client, nil
	}
	c := d.config
	c.DialTimeout = giveUp
	if until, is := ctx.Deadline(); is && c.Username != "" {
		c.DialTimeout = max(min(time.Until(until), giveUp), time.Millisecond)
	}
	client, err := clientv3.New(c)
	if err != nil {
		if c.Username != "" && refused(err) {
			err = fmt.Errorf("user %s: %w", c.Username, err)
		}
		return nil, err // it is not kept: the next call tries again
	}
	// The first answer to a keep-alive may take longer than logging in.
	client.Lease = clientv3.NewLeaseFromLeaseClient(clientv3.RetryLeaseClient(client), client, giveUp)
	d.client = client
	return client, nil
}

// Close gives up turns, and closes the connection.
func (d *driver) Close() error {
	d.leaving.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client != nil {
		_ = d.client.Close() // it returns that its own context is cancelled
	}
	return nil
}

// sendings notes for each call whether anything was sent. A call that times out could not tell otherwise,
// because the client waits until a member is ready.
type sendings struct{}

type sentKey struct{}

func (sendings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (sendings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (sendings) HandleConn(context.Context, stats.ConnStats)                       {}
func (sendings) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, is := s.(*stats.OutHeader); is {
		if sent, is := ctx.Value(sentKey{}).(*atomic.Bool); is {
			sent.Store(true)
		}
	}
}

// call is one attempt to ask a member something.
type call func(ctx context.Context, c *clientv3.Client) error

// once makes one attempt. Its error is ErrAway, ErrLost, or one that repeating does not mend.
func (d *driver) once(ctx context.Context, ask call) error {
	var sent atomic.Bool
	var list []string
	c, err := d.connect(ctx)
	if err == nil {
		list = c.Endpoints()
		err = ask(context.WithValue(ctx, sentKey{}, &sent), c)
	}
	var strange *stranger
	isStrange := errors.As(err, &strange)
	isOut := c != nil && (isStrange || refused(err)) && d.leaveOut(ctx, c, list)
	switch {
	case err == nil:
		return nil
	case isStrange || isOut:
		return fmt.Errorf("%w: %w", replica.ErrAway, err)
	case refused(err):
		return d.explain(err)
	}
	if wrong := d.way.wrong(); wrong != nil && !sent.Load() {
		return wrong
	}
	if sent.Load() {
		return fmt.Errorf("%w: %v", replica.ErrLost, err)
	}
	return fmt.Errorf("%w: %v", replica.ErrAway, d.way.last(err))
}

// read repeats a call that changes nothing, or may be carried out twice, until it is answered. A member that
// does not answer costs a moment, because the client takes them in turn.
func (d *driver) read(ctx context.Context, ask call) error { return d.patiently(ctx, askNext, ask) }

// slow is read for calls that may take long.
func (d *driver) slow(ctx context.Context, ask call) error { return d.patiently(ctx, giveUp/2, ask) }

func (d *driver) patiently(ctx context.Context, patience time.Duration, ask call) error {
	for ; ; patience = min(2*patience, giveUp) {
		if d.loggedOut() {
			patience = max(patience, logInWithin)
		}
		attempt, cancel := context.WithTimeout(ctx, patience)
		err := d.once(attempt, ask)
		cancel()
		if !errors.Is(err, replica.ErrLost) && !errors.Is(err, replica.ErrAway) {
			return err
		}
		select {
		case <-ctx.Done(): // a read leaves nothing in doubt
			return fmt.Errorf("%w: %s", replica.ErrAway, strings.TrimPrefix(strings.TrimPrefix(err.Error(),
				replica.ErrAway.Error()+": "), replica.ErrLost.Error()+": "))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// loggedOut reports whether the next call has to log in first.
func (d *driver) loggedOut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config.Username != "" && d.client == nil
}

// refused reports whether etcd's answer is that the call was not, and will not be, carried out.
func refused(err error) bool {
	if tooLarge(err) {
		return true
	}
	var e rpctypes.EtcdError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.FailedPrecondition, codes.OutOfRange,
		codes.Unimplemented, codes.Unauthenticated:
		return true
	case codes.ResourceExhausted:
		return !errors.Is(err, rpctypes.ErrTooManyRequests)
	}
	return false
}

// tooLarge reports whether a member takes no request of that length. Far beyond --max-request-bytes, the answer comes
// from gRPC.
func tooLarge(err error) bool {
	return errors.Is(err, rpctypes.ErrRequestTooLarge) ||
		status.Code(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}

// explain adds what to do about a refusal by etcd, if its own words do not say.
func (d *driver) explain(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%w: etcd is out of space (alarm NOSPACE): nothing was changed; compact and defragment it, "+
			"then etcdctl alarm disarm; or raise --quota-backend-bytes", replica.ErrFull)
	case tooLarge(err), errors.Is(err, rpctypes.ErrTooManyOps):
		return fmt.Errorf("%w: %v: the members run with a smaller --max-request-bytes or --max-txn-ops than etcd's own",
			replica.ErrFull, err)
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("etcd wants a user: %s names a file with USER:PASSWORD", envAuth)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("etcd does not let this user read or write below %s: %w", d.keys, err)
	}
	return err
}

// stranger is the error that a member belongs to another etcd cluster than the log.
type stranger struct{ has, other uint64 }

func (s *stranger) Error() string {
	return fmt.Sprintf("a member is of another etcd (%x) than the one that has the database (%x): take it off the list",
		s.other, s.has)
}

// same refuses answers from another etcd cluster. The one in which a member has shown the log counts.
func (d *driver) same(cluster uint64) error {
	if has := d.cluster.Load(); has != 0 && has != cluster {
		return &stranger{has, cluster}
	}
	return nil
}

// leaveOut asks no more those of a list of members that say they are of another etcd than the one that has the log,
// and reports whether there is one, or another call has left one out since the list was read. A refusal does not say
// whose it is: a stranger knows none of our leases. All are asked at once, and in time of their own: one that does
// not answer now is not the one that has refused. With users, a stranger does not even say whose it is: one that
// refuses is one if another is ours.
func (d *driver) leaveOut(ctx context.Context, c *clientv3.Client, list []string) bool {
	if len(list) == 1 || d.cluster.Load() == 0 && d.elsewhere(context.WithoutCancel(ctx)) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
	defer cancel()
	strange := make([]error, len(list))
	var asked sync.WaitGroup
	var sure atomic.Bool // one is ours
	for i, member := range list {
		asked.Go(func() {
			r, err := c.Status(ctx, member)
			switch {
			case err == nil:
				if strange[i] = d.same(r.Header.ClusterId); strange[i] == nil {
					sure.Store(true)
				}
			case refused(err):
				strange[i] = fmt.Errorf("it refuses what another member of the list answers: take it off: %w", err)
			}
		})
	}
	asked.Wait()
	var ours []string
	for i, member := range list {
		if strange[i] == nil {
			ours = append(ours, member)
		} else if d.detail != nil {
			d.detail(fmt.Sprintf("%s: %v", member, strange[i]))
		}
	}
	if len(ours) == len(list) || !sure.Load() {
		return len(c.Endpoints()) < len(list)
	}
	c.SetEndpoints(ours...)
	return true
}

// txn carries out a transaction once, in the etcd that has the log.
func (d *driver) txn(out **clientv3.TxnResponse, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) call {
	return func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
		if err == nil {
			*out, err = r, d.same(r.Header.ClusterId)
		}
		return err
	}
}

// get reads keys.
func (d *driver) get(ctx context.Context, key string, opts ...clientv3.OpOption) (r *clientv3.GetResponse, err error) {
	err = d.read(ctx, func(ctx context.Context, c *clientv3.Client) (err error) {
		if r, err = c.Get(ctx, key, opts...); err == nil {
			err = d.same(r.Header.ClusterId)
		}
		return err
	})
	return r, err
}

// value returns the value of the only key of an answer; nil if there is none.
func value(r *clientv3.GetResponse) []byte {
	if len(r.Kvs) == 0 {
		return nil
	}
	return r.Kvs[0].Value
}

// part returns the answer to operation i of a transaction, which reads.
func part(r *clientv3.TxnResponse, i int) *clientv3.GetResponse {
	return (*clientv3.GetResponse)(r.Responses[i].GetResponseRange())
}
