package store

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/hosts"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/state"
)

// A process can start jobs of its own user only. Where start is auto, a cycle that any user's
// command has made would give nodes to jobs that no process starts. So a job with a command has
// its turn only while a process of its user executes jobs: until then it keeps its place in the
// queue, takes no part in it, and loses a plan that comes due.

// unattended says why no process would start a job, "" if one would.
func (ws waiting) unattended(j *row.Job) (why string, err error) {
	if ws.opt.Present == nil || !j.HasCommand() || j.Attended {
		return "", nil
	}
	set, err := ws.settings()
	if err != nil || set.Start != StartAuto || set.Launch == LaunchExec {
		return "", err
	}
	if j.UID != nil { // nearly always that of the payload's owner, which takes longer to read
		if is, err := ws.present(Submitter{UID: *j.UID, Name: j.User}, set); is || err != nil {
			return "", err
		}
	}
	p, err := ws.payloads().of(j)
	if err != nil {
		return "", err
	}
	owner := Submitter{Name: j.User}
	if p != nil && p.Owner != nil {
		owner = *p.Owner
	} else {
		uid, known, err := RolesOf(ws.Tx).Owner()
		if err != nil || !known {
			return "", err
		}
		owner.UID = uid
	}
	is, err := ws.present(owner, set)
	if is || err != nil {
		return "", err
	}
	who := owner.Name
	if who == "" {
		who = fmt.Sprintf("uid %d", owner.UID)
	}
	return fmt.Sprintf("unattended: no process of %s starts jobs; any command of %s leaves one", who, who), nil
}

// counts reports whether a beat of an instant says that processes are there now.
func (s *Settings) counts(seen, now int64) bool { return now-seen <= seconds(s.LostAfter)/2 }

// presences has what a transaction has found out of users: whether a process of theirs executes jobs.
var presences state.Slot[map[uint32]bool]

// present reports whether a process of a user executes jobs: this one, another one on this host,
// or one on another host that was heard of not long ago.
func (ws waiting) present(who Submitter, set *Settings) (is bool, err error) {
	found := presences.In(&ws.loaded.kept)
	if is, known := (*found)[who.UID]; known {
		return is, nil
	}
	opt := ws.opt
	if is = opt.Actor != nil && opt.Actor.UID == who.UID; !is {
		id, err := ws.Identity()
		if err != nil {
			return false, err
		}
		is = opt.Present(id, who.UID)
	}
	if !is && set.LostAfter > 0 {
		beats, err := hosts.Beats(ws.file)
		if err != nil {
			return false, err
		}
		for _, b := range beats {
			is = is || b.User == who.Name && !SameHost(b.Host, opt.Host) && set.counts(b.Seen, ws.now)
		}
	}
	if *found == nil {
		*found = make(map[uint32]bool)
	}
	(*found)[who.UID] = is
	return is, nil
}
