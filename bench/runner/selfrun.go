package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// alone makes a site whose queue runs by itself, on one cpu.
func alone(dir string) (*site, error) {
	s, err := newSite(dir)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"node", "set", host, "ncpus=1"}, {"config", "set", "start=auto"}} {
		if _, err := s.do(args...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// attendant returns the pid of the attendant, 0 for none.
func (s *site) attendant() int {
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range list {
		text, err := os.ReadFile(proc + "/cmdline")
		words := strings.Split(string(text), "\x00")
		if err == nil && slices.Contains(words, "attend") && slices.Contains(words, s.dir+"/placectl.db") {
			pid, _ := strconv.Atoi(filepath.Base(proc))
			return pid
		}
	}
	return 0
}

// leave ends the attendant.
func (s *site) leave() {
	for pid := s.attendant(); pid != 0; pid = s.attendant() {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		time.Sleep(5 * time.Millisecond)
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// output measures from the submission of a job to its first output, with and without an attendant.
func output(s *site, n counts) (figures []figure, err error) {
	for _, warm := range []bool{true, false} {
		var took []float64
		for range n.starts {
			if !warm {
				s.leave()
			}
			at := time.Now()
			job, err := s.do("submit", "1:ncpus=1", "-t", "1m", "-o", "id", "--out", "began", "--", "date", "+%s%N")
			if err != nil {
				return nil, err
			}
			if _, err := s.do("wait", job); err != nil {
				return nil, err
			}
			text, err := os.ReadFile(s.dir + "/began")
			if err != nil {
				return nil, err
			}
			began, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err != nil {
				return nil, err
			}
			took = append(took, float64(began-at.UnixNano())/1e6)
		}
		f := figure{"submit to first output, with an attendant, median", median(took), 40, "ms"}
		if !warm {
			f.name, f.most = "submit to first output, without one, median", 60
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// gaps measures from the end of a job to the start of the next on the one cpu, with few and with many
// waiting jobs.
func gaps(s *site, n counts) (figures []figure, err error) {
	for _, waiting := range []int{n.starts, n.waiting} {
		log := filepath.Join(s.dir, "gaps")
		os.Remove(log) //nolint:errcheck // it may not be there
		first, err := s.do("submit", "1:ncpus=1", "-t", "1m", "--array", strconv.Itoa(n.starts+waiting), "-o", "id",
			"--out", "/dev/null", "--", "sh", "-c", "date +%s%N >>gaps")
		if err != nil {
			return nil, err
		}
		first, _, _ = strings.Cut(first, "\n")
		array := strings.TrimSuffix(first, "[]") + "[]"
		var at []int64
		for end := time.Now().Add(5 * time.Minute); len(at) <= n.starts && time.Now().Before(end); time.Sleep(
			50 * time.Millisecond) {
			text, _ := os.ReadFile(log)
			at = at[:0]
			for word := range strings.FieldsSeq(string(text)) {
				ns, _ := strconv.ParseInt(word, 10, 64)
				at = append(at, ns)
			}
		}
		if _, err := s.do("cancel", array); err != nil {
			return nil, err
		}
		s.command("wait", array).Run() //nolint:errcheck // they were cancelled
		var took []float64
		for i := 1; i < len(at); i++ {
			took = append(took, float64(at[i]-at[i-1])/1e6)
		}
		if len(took) == 0 {
			return nil, fmt.Errorf("no job has started")
		}
		most := 40.0
		if waiting > 100 {
			most = 350
		}
		figures = append(figures, figure{fmt.Sprintf("one start to the next on one cpu, %d jobs wait, median", waiting),
			median(took), most, "ms"})
	}
	return figures, nil
}

// caller measures how much longer a submission takes if it finds an attendant or starts one. The two
// submissions of a pair run in random order, with time for the attendant to settle before each.
func caller(s *site, n counts) (figures []figure, err error) {
	blocker, err := s.do("submit", "1:ncpus=1", "-t", "1h", "-o", "id", "--out", "/dev/null", "--", "sleep", "3600")
	if err != nil {
		return nil, err
	}
	if _, err := s.do("wait", blocker, "--for", "started"); err != nil {
		return nil, err
	}
	submit := func(start string) (float64, error) {
		time.Sleep(60 * time.Millisecond)
		c := s.command("submit", "1:ncpus=1", "-t", "1m", "-q", "--", "true")
		c.Env = append(c.Env, "PLACECTL_START="+start)
		at := time.Now()
		err := c.Run()
		return float64(time.Since(at)) / 1e6, err
	}
	for _, warm := range []bool{true, false} {
		var dearer []float64
		for range n.pairs {
			var took [2]float64 // with start auto, and manual
			first := rand.N(2)
			for _, i := range []int{first, 1 - first} {
				if !warm {
					s.leave()
				}
				if took[i], err = submit([]string{"auto", "manual"}[i]); err != nil {
					return nil, err
				}
			}
			dearer = append(dearer, took[0]-took[1])
		}
		f := figure{"submit, dearer for finding an attendant, median of pairs", median(dearer), 0.05, "ms"}
		if !warm {
			f.name, f.most = "submit, dearer for leaving one, median of pairs", 0.4
		}
		figures = append(figures, f)
	}
	_, err = s.do("cancel", "--all")
	s.command("wait", blocker).Run() //nolint:errcheck // it was cancelled
	return figures, err
}

// quiet measures an idle attendant, and how soon after the last end it has left.
func quiet(s *site, n counts) ([]figure, error) {
	job, err := s.do("submit", "1:ncpus=1", "-t", "10m", "-o", "id", "--out", "/dev/null", "--", "sleep", "300")
	if err != nil {
		return nil, err
	}
	if _, err := s.do("wait", job, "--for", "started"); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second)
	pid := s.attendant()
	if pid == 0 {
		return nil, fmt.Errorf("no process attends to the queue")
	}
	pids := []string{strconv.Itoa(pid)}
	before := cpuOf(pids)
	seconds := n.quiet
	time.Sleep(time.Duration(seconds) * time.Second)
	cpu := (cpuOf(pids) - before) / float64(seconds) * 100
	memory, own := memoryOf(pids[0], "Pss:"), memoryOf(pids[0], "Pss_Anon:")
	if _, err := s.do("cancel", job); err != nil {
		return nil, err
	}
	s.command("wait", job).Run() //nolint:errcheck // it was cancelled
	at := time.Now()
	for s.attendant() != 0 && time.Since(at) < time.Minute {
		time.Sleep(50 * time.Millisecond)
	}
	return []figure{{"of a core for an attendant with nothing to do", cpu, 0.1, "%"},
		{fmt.Sprintf("its memory, behind that queue (%.0f kB without the pages of files)", own), memory, 16384, "kB"},
		{"from the last end until no process is left", time.Since(at).Seconds(), 15, "s"}}, nil
}
