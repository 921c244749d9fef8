package queue

import (
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/users"
)

// A host that executes jobs sends a heartbeat several times within lost_after. If the machine with
// the database was suspended, or its clock was set, no host could: until they have had the time for
// one, none counts as silent. No one commits meanwhile, so a writer finds a jump as a time without
// commits that is longer than heartbeats are apart.

// jumped notes that the clock has jumped since the last commit. If no host was heard of since the
// last jump, silence is what makes commits rare, and the hosts get no more time.
//
// With start=auto a cycle is made, too, when a started job should have been claimed. So a longer time
// without commits is a jump for claims, unless nothing was committed since the last one.
func jumped(tx *kernel.Tx) error {
	last := tx.State.AsOf
	if !tx.Writable() || last == 0 || tx.Now-last < leastJump {
		return nil
	}
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	if set.Start == kernel.StartAuto && last > tx.State.Woke && tx.Now-last > kernel.Seconds(set.ClaimWithin)+1 {
		tx.State.Woke = tx.Now
	}
	if set.LostAfter == 0 || tx.Now-last <= set.BeatWithin() {
		return nil
	}
	beats, err := nodes.Beats(tx.File)
	for _, b := range beats {
		if b.Seen >= tx.State.Jumped { // it may have been heard of at once
			tx.State.Jumped = tx.Now
			break
		}
	}
	return err
}

// leastJump is the shortest jump, in seconds, for which settings are read.
const leastJump = 5

// silent records which attempts are unreachable, and keeps other jobs off their hosts.
func (p *pass) silent() error {
	tx := p.tx
	hs := jobs.HostsOf(tx)
	beats, err := nodes.Beats(tx.File)
	if err != nil || len(beats) == 0 {
		return err
	}
	set, err := tx.Settings()
	if err != nil || set.LostAfter == 0 || tx.Now < tx.State.Jumped+set.BeatWithin() {
		return err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return err // hosts report to the database itself
	}
	heard := make(map[string]int64) // by host, of any user
	last := tx.Now - kernel.Seconds(set.LostAfter)
	for i := range beats {
		b := &beats[i]
		if b.Seen <= last && isOwn(tx, b.Host, b.User) { // this process is a sign of life
			if err := hs.Beat(b.Host, b.User, b.Boot); err != nil {
				return err
			}
			b.Seen = tx.Now
		}
		heard[b.Host] = max(heard[b.Host], b.Seen)
	}
	for i := range beats {
		if b := &beats[i]; b.Seen <= last {
			if err := hs.Lost(b, last, heard[b.Host] <= last); err != nil {
				return err
			}
		}
	}
	return PlaceAnew(tx)
}

// isOwn reports whether this process is one of a user on a host.
func isOwn(tx *kernel.Tx, host, user string) bool {
	by := tx.Opt.Actor
	return tx.Opt.Host != "" && by != nil && kernel.SameHost(tx.Opt.Host, host) && users.RolesOf(tx).IsActor(user)
}
