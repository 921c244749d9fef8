package keeper

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
)

// variables is an environment that grows. Variables set later replace earlier ones.
type variables struct {
	list  []string
	given map[string]bool // variables of the job itself
}

func (v *variables) set(name, value string) {
	v.list = slices.DeleteFunc(v.list, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	v.list = append(v.list, name+"="+value)
}

// when sets a variable unless its value is empty.
func (v *variables) when(name, value string) {
	if value != "" {
		v.set(name, value)
	}
}

// unlessGiven sets a variable unless the job brings its own.
func (v *variables) unlessGiven(name, value string) {
	if !v.given[name] {
		v.set(name, value)
	}
}

// ask returns the value of a variable, "" if it is not set.
func (v *variables) ask(name string) string {
	for _, kv := range v.list {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// environment returns the command's environment: what the job carries, what describes its user if it does
// not carry that, what describes the job, and on request what PBS or Slurm would set. dir is the attempt's
// directory.
func (o *Order) environment(site *Site, dir string, n engine.Nonce) []string {
	v := &variables{slices.Concat(o.Payload.Env, environ.Missing(o.Payload.Env, site.Account)), make(map[string]bool)}
	for _, kv := range o.Payload.Env {
		name, _, _ := strings.Cut(kv, "=")
		v.given[name] = true
	}
	v.set("PLACECTL_DB", site.Database)
	v.set("PLACECTL_JOB", strconv.FormatUint(o.Job, 10))
	v.set("PLACECTL_ATTEMPT", strconv.Itoa(o.Number))
	v.set(tokenName, n.String())
	v.set(ElsewhereName, dir+"/"+elsewhereDir)
	v.set("PLACECTL_NAME", o.Name)
	v.set("PLACECTL_USER", o.User)
	v.set("PLACECTL_QUEUE", o.Queue)
	v.set("PLACECTL_CLASS", o.Class)
	v.set("PLACECTL_ACCOUNT", o.Account)
	v.set("PLACECTL_NODELIST", index.FoldNodeList(o.Nodes))
	v.set("PLACECTL_NODEFILE", dir+"/"+nodesFile)
	v.set("PLACECTL_WALLTIME", seconds(o.Walltime))
	v.set("PLACECTL_END", unixTime(o.End))
	v.set("PLACECTL_SUBMIT_DIR", o.Payload.Dir)
	v.set("PLACECTL_SUBMIT_HOST", o.submitHost())
	if o.Array != nil {
		v.set("PLACECTL_ARRAY", strconv.FormatUint(o.Array.Number, 10))
		v.set("PLACECTL_INDEX", strconv.Itoa(o.Array.Index))
	}
	v.when("PLACECTL_LINE", o.Line)
	if len(o.DeviceFile) > 0 {
		v.set("PLACECTL_DEVICEFILE", dir+"/"+devicesFile)
	}
	for _, kv := range o.DeviceEnv {
		name, value, _ := strings.Cut(kv, "=")
		v.set(name, value)
	}
	v.set("TMPDIR", dir+"/"+tmpDir)
	v.set("PWD", o.Payload.Dir)
	switch o.Payload.Compat {
	case "pbs":
		o.pbs(v, dir)
	case "slurm":
		o.slurm(v)
	}
	return v.list
}

// carried sets the variables of a family, PBS_ or SLURM_, whose values come from the lines of the script
// or from the command that submitted it.
func (o *Order) carried(v *variables, family string) {
	for _, kv := range o.Payload.Variables {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, family) {
			v.set(name, value)
		}
	}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func unixTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// compatible sets what must accompany the variables of PBS and Slurm: MPI libraries that see those
// would call a server that does not exist.
func (o *Order) compatible(v *variables) {
	for _, kv := range []string{"OMPI_MCA_plm=rsh", "PRTE_MCA_plm=ssh", "I_MPI_HYDRA_BOOTSTRAP=ssh",
		"HYDRA_BOOTSTRAP=ssh"} {
		name, value, _ := strings.Cut(kv, "=")
		v.unlessGiven(name, value)
	}
}

// count formats a requested number, "" if none was requested.
func count(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
