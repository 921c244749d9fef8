package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Jobs are handed to the site's launcher after the commit, with the database
// closed. Whoever is told of a job is told once: a cycle that is killed between its
// commit and a launch has started a job that nobody launched, and that is better
// than one that is launched twice. Such a job is found by its events (it has no
// event launch), and put back with placectl requeue.

// launcher is the program that launches jobs.
type launcher struct {
	program []string
	timeout time.Duration
}

// maxLaunches is how many launches are under way at once.
const maxLaunches = 8

// maxFailures is after how many failed launches in a row a job is held.
const maxFailures = 3

// launcher reads --exec, nil without it.
func (r *runner) launcher(c *cli.Context) (*launcher, error) {
	l := &launcher{timeout: time.Minute}
	if c.IsSet("exec-timeout") {
		var err error
		if l.timeout, err = r.duration(c, "exec-timeout"); err != nil {
			return nil, err
		}
		if l.timeout <= 0 || !c.IsSet("exec") {
			return nil, usagef(verbName(c), "--exec-timeout goes with --exec, and is longer than 0")
		}
	}
	if !c.IsSet("exec") {
		return nil, nil
	}
	words, err := spell.SplitWords(c.String("exec"))
	if err == nil && len(words) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, usagef(verbName(c), "--exec: %s is no command: %w", spell.Quoted(c.String("exec")), err)
	}
	path, err := lookProgram(words[0])
	if err != nil {
		return nil, usagef(verbName(c), "--exec: %w", err)
	}
	l.program = append([]string{path}, words[1:]...)
	return l, nil
}

// launchAll runs the launcher for each job and notes how that went: stops first,
// since others start on their nodes.
func (r *runner) launchAll(l *launcher, told []notice) error {
	errs := make([]error, len(told))
	for _, event := range []string{"stop", "start"} {
		var group sync.WaitGroup
		slots := make(chan struct{}, maxLaunches)
		for i, n := range told {
			if n.event != event {
				continue
			}
			slots <- struct{}{}
			group.Go(func() {
				errs[i] = r.launch(l, n)
				<-slots
			})
		}
		group.Wait()
	}
	return r.noteLaunches(told, errs)
}

// launch runs the launcher for one job.
func (r *runner) launch(l *launcher, n notice) error {
	file, err := hostFile(n.chunks)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	ctx, cancel := context.WithTimeout(r.ctx, l.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program[0], append(l.program[1:len(l.program):len(l.program)], n.job.Command...)...)
	var complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &complaint, &complaint
	cmd.WaitDelay = time.Second // its children may hold the pipe open
	cmd.Env = append(os.Environ(), r.jobEnv(n, file)...)
	err = cmd.Run()
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it has ended well, and left somebody working
	case err != nil && ctx.Err() != nil && r.ctx.Err() == nil:
		return fmt.Errorf("it took longer than %s", l.timeout)
	case err != nil:
		return fmt.Errorf("%w%s", err, lastLine(complaint.String()))
	}
	r.debugf("job %d: launched%s", n.job.ID, lastLine(complaint.String()))
	return nil
}

// jobEnv is what a launcher, or the command of run, finds in its environment.
func (r *runner) jobEnv(n notice, file string) []string {
	j := n.job
	db, err := filepath.Abs(r.DB)
	if err != nil {
		db = r.DB
	}
	env := []string{"PLACECTL_DB=" + db, "PLACECTL_EVENT=" + n.event, "PLACECTL_JOB=" + jobID(j), "PLACECTL_NAME=" + j.Name,
		"PLACECTL_USER=" + j.User, "PLACECTL_QUEUE=" + j.Queue, "PLACECTL_CLASS=" + j.Class,
		"PLACECTL_NODELIST=" + index.FoldNodeList(n.nodes), "PLACECTL_NODEFILE=" + file,
		"PLACECTL_WALLTIME=" + strconv.FormatInt(j.Walltime, 10)}
	if j.Array != 0 {
		env = append(env, "PLACECTL_ARRAY="+strconv.FormatUint(j.Array, 10), "PLACECTL_INDEX="+strconv.Itoa(j.Index))
	}
	return env
}

// hostFile writes the nodes of the chunks, one a line, into a file.
func hostFile(chunks []string) (string, error) {
	f, err := os.CreateTemp("", "placectl-nodes-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(strings.Join(chunks, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// noteLaunches writes down which launches have succeeded, and puts those jobs back
// whose launch has failed.
func (r *runner) noteLaunches(told []notice, errs []error) error {
	if len(told) == 0 {
		return nil
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	var failed []error
	err = r.write(db, true, func(tx *store.Tx) error {
		failed = nil
		for i, n := range told {
			if errs[i] != nil {
				failed = append(failed, fmt.Errorf("job %d: the %s failed: %w", n.job.ID, launchWord(n), errs[i]))
			}
			if n.event != "start" {
				continue
			}
			if err := tx.LaunchEnded(n.job.ID, errs[i], maxFailures); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, errors.Join(failed...))
}

func launchWord(n notice) string {
	if n.event == "stop" {
		return "stop"
	}
	return "launch"
}
