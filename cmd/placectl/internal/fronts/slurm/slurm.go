// Package slurm answers like the commands of Slurm 22.05: sbatch, srun, salloc, squeue, sacct, scancel,
// scontrol, sinfo. It knows no store, opens no file and reads no clock: see package fronts.
package slurm

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// version is the version that we claim to be.
const version = "slurm 22.05.8"

// System returns the system with its commands.
func System() *fronts.System {
	return &fronts.System{Name: "Slurm", Commands: commands(), Version: version, Asks: []string{"-V", "--version"},
		Helps: []string{"--help", "--usage"}, Failure: "%s: error: %v\n", Code: 1,
		Denied: &fronts.Status{Code: 1, Text: "%s: error: Access/permission denied (%v)\n"},
		Elsewhere: map[string]string{"sstat": "placectl show JOB, placectl top",
			"sreport": "placectl usage, placectl report --html FILE", "sdiag": "placectl status",
			"sprio": "placectl priority, placectl explain JOB", "scrontab": "cron, with placectl submit in it"}}
}

func commands() map[string]func(*fronts.Call) error {
	return map[string]func(*fronts.Call) error{
		"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel, "scontrol": scontrol, "sinfo": sinfo,
		"sacctmgr": sacctmgr, "sshare": sshare, "srun": srun, "salloc": salloc,
	}
}

// options reads the options of a command as getopt_long does. If they ask for help it prints that, and
// the error is a Status of 0.
func options(c *fronts.Call, list string, order fronts.Order) (fronts.Set, []string, error) {
	declared := fronts.Declare(list)
	given, rest, err := declared.Read(c.Args, order)
	if err != nil {
		return nil, nil, usage(c, 1, err)
	}
	set := fronts.SetOf(given)
	return set, rest, helped(c, declared, set)
}

// helped prints the options of a command if they ask for help.
func helped(c *fronts.Call, list fronts.Options, set fronts.Set) error {
	if !set.Has("help", "usage") {
		return nil
	}
	fmt.Fprint(c.Stdout, list.Help(c.Name+" [OPTIONS]"))
	return &fronts.Status{}
}

// usage returns a command's error for unknown options.
func usage(c *fronts.Call, code int, err error) error {
	return fronts.Failf(code, "%s: %v\nTry \"%s --help\" for more information", c.Name, err, c.Name)
}

// saying returns an error in Slurm's words, which begin with a capital.
func saying(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

type sentence string

func (s sentence) Error() string { return string(s) }
