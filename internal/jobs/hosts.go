package jobs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// One process of each user on each host executes attempts and sends a heartbeat. After
// lost_after without one, the attempts there are unreachable: they may have ended, or still
// run behind a failed network. So their nodes stay allocated and get no new jobs until an
// operator decides. Only an interactive run counts as lost once its time is over.

// Hosts is the part of a transaction that deals with the hosts that execute attempts.
type Hosts struct{ tx *kernel.Tx }

// HostsOf returns the hosts of a transaction.
func HostsOf(tx *kernel.Tx) Hosts { return Hosts{tx} }

// Beat records a heartbeat of the process that executes a user's attempts on a host; boot
// identifies the host's current boot. It makes what was unreachable reachable again.
func (hs Hosts) Beat(host, user, boot string) error {
	if !hs.tx.Writable() {
		return file.ErrReadOnly
	}
	if err := hs.tx.Executing(); err != nil {
		return err
	}
	if a := hs.tx.Opt.Actor; a != nil && a.UID != 0 && !users.RolesOf(hs.tx).IsActor(user) {
		return fmt.Errorf("%w: %s says that processes of %s are there", kernel.ErrNotPermitted, a.User, user)
	}
	if host == "" || user == "" {
		return fmt.Errorf("%w: a heartbeat needs a host and a user", row.ErrInvalid)
	}
	return hs.heard(host, user, boot)
}

// alive records that a user's process on a host executes attempts, which is as good as a heartbeat,
// if the next one is due.
func (hs Hosts) alive(host string, j *row.Job) error {
	user, err := hs.user(j)
	if err != nil || user == "" || host == "" {
		return err
	}
	b, err := nodes.Beat(hs.tx.File, host, user)
	if err != nil || b == nil {
		return err
	}
	set, err := hs.tx.Settings()
	if err != nil || len(b.Down) == 0 && hs.tx.Now-b.Seen < set.BeatWithin() {
		return err
	}
	return hs.heard(host, user, b.Boot)
}

// heard records a sign of life of a user's processes on a host.
func (hs Hosts) heard(host, user, boot string) error {
	beats, err := nodes.Beats(hs.tx.File)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(beats, func(b row.Beat) bool { return b.Host == host && b.User == user })
	if i < 0 {
		i, beats = len(beats), append(beats, row.Beat{Host: host, User: user})
	}
	mine := &beats[i]
	set, err := hs.tx.Settings()
	if err != nil {
		return err
	}
	keep := func() error { return nodes.KeepBeat(hs.tx.File, mine) }
	was := mine.Seen
	mine.Boot, mine.Seen = boot, hs.tx.Now
	if set.Counts(was, hs.tx.Now) { // the user's jobs could already start before
		err = hs.tx.StartsNone(keep)
	} else {
		err = keep()
	}
	if err != nil {
		return hs.tx.Spoil(err)
	}
	for i := range beats {
		if b := &beats[i]; b.Host == host && len(b.Down) > 0 {
			if err := hs.up(b); err != nil {
				return hs.tx.Spoil(err)
			}
		}
	}
	return hs.tx.Spoil(hs.eachAttempt(mine, func(j *row.Job, _ *row.Attempt) error {
		if j.Reason.Cause != row.CauseUnreachable {
			return nil
		}
		return hs.say(j, "reachable", row.Reason{})
	}))
}

// up puts nodes back into service that are down because their host was silent.
func (hs Hosts) up(b *row.Beat) error {
	for _, number := range b.Down {
		n, err := hs.tx.NodeByNumber(number)
		if errors.Is(err, row.ErrNotFound) {
			continue
		}
		if err == nil && n.State == index.Down && !slices.Contains(b.Touched, number) {
			err = SetNodeState(hs.tx, number, index.Up, row.Reason{})
		}
		if err != nil {
			return err
		}
	}
	b.Down, b.Touched = nil, nil
	return nodes.KeepBeat(hs.tx.File, b)
}

// eachAttempt calls fn for the attempts that a user's processes execute on a host.
func (hs Hosts) eachAttempt(b *row.Beat, fn func(*row.Job, *row.Attempt) error) error {
	return AttemptsOf(hs.tx).ClaimedOn(b.Host, func(job *kernel.Job, attempt *kernel.Attempt) error {
		if attempt.By != row.BySupervisor && attempt.By != row.ByRun {
			return nil
		}
		j, err := hs.tx.Job(job.ID)
		if err != nil {
			return err
		}
		user, err := hs.user(j)
		if err != nil || user != "" && user != b.User {
			return err
		}
		a, err := hs.tx.Attempts().Of(j, attempt.Number)
		if err != nil {
			return err
		}
		return fn(j, a)
	})
}

// user returns the user whose processes execute a job, or "" if unknown.
func (hs Hosts) user(j *row.Job) (string, error) {
	p, err := hs.tx.Payloads().Of(j)
	if err != nil || p == nil || p.Owner == nil {
		return "", err
	}
	return p.Owner.Name, nil
}

