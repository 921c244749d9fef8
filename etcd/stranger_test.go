package etcd

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/etcd/internal/members"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/drivertest"
)

// TestStrangers: a member of another etcd in the list changes no answer. If none has the log, the error says that
// the list is wrong, and nothing is made.
func TestStrangers(t *testing.T) {
	t.Parallel()
	ours, theirs := one(t), one(t)
	at := drivertest.Make(t, connect(t, "db", ours))
	long := append([]byte("\x01"), make([]byte, 3*pieceBytes)...)
	for i := range 8 {
		d := connect(t, "db", theirs, ours)
		if tail, err := d.After(drivertest.Soon(t), replica.Position{}, false); err != nil || tail.Head != at {
			t.Fatal(tail, err)
		}
		entry := []byte{1, byte(i)}
		if i == 4 {
			entry = long
		}
		at = drivertest.Put(t, d, at, entry, nil)
	}
	none := connect(t, "none", ours, theirs)
	if _, err := none.After(drivertest.Soon(t), at, false); err == nil || errors.Is(err, replica.ErrNoLog) ||
		!strings.Contains(err.Error(), "different etcds") {
		t.Errorf("no database at either: %v", err)
	}
	if made, err := none.Keep(drivertest.Soon(t), replica.ID{1}, nil, &replica.Snapshot{}); err == nil || made {
		t.Error("a database was made at one of two")
	}
}

// meet returns a connection to a log that knows whose it is, and then reaches the member of another etcd at p, too.
func meet(t *testing.T, at replica.Position, p *members.Pipe, hosts ...string) *driver {
	t.Helper()
	p.Set(members.Blocked)
	d := connect(t, "db", hosts...)
	if tail, err := d.After(drivertest.Soon(t), at, false); err != nil || tail.Head != at {
		t.Fatal(tail, err)
	}
	p.Set(members.Open)
	time.Sleep(100 * time.Millisecond) // until it is connected
	return d
}

