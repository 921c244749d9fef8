package queue

import (
	"fmt"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// A process can only start jobs of its own user. If start is auto, a cycle by any user's
// command would give nodes to jobs that no process starts. So a job with a command has its
// turn only while a process of its user executes jobs. Until then it keeps its place in the
// queue but is not considered, and loses a plan that comes due.

// Unattended says why no process would start a job, or returns "" if one would.
func Unattended(tx *kernel.Tx, j *row.Job) (why string, err error) {
	if tx.Opt.Present == nil || !j.HasCommand() || j.Attended {
		return "", nil
	}
	set, err := tx.Settings()
	if err != nil || set.Start != kernel.StartAuto || set.Launch == kernel.LaunchExec {
		return "", err
	}
	if j.UID != nil { // nearly always the payload's owner, which takes longer to read
		if is, err := present(tx, kernel.Submitter{UID: *j.UID, Name: j.User}, set); is || err != nil {
			return "", err
		}
	}
	p, err := tx.Payloads().Of(j)
	if err != nil {
		return "", err
	}
	owner := kernel.Submitter{Name: j.User}
	if p != nil && p.Owner != nil {
		owner = *p.Owner
	} else {
		uid, known, err := users.RolesOf(tx).Owner()
		if err != nil || !known {
			return "", err
		}
		owner.UID = uid
	}
	is, err := present(tx, owner, set)
	if is || err != nil {
		return "", err
	}
	who := owner.Name
	if who == "" {
		who = fmt.Sprintf("uid %d", owner.UID)
	}
	return fmt.Sprintf("unattended: there is no queue runner of %s; any command of %s starts one", who, who), nil
}

// presences holds what a transaction knows of users: whether a process of theirs executes
// jobs.
var presences kernel.Slot[map[uint32]bool]

// present reports whether a process of a user executes jobs: this one, another one on this
// host, or one on another host that has sent a heartbeat lately.
func present(tx *kernel.Tx, who kernel.Submitter, set *kernel.Settings) (is bool, err error) {
	found := presences.In(tx)
	if is, known := (*found)[who.UID]; known {
		return is, nil
	}
	opt := tx.Opt
	if is = opt.Actor != nil && opt.Actor.UID == who.UID; !is {
		id, err := tx.Identity()
		if err != nil {
			return false, err
		}
		is = opt.Present(id, who.UID)
	}
	if !is && set.LostAfter > 0 {
		beats, err := nodes.Beats(tx.File)
		if err != nil {
			return false, err
		}
		for _, b := range beats {
			is = is || b.User == who.Name && !kernel.SameHost(b.Host, opt.Host) && set.Counts(b.Seen, tx.Now)
		}
	}
	if *found == nil {
		*found = make(map[uint32]bool)
	}
	(*found)[who.UID] = is
	return is, nil
}