// say records an event about whether a job can be reached.
func (hs Hosts) say(j *row.Job, event string, reason row.Reason) error {
	j.Reason = reason
	delete(hs.tx.Loaded.Overruns, row.JobOwner(j.ID))
	err := hs.tx.Happened(row.Event{Job: j.ID, Event: event, Old: j.State.String(), New: j.State.String(),
		Reason: reason, Attempt: j.Attempt})
	if err != nil {
		return err
	}
	return PutJob(hs.tx, j, j.State)
}

// Lost handles the attempts of a user on a host that has sent no heartbeat since an instant, and
// the host's nodes if no user's process has sent one.
func (hs Hosts) Lost(b *row.Beat, last int64, whole bool) error {
	type claimed struct {
		job     *row.Job
		attempt *row.Attempt
	}
	var list []claimed
	err := hs.eachAttempt(b, func(j *row.Job, a *row.Attempt) error {
		if a.Claimed <= last {
			list = append(list, claimed{j, a})
		}
		return nil
	})
	if err != nil {
		return err
	}
	silence := fmt.Sprintf("no heartbeat from %s (user %s) since %s", b.Host, b.User, kernel.Stamp(b.Seen))
	why := row.Because(row.CauseUnreachable, "unreachable: "+silence)
	before := len(b.Down)
	for _, c := range list {
		node := firstNode(c.job)
		switch {
		case c.attempt.By == row.ByRun && c.job.End <= hs.tx.Now:
			_, err = report(hs.tx, c.job, Result{Job: c.job.ID, Attempt: c.attempt.Number, Nonce: c.attempt.Nonce,
				Outcome: row.OutcomeLost, Why: silence})
		case !c.job.Ending && c.job.Reason.Cause != row.CauseUnreachable:
			err = hs.say(c.job, "unreachable", why)
		}
		if err == nil && whole && !slices.Contains(b.Down, node) {
			err = hs.down(b, node, why)
		}
		if err != nil {
			return err
		}
	}
	if len(b.Down) == before {
		return nil
	}
	return nodes.KeepBeat(hs.tx.File, b)
}

// Touched records that a person has set the state of a node, so that it is not put back into
// service automatically.
func (hs Hosts) Touched(number uint32) error {
	beats, err := nodes.Beats(hs.tx.File)
	for i := range beats {
		b := &beats[i]
		if err == nil && slices.Contains(b.Down, number) && !slices.Contains(b.Touched, number) {
			b.Touched = append(b.Touched, number)
			err = nodes.KeepBeat(hs.tx.File, b)
		}
	}
	return err
}

// down takes a node out of service.
func (hs Hosts) down(b *row.Beat, number uint32, why row.Reason) error {
	n, err := hs.tx.NodeByNumber(number)
	if err != nil || n.State != index.Up {
		return err
	}
	b.Down = append(b.Down, number)
	return SetNodeState(hs.tx, number, index.Down, why)
}

// refuses records that a node has refused a job. It drains a node that is not healthy, or that
// refuses too often, before it has refused all waiting jobs. Only refusals that the host
// caused count.
func (hs Hosts) refuses(number uint32, r Result) error {
	if r.Blame != BlameNode && r.Blame != BlameHealth {
		return nil
	}
	n, err := hs.tx.NodeByNumber(number)
	if err != nil || n.State != index.Up {
		return err
	}
	if r.Blame == BlameHealth {
		return SetNodeState(hs.tx, number, index.Drained, row.Because(row.CauseHealth, r.Why))
	}
	set, err := hs.tx.Settings()
	if err != nil || set.SuspectAfter == 0 {
		return err
	}
	suspect, err := nodes.Refused(hs.tx.File, number, r.Job, hs.tx.Now, set.SuspectAfter,
		kernel.Seconds(set.SuspectWindow))
	if err != nil || !suspect {
		return err
	}
	return SetNodeState(hs.tx, number, index.Drained, row.Because(row.CauseSuspect, "suspect: "+r.Why))
}

// blame decides who is to blame for an unclaimed attempt on a host. It is not the host if
// other attempts run there, or if it sent a heartbeat lately: then only this user's passes are
// missing there.
func (hs Hosts) blame(host string, set *kernel.Settings) (Blame, error) {
	who := BlameNode
	beats, err := nodes.Beats(hs.tx.File)
	if err != nil || slices.ContainsFunc(beats, func(b row.Beat) bool {
		return kernel.SameHost(b.Host, host) && hs.tx.Now-b.Seen < kernel.Seconds(set.LostAfter)/3
	}) {
		return BlameNobody, err
	}
	err = hs.tx.File.Each(row.Claimed, nil, func(key, _ []byte) (bool, error) {
		claimer, job, number, err := row.SplitClaimedKey(key)
		if err != nil || number == 0 || !kernel.SameHost(claimer, host) {
			return err == nil, err
		}
		j, err := hs.tx.ListedJob(job)
		if err != nil {
			return false, err
		}
		a, err := hs.tx.Attempts().Of(j, number)
		if a != nil {
			who = BlameNobody
		}
		return who == BlameNode, err
	})
	return who, err
}
