package slurm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// update changes a job or a node by words KEY=VALUE.
func update(c *fronts.Call, words []string) error {
	keys, named := make(map[string]string), make(map[string]string) // values, and the keys as typed
	for i := 0; i < len(words); i++ {
		typed, value, ok := strings.Cut(words[i], "=")
		key := strings.ToLower(typed)
		if !ok { // job 12
			if (key != "job" && key != "jobid" && key != "node" && key != "nodename") || i+1 == len(words) {
				return fronts.Failf(1, "Update of this parameter is not supported: %s", words[i])
			}
			i++
			value = words[i]
		}
		switch key {
		case "jobid":
			key = "job"
		case "nodename":
			key = "node"
		case "name":
			key = "jobname"
		}
		keys[key], named[key] = value, typed
	}
	switch {
	case keys["node"] != "":
		return updateNodes(c, keys, named)
	case keys["job"] != "":
		return updateJob(c, keys, named)
	}
	return fronts.Failf(1, "No valid entity in update command\nInput line must include \"NodeName\", \"JobId\"")
}

// updates maps keys of a job to the equivalent options of sbatch.
var updates = sync.OnceValue(func() map[string]string {
	return map[string]string{"timelimit": "time", "priority": "priority", "jobname": "job-name",
		"partition": "partition", "starttime": "begin", "nice": "nice", "account": "account",
		"dependency": "dependency", "deadline": "deadline", "comment": "comment", "qos": "qos"}
})

func updateJob(c *fronts.Call, keys, named map[string]string) error {
	word, throttle := keys["job"], int64(-1)
	var given []fronts.Given
	for key, value := range keys {
		switch key {
		case "job":
			continue
		case "arraytaskthrottle":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return fronts.Failf(1,
					"Invalid ArrayTaskThrottle value: %s; it must be a number of jobs, or 0 for no limit", value)
			}
			throttle = n
			continue
		}
		option, ok := updates()[key]
		if !ok {
			return fronts.Failf(1, "Update of this parameter is not supported: %s=%s", named[key], value)
		}
		given = append(given, fronts.Given{Name: option, Value: value})
	}
	var complaint string
	err := c.Update(func(ch fronts.Change) error {
		complaint = ""
		jobs, err := find(ch, word, false)
		if errors.Is(err, errNoJob) {
			complaint = fmt.Sprintf(
				"Invalid job id specified for job %s\nslurm_update error: Invalid job id specified\n", word)
			return nil
		}
		if err != nil {
			return err
		}
		for _, j := range jobs {
			switch why := unfit(c, fronts.Cancel, j); {
			case why != "" && len(jobs) == 1:
				complaint = fmt.Sprintf("%s for job %s\nslurm_update error: %s\n", why, word, why)
			case why == "":
				given, err := relative(given, j)
				if err == nil && len(given) > 0 {
					err = ch.Alter(j.ID, directives.Slurm, given)
				}
				if err != nil {
					return err
				}
			}
		}
		if throttle < 0 || complaint != "" {
			return nil
		}
		if len(jobs) == 0 || jobs[0].Array == 0 {
			return &directives.OptionError{Option: "ArrayTaskThrottle", Err: fmt.Errorf("job %s is not in an array",
				word)}
		}
		return ch.Throttle(jobs[0].Array, throttle)
	})
	var o *directives.OptionError
	switch {
	case errors.As(err, &o):
		return fronts.Failf(1, "slurm_update error: %s: %v", o.Option, o.Err)
	case err == nil && complaint != "":
		return &fronts.Status{Code: 1, Text: complaint}
	}
	return err
}

// relative applies +10 and -10 to the job's time limit.
func relative(given []fronts.Given, j *fronts.Job) ([]fronts.Given, error) {
	given = slices.Clone(given)
	for i, g := range given {
		if g.Name != "time" || !strings.HasPrefix(g.Value, "+") && !strings.HasPrefix(g.Value, "-") {
			continue
		}
		by, err := directives.SlurmLimit(g.Value[1:])
		if err == nil {
			if g.Value[0] == '-' {
				by = -by
			}
			if by += int64(j.Walltime.Seconds()); by <= 0 {
				err = fmt.Errorf("%s of %s leaves no time", g.Value, clock(j.Walltime))
			}
		}
		if err != nil {
			return nil, &directives.OptionError{Option: "TimeLimit", Err: err}
		}
		given[i].Value = directives.SlurmClock(by)
	}
	return given, nil
}

func updateNodes(c *fronts.Call, keys, named map[string]string) error {
	names, err := expand(keys["node"])
	if err != nil {
		return fronts.Failf(1, "slurm_update error: Invalid node name specified")
	}
	states := map[string]string{"DRAIN": "drained", "RESUME": "up", "UNDRAIN": "up", "IDLE": "up", "DOWN": "down"}
	state := states[strings.ToUpper(keys["state"])]
	for key := range keys {
		if key != "node" && key != "state" && key != "reason" {
			return fronts.Failf(1, "Update of this parameter is not supported: %s=%s", named[key], keys[key])
		}
	}
	switch {
	case keys["state"] != "" && state == "":
		return fronts.Failf(1, "Invalid input: State=%s\nRequest aborted\nValid states are: DOWN DRAIN RESUME UNDRAIN",
			keys["state"])
	case state == "":
		return fronts.Failf(1, "slurm_update error: it is the state that a reason belongs to: State=DRAIN Reason=...")
	case (state == "drained" || state == "down") && keys["reason"] == "":
		return fronts.Failf(1, "You must specify a reason when %sING a node.\nRequest denied",
			strings.ToUpper(keys["state"]))
	case !c.Master:
		return fronts.Failf(1, "slurm_update error: Invalid user id")
	}
	missing := false
	err = c.Update(func(ch fronts.Change) error {
		missing = false
		for _, name := range names {
			err := ch.SetNode(name, state, keys["reason"])
			if missing = err != nil && ch.Missing(err, "node"); missing {
				return err
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if missing {
		return fronts.Failf(1, "slurm_update error: Invalid node name specified")
	}
	return err
}