func pipeTo(t *testing.T, host string) *members.Pipe {
	t.Helper()
	p, err := members.NewPipe(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// silent returns an address that takes connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestStrangerRefuses: what a member of another etcd refuses, such as a lease that it does not know, is asked again
// elsewhere, whichever member is asked first.
func TestStrangerRefuses(t *testing.T) {
	t.Parallel()
	ours, p := one(t), pipeTo(t, one(t))
	at := drivertest.Make(t, connect(t, "db", ours))
	long := append([]byte("\x01"), make([]byte, pieceBytes)...)
	for range 8 { // members are asked in turn, from a random one on
		at = drivertest.Put(t, meet(t, at, p, ours, p.Host), at, long, nil)
	}
}

// TestLeaveOut: a call that a member of another etcd has refused is made again, even if a member of the list does not
// answer, or another call has left out that member meanwhile.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	ours, p := one(t), pipeTo(t, one(t))
	d := meet(t, drivertest.Make(t, connect(t, "db", ours)), p, silent(t), p.Host, ours)
	list := d.client.Endpoints()
	for i := range 2 {
		if !d.leaveOut(within(t, askNext), d.client, list) {
			t.Errorf("call %d is not made again", i)
		}
		p.Set(members.Cut)
	}
}

// TestStrangerFirst: the first call of a process, if it puts something, finds out first which etcd has the log.
func TestStrangerFirst(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := one(t), startEtcd(t, self, 1, "--quota-backend-bytes", "50000000").Hosts[0]
	at := drivertest.Make(t, connect(t, "db", ours))
	other := connect(t, "db", theirs)
	c, err := other.connect(drivertest.Soon(t))
	if err != nil {
		t.Fatal(err)
	}
	long := append([]byte("\x01"), make([]byte, pieceBytes)...)
	for range 6 { // a random member is asked first
		if turn, err := connect(t, "db", theirs, ours).Turn(drivertest.Soon(t)); err != nil {
			t.Error(err)
		} else {
			at = drivertest.Put(t, connect(t, "db", theirs, ours), at, long, turn)
		}
		if m, err := connect(t, "db", theirs, ours).Members(drivertest.Soon(t)); err != nil || m.Quota != defaultQuota {
			t.Errorf("not the log's own etcd: %+v, %v", m, err)
		}
	}
	if r, err := c.Get(drivertest.Soon(t), "db"); err != nil || r.Header.Revision > 1 {
		t.Error("something was put into another etcd:", r, err)
	}
}

// TestStrangerWithUsers: a member of another etcd that refuses all without a user changes no answer.
func TestStrangerWithUsers(t *testing.T) {
	t.Parallel()
	ours, theirs := one(t), one(t)
	at := drivertest.Make(t, connect(t, "db", ours))
	withUser(t, theirs)
	for range 8 { // a random member is asked first
		tail, err := connect(t, "db", theirs, ours).After(drivertest.Soon(t), replica.Position{}, false)
		if err != nil || tail.Head != at {
			t.Fatal(tail, err)
		}
	}
}

// withUser lets only root into an etcd, whose password is pass.
func withUser(t *testing.T, host string) {
	t.Helper()
	c, err := connect(t, "root", host).connect(drivertest.Soon(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx := drivertest.Soon(t)
	_, err = c.UserAdd(ctx, "root", "pass")
	if err == nil {
		_, err = c.RoleAdd(ctx, "root")
	}
	if err == nil {
		_, err = c.UserGrantRole(ctx, "root", "root")
	}
	if err == nil {
		_, err = c.AuthEnable(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSlowStrangers: an answer that comes late counts as much as one that comes at once.
func TestSlowStrangers(t *testing.T) {
	t.Parallel()
	ours, theirs := oneCluster(t), oneCluster(t)
	hosts := append(slices.Clone(ours.Hosts), theirs.Hosts...)
	at := drivertest.Make(t, connect(t, "db", ours.Hosts...))
	hangs := func(c *members.Cluster, ask func()) {
		t.Helper()
		if err := c.Signal(0, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() { ask(); close(answered) }()
		select {
		case <-answered:
		case <-time.After(3 * time.Second):
		}
		if err := c.Signal(0, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		<-answered
	}
	hangs(ours, func() {
		if tail, err := connect(t, "db", hosts...).After(drivertest.Soon(t), replica.Position{}, false); err != nil ||
			tail.Head != at {
			t.Error(tail, err)
		}
	})
	for _, c := range []*members.Cluster{ours, theirs} {
		hangs(c, func() {
			made, err := connect(t, "none", hosts...).Keep(drivertest.Soon(t), replica.ID{1}, nil, &replica.Snapshot{})
			if err == nil || made || !strings.Contains(err.Error(), "different etcds") {
				t.Error(made, err)
			}
		})
	}
}

// TestAwayBesideStranger: that a member of another etcd has no log does not mean that there is none, if the log's own
// etcd is down or hangs. Nothing is made there, and the call waits.
func TestAwayBesideStranger(t *testing.T) {
	t.Parallel()
	ours, theirs := oneCluster(t), one(t)
	hosts := []string{ours.Hosts[0], theirs}
	at := drivertest.Make(t, connect(t, "db", ours.Hosts...))
	away := func(err error) {
		t.Helper()
		if !errors.Is(err, replica.ErrAway) {
			t.Error(err)
		}
	}
	for _, how := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		if err := ours.Signal(0, how); err != nil {
			t.Fatal(err)
		}
		_, err := connect(t, "db", hosts...).After(within(t, time.Second), at, false)
		away(err)
		made, err := connect(t, "db", hosts...).Keep(within(t, time.Second), replica.ID{9}, nil, &replica.Snapshot{})
		if away(err); made {
			t.Error("a second database was made")
		}
	}
	asked := make(chan error)
	go func() { _, err := connect(t, "db", hosts...).After(drivertest.Soon(t), at, false); asked <- err }()
	if err := errors.Join(ours.Start(0), <-asked); err != nil {
		t.Error(err)
	}
}

// TestMakeWithoutOne: a log is made at once though one of three members is down.
func TestMakeWithoutOne(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := startEtcd(t, self, 3)
	if err := c.Signal(0, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	drivertest.Put(t, connect(t, "elected", c.Hosts[1:]...), drivertest.Make(t, connect(t, "elected", c.Hosts[1:]...)),
		[]byte("\x01one"), nil)
	began := time.Now()
	drivertest.Make(t, connect(t, "db", c.Hosts...))
	if took := time.Since(began); took > giveUp*4/5 { // it waits for giveUp, if at all
		t.Errorf("that took %v", took)
	}
}
