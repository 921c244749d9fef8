// Package pbs answers like the commands of OpenPBS 23: qsub, qstat, qdel and so on. It knows no store,
// opens no file and reads no clock: see package fronts.
package pbs

import (
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// version is the version that we claim to be. Toil looks for PBSPro in it.
const version = "pbs_version = PBSPro_23.06.06"

// Exit statuses: the low bytes of PBS's errors.
const (
	badState   = 168
	badValue   = 166
	noJob      = 153
	notAllowed = 159
	finished   = 35
	noQueue    = 170
	noResource = 187
	overLimit  = 188
	ourOwn     = 162
)

// System returns the system with its commands.
func System() *fronts.System {
	return &fronts.System{Name: "PBS", Commands: commands(), Version: version, Asks: []string{"--version"},
		Failure: "%s: %v\n", Code: ourOwn, Denied: &fronts.Status{Code: notAllowed,
			Text: "%s: Unauthorized Request  (%v)\n"},
		Elsewhere: map[string]string{"qorder": "qalter -p N JOB, placectl priority set",
			"qmove":     "qalter -q QUEUE JOB",
			"qmgr":      "placectl config, queue, node and limit",
			"pbs_rstat": "placectl reservation list",
			"qmsg":      "a job reads no messages: placectl logs shows what it wrote",
			"qterm":     "there is no server that could be ended",
			"tracejob":  "placectl show JOB, placectl events --job JOB"}}
}

func commands() map[string]func(*fronts.Call) error {
	return map[string]func(*fronts.Call) error{"qsub": qsub, "qstat": qstat, "qselect": qselect, "pbsnodes": pbsnodes,
		"qdel": deeds("qdel", "W= x", fronts.Cancel), "qhold": deeds("qhold", "h=", fronts.Hold),
		"qrls":   deeds("qrls", "h=", fronts.Unhold),
		"qrerun": deeds("qrerun", "W=", fronts.Requeue), "qsig": deeds("qsig", "s=", fronts.Cancel), "qalter": qalter}
}

// options reads options as getopt does: in PBS they end at the first argument.
func options(c *fronts.Call, list string) ([]fronts.Given, []string, error) {
	given, rest, err := fronts.Declare(list).Read(c.Args, fronts.InFront)
	if err != nil {
		err = fronts.Failf(2, "%s: %v\nusage: placectl help pbs", c.Name, err)
	}
	return given, rest, err
}
