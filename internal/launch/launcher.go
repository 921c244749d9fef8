package launch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Notice tells a launcher to launch or to stop a job. A database keeps it with the answer of a cycle,
// so its JSON is on disk.
type Notice struct {
	Event   string   `json:"event"` // Start or Stop
	Job     uint64   `json:"job"`
	Start   int64    `json:"start"` // of the job, in Unix seconds: identifies the attempt
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env"`    // the job's variables
	Chunks  []string `json:"chunks"` // the node of each chunk, in select order

	NodeFiles []string `json:"-"` // variables, beside PLACECTL_NODEFILE, that name the file with the nodes
	Run       string   `json:"-"` // a script for sh that runs the job; empty for none
}

// The events of notices.
const (
	Start = "start"
	Stop  = "stop"
)

// Done is the result of telling a launcher.
type Done struct {
	Said string // the last line of its output, for messages
	Err  error
}

// maxLaunches is the number of concurrent launches.
const maxLaunches = 8

// All runs a site's launcher once for each notice, several at a time. It stops jobs first, because
// others start on their nodes. The launcher's environment names the database.
func (p *Program) All(ctx context.Context, database string, told []Notice) []Done {
	done := make([]Done, len(told))
	for _, event := range []string{Stop, Start} {
		var launches group
		slots := make(chan struct{}, maxLaunches)
		for i := range told {
			if told[i].Event != event {
				continue
			}
			slots <- struct{}{}
			launches.Go(func() {
				done[i] = p.tell(ctx, database, &told[i])
				<-slots
			})
		}
		launches.Wait()
	}
	return done
}

// tell runs the launcher for one job. The job's command follows the launcher's own arguments.
func (p *Program) tell(ctx context.Context, database string, n *Notice) (d Done) {
	env, remove, err := n.environ(environment(), database)
	if err != nil {
		return Done{Err: err}
	}
	defer remove()
	if env, err = callsUs(env); err != nil {
		return Done{Err: err}
	}
	if n.Run != "" {
		file, err := tempFile("placectl-run-*", n.Run)
		if err != nil {
			return Done{Err: err}
		}
		defer os.Remove(file)
		env = append(env, "PLACECTL_RUN="+file)
	}
	d.Said, d.Err = p.run(ctx, n.Command, env, nil, nil)
	var late *timeoutError
	switch {
	case errors.Is(d.Err, exec.ErrWaitDelay):
		d.Err = nil
	case errors.As(d.Err, &late):
		d.Err = errors.New("it " + late.Error())
	}
	return d
}

// environ adds the variables of a job to an environment. remove removes the file with its nodes.
func (n *Notice) environ(base []string, database string) (env []string, remove func(), err error) {
	file, err := tempFile("placectl-nodes-*", strings.Join(n.Chunks, "\n")+"\n")
	if err != nil {
		return nil, nil, err
	}
	env = append(base, "PLACECTL_DB="+database, "PLACECTL_EVENT="+n.Event, "PLACECTL_NODEFILE="+file)
	for _, name := range n.NodeFiles {
		env = append(env, name+"="+file)
	}
	return append(env, n.Env...), func() { os.Remove(file) }, nil
}

// callsUs has an environment lead to this program, as PLACECTL_PROGRAM and at the front of PATH: cron's PATH
// does not.
func callsUs(env []string) ([]string, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	search := "PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH")
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	return append(env, strings.TrimSuffix(search, ":"), "PLACECTL_PROGRAM="+path), nil
}

// tempFile writes a file for the time of a launch.
func tempFile(pattern, text string) (string, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
