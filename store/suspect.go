package store

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// A node whose host refuses one job after the other is drained, before it has refused all
// that wait. Only what is the host's fault counts, and only different jobs within a while,
// with none that it has executed in between: a job that no host can execute must not drain
// one after the other.

// suspects is the transaction as far as it is about nodes that refuse jobs.
type suspects struct{ *Tx }

// refused takes note that a node has refused a job, and drains one that does it too often,
// or that is not healthy.
func (ss suspects) refused(number uint32, r Result) error {
	if r.Blame != BlameNode && r.Blame != BlameHealth {
		return nil
	}
	n, err := ss.NodeByNumber(number)
	if err != nil || n.State != index.Up {
		return err
	}
	if r.Blame == BlameHealth {
		return ss.SetNodeState(number, index.Drained, r.Why)
	}
	set, err := ss.settings()
	if err != nil || set.SuspectAfter == 0 {
		return err
	}
	is, err := ss.row(number)
	if err != nil {
		return err
	}
	since := ss.now - seconds(set.SuspectWindow)
	is.Jobs = slices.DeleteFunc(is.Jobs, func(j row.RefusedJob) bool { return j.At <= since || j.Job == r.Job })
	is.Jobs = append(is.Jobs, row.RefusedJob{Job: r.Job, At: ss.now})
	if len(is.Jobs) >= set.SuspectAfter {
		return ss.SetNodeState(number, index.Drained, "suspect: "+r.Why)
	}
	return ss.file.Put(row.Meta, row.KeyRefused(number), row.EncodeRefused(is))
}

// row is what a node has refused.
func (ss suspects) row(number uint32) (*row.Refused, error) {
	key := row.KeyRefused(number)
	payload, err := ss.file.Get(row.Meta, key)
	if err != nil || payload == nil {
		return &row.Refused{}, err
	}
	return row.DecodeRefused(key, payload)
}

// clear forgets what a node has refused: it has executed something, or its state is
// another.
func (ss suspects) clear(number uint32) error {
	key := row.KeyRefused(number)
	payload, err := ss.file.Get(row.Meta, key)
	if err != nil || payload == nil {
		return err
	}
	return ss.file.Remove(row.Meta, key)
}

// blame is whose fault it is that nobody has claimed an attempt on a host. Where attempts
// are executed, or somebody was heard of lately, it is not the host's: nobody makes passes
// there for this user.
func (ss suspects) blame(host string) (Blame, error) {
	who := BlameNode
	beats, err := ss.Hosts().beats()
	if err != nil || slices.ContainsFunc(beats, func(b row.Beat) bool { return SameHost(b.Host, host) && ss.now-b.Seen < claimWithin }) {
		return BlameNobody, err
	}
	err = ss.file.Each(row.Claimed, nil, func(key, _ []byte) (bool, error) {
		claimer, job, number, err := row.SplitClaimedKey(key)
		if err != nil || number == 0 || !SameHost(claimer, host) {
			return err == nil, err
		}
		j, err := ss.job(job)
		if err != nil {
			return false, err
		}
		a, err := ss.attempts().of(j, number)
		if a != nil && a.By == row.BySupervisor {
			who = BlameNobody
		}
		return who == BlameNode, err
	})
	return who, err
}
