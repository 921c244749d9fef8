package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

// Verbs that leave an attendant behind: all that may let a job start or be stopped. A new verb that writes
// must be in this list, or have a reason in its field Stays.
const leavingVerbs = `
account rm
account set
adopt
alter
archive
batch create
batch done
batch expire
batch fail
batch next
batch recompute
batch rm
batch work
cancel
class default
class map
class rebalance
class rm
class set
clock reset
compact
config set
cycle
demo
done
extend
hold
keep
init
job throttle
limit rm
limit set
load
node add
node detect
node down
node drain
node import
node join
node load
node offline
node resume
node rm
node set
node split
pbs
place
pool add
pool rm
pool set
preempt rm
preempt set
priority rm
priority set
queue add
queue rm
queue set
release
requeue
reserve
resource add
resource rm
restore
role add
role rm
run
salvage
retry
signal
slurm
node reset-usage
submit
tx
unhold
unreserve
view rm
view set
`

// Verbs that only read, and leave an attendant behind if a job of their user waits.
const revivingVerbs = `
explain
job list
logs
show
status
top
wait
when
`

// Verbs that write and leave no attendant behind. Each says why in its field Stays.
const stayingVerbs = `
attend
work
`

// TestLeaving: every verb is in the list that its declaration implies.
func TestLeaving(t *testing.T) {
	t.Parallel()
	var leaving, reviving, staying []string
	var walk func(v *session.Verb, name string)
	walk = func(v *session.Verb, name string) {
		for _, sub := range v.Verbs {
			walk(sub, name+" "+sub.Name)
		}
		switch writes := v.Access == verbs.Writes || v.Access == verbs.Makes; {
		case !v.Runs():
		case writes && v.Stays != "":
			staying = append(staying, name)
		case writes:
			leaving = append(leaving, name)
		case v.Revives:
			reviving = append(reviving, name)
		}
	}
	for _, e := range command.Verbs() {
		walk(e.Verb(), e.Name)
	}
	for what, lists := range map[string][2][]string{
		"leaves a process behind": {leaving, strings.Split(strings.TrimSpace(leavingVerbs), "\n")},
		"replaces one":            {reviving, strings.Split(strings.TrimSpace(revivingVerbs), "\n")},
		"leaves none":             {staying, strings.Split(strings.TrimSpace(stayingVerbs), "\n")},
	} {
		for _, name := range lists[0] {
			if !slices.Contains(lists[1], name) {
				t.Errorf("%s %s, but is not in the list of those verbs", name, what)
			}
		}
		for _, name := range lists[1] {
			if !slices.Contains(lists[0], name) {
				t.Errorf("%s is in a list, but no verb of that name %s", name, what)
			}
		}
	}
}
