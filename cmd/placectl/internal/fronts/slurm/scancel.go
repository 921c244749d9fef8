package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

const scancelOptions = "A,account= b,batch c,ctld f,full H,hurry help i,interactive M,clusters= me n,jobname= name= " +
	"p,partition= Q,quiet q,qos= R,reservation= s,signal= " +
	"t,state= u,user= usage v,verbose V,version w,nodelist= sibling= wckey= cron"

// scancel cancels jobs: the named ones, or all that the options select.
func scancel(c *fronts.Call) error {
	set, rest, err := options(c, scancelOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	for _, no := range []string{"clusters", "interactive", "sibling"} {
		if set.Has(no) {
			return fronts.Failf(1, "scancel: error: --%s is not available here; use placectl cancel", no)
		}
	}
	signal := 0
	if set.Has("signal") {
		if signal = directives.SignalNumber(set["signal"]); signal == 0 {
			return fronts.Failf(1, "scancel: error: Unknown job signal: %s", set["signal"])
		}
	}
	refs, err := parseRefs(strings.Join(rest, ","))
	if err != nil {
		return fronts.Failf(1, "scancel: error: %v", err)
	}
	for _, r := range refs {
		if strings.Contains(r.text, ".") {
			job, _, _ := strings.Cut(r.text, ".")
			return fronts.Failf(1, "scancel: error: %s: no step is cancelled alone here; end its srun, or cancel %s",
				fronts.Word(r.text), fronts.Word(job))
		}
	}
	if set.Has("name") {
		set["jobname"] = set["name"]
	}
	if len(refs) == 0 && !set.Has("user", "me", "jobname", "partition", "state", "account", "nodelist", "qos",
		"reservation", "wckey") {
		return fronts.Failf(1, "scancel: error: No job identification provided")
	}
	if set.Has("jobname") {
		set["name"] = set["jobname"]
	}
	if set.Has("state") {
		set["states"] = set["state"]
	}
	delete(set, "jobs")
	want, err := wantedOf(c, set)
	if err != nil {
		return fronts.Failf(1, "scancel: error: %v", err)
	}
	if set.Has("wckey") {
		return nil // no job has one
	}
	want.refs, want.asked = refs, len(refs) > 0
	if !want.asked && want.users == nil && !c.Master {
		want.users = []string{c.User}
	}
	return cancelAll(c, &want, signal)
}

// cancelAll cancels the wanted jobs that have not ended. Jobs of others stay, with a message, and the
// rest are cancelled. A signal other than KILL is sent to running jobs and cancels none.
func cancelAll(c *fronts.Call, want *wanted, signal int) error {
	sends := signal != 0 && signal != directives.SignalNumber("KILL")
	var denied []string
	err := c.Update(func(ch fronts.Change) error {
		denied = nil
		about, err := ch.About()
		if err != nil {
			return err
		}
		switch unknown, err := want.strangers(c, ch); {
		case err != nil:
			return err
		case len(unknown) > 0:
			return fronts.Failf(1, "scancel: error: Invalid user name: %s", fronts.Word(unknown[0]))
		}
		var ids []uint64
		sel := fronts.Selection{IDs: numbers(want.refs)}
		if !want.asked {
			sel.IDs = nil
		}
		err = ch.Jobs(sel, func(j *fronts.Job) error {
			switch {
			case want.asked && !named(want.refs, j), j.State.Over(), !want.shows(j, about):
			case !c.May(j):
				denied = append(denied,
					fmt.Sprintf("scancel: error: Kill job error on job id %s: Access/permission denied\n", jobID(j)))
			case sends && j.State != fronts.Running:
				if want.asked {
					denied = append(denied,
						fmt.Sprintf("scancel: error: Kill job error on job id %s: Job is pending execution\n",
							jobID(j)))
				}
			default:
				ids = append(ids, j.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if sends {
				err = ch.Signal(id, signal)
			} else {
				err = ch.Do(fronts.Cancel, id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(denied) > 0 {
		return &fronts.Status{Code: 210, Text: strings.Join(denied, "")}
	}
	return err
}

// find finds the jobs of a word. If there are none it fails as scontrol does.
func find(v fronts.View, word string, details bool) (list []*fronts.Job, err error) {
	refs, err := parseRefs(word)
	if err != nil || len(refs) == 0 {
		return nil, errNoJob
	}
	err = v.Jobs(fronts.Selection{IDs: numbers(refs), Ended: true, Details: details, Why: true, Starts: details},
		func(j *fronts.Job) error {
			if named(refs, j) {
				list = append(list, j)
			}
			return nil
		})
	if err == nil && len(list) == 0 {
		err = errNoJob
	}
	slices.SortFunc(list, func(a, b *fronts.Job) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

var errNoJob = saying("Invalid job id specified")

func uid(n int) string {
	if n < 0 {
		return "4294967294"
	}
	return strconv.Itoa(n)
}

// group returns the name and number of a uid's primary group. A group without a name is shown by its
// number. An unknown one is 4294967294, as with uids.
func group(people fronts.People, of int) (name, number string) {
	if of >= 0 {
		if group, gid, ok := people.PrimaryGroup(uint32(of)); ok {
			number = strconv.FormatUint(uint64(gid), 10)
			return cmp.Or(fronts.Word(group), number), number
		}
	}
	return uid(-1), uid(-1)
}
