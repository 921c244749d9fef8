package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// soak holds the arguments of a run of soak, and its results so far.
type soak struct {
	length, turn time.Duration
	processes    int
	tests        []test
	logs         string            // a folder
	binaries     map[string]string // by the folder of the package

	mutex   sync.Mutex // for the fields below
	begun   int        // runs
	results map[test]*result
}

// result is the result of a test.
type result struct {
	runs, made int
	checks     int // checks of the next run
	failures   []failure
}

// failure is a run that failed.
type failure struct {
	seed   string
	repeat string // the command that repeats it
	log    string // the file with the run's whole output
}

const (
	firstChecks = 100       // as in go test
	mostChecks  = 1_000_000 // of one run
	runTimeout  = 15 * time.Minute
)

// build makes the test binary of each package.
func (s *soak) build(folder string) error {
	s.binaries, s.results = make(map[string]string), make(map[test]*result)
	for _, t := range s.tests {
		s.results[t] = &result{checks: firstChecks}
		if s.binaries[t.dir] != "" {
			continue
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.test", len(s.binaries)))
		cmd := exec.Command("go", "test", "-c", "-o", path, ".")
		cmd.Dir = t.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s, in %s: %w\n%s", cmd, t.dir, err, out)
		}
		s.binaries[t.dir] = path
	}
	return nil
}

// run gives the tests their turns, one after the other, until the time is over.
func (s *soak) run(ctx context.Context) error {
	end := time.Now().Add(s.length)
	errs := make([]error, s.processes)
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for errs[i] == nil && ctx.Err() == nil && time.Now().Before(end) {
				errs[i] = s.one(ctx)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// one makes one run of the test whose turn it is, with a fresh seed.
func (s *soak) one(ctx context.Context) error {
	s.mutex.Lock()
	t := s.tests[s.begun%len(s.tests)]
	r := s.results[t]
	s.begun++
	seed, checks := strconv.FormatUint(1+rand.Uint64()>>1, 10), strconv.Itoa(r.checks)
	s.mutex.Unlock()

	cmd := exec.CommandContext(ctx, s.binaries[t.dir], "-test.v", "-test.run=^"+t.name+"$",
		"-test.timeout="+runTimeout.String())
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "RAPID_NOFAILFILE=true", "RAPID_SEED="+seed, "RAPID_CHECKS="+checks)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal that stops this command must not fail the tests
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)

	s.mutex.Lock()
	defer s.mutex.Unlock()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &exit):
		r.count(out)
		return s.fail(t, seed, checks, out)
	case err != nil:
		return err
	case bytes.Contains(out, []byte("no tests to run")):
		return fmt.Errorf("%s has no test %s", t.dir, t.name)
	}
	r.count(out)
	grow := min(10, float64(s.turn)/float64(max(took, time.Millisecond)))
	r.checks = max(1, min(mostChecks, int(float64(r.checks)*grow)))
	return nil
}

var (
	passed = regexp.MustCompile(`\[rapid\] OK, passed (\d+) tests`)
	again  = regexp.MustCompile(`To reproduce, specify -run=.* -rapid\.seed=(\d+)`)
)

// count counts a run's checks. A run without rapid is one check.
func (r *result) count(out []byte) {
	r.runs++
	all := passed.FindAllSubmatch(out, -1)
	for _, m := range all {
		n, _ := strconv.Atoi(string(m[1]))
		r.made += n
	}
	if all == nil && !bytes.Contains(out, []byte("[rapid]")) {
		r.made++
	}
}

// fail records and reports a failed run.
func (s *soak) fail(t test, seed, checks string, out []byte) error {
	if m := again.FindSubmatch(out); m != nil {
		seed, checks = string(m[1]), "1" // exactly that check
	}
	f := failure{seed: seed, log: filepath.Join(s.logs, t.name+"-"+seed+".log")}
	f.repeat = fmt.Sprintf("RAPID_SEED=%s RAPID_CHECKS=%s RAPID_NOFAILFILE=true go test -count=1 -run '^%s$' .", seed,
		checks, t.name)
	if t.dir != "." {
		f.repeat = fmt.Sprintf("(cd %s && %s)", t.dir, f.repeat)
	}
	r := s.results[t]
	r.failures = append(r.failures, f)
	fmt.Printf("\n%s %s failed\n%s%s\nall of it: %s\n", t.dir, t.name, gist(out), f.repeat, f.log)
	return os.WriteFile(f.log, out, 0o600)
}

// gist returns a run's output without the drawn values, cut to fit a screen.
func gist(out []byte) string {
	const most = 20
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "[rapid] draw ") || strings.HasPrefix(line, "=== ") {
			continue
		}
		if n++; n > most {
			return b.String() + "    ...\n"
		}
		b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}
