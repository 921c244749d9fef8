package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// signLength is the length of the line that a writer writes into the lock file, after the
// mark. It is fixed, so that nothing must be truncated.
const signLength = 256

// sign writes the holder of a lock into the lock file, with the time, for the message to
// processes that time out waiting. Readers, which are many, do not sign. Nothing depends on
// it.
func (l *fileLock) sign() {
	text := fmt.Sprintf("%d %d %s", os.Getpid(), time.Now().Unix(), commandText(os.Args))
	_ = l.writeAt(fmt.Appendf(nil, "%-*.*s\n", signLength-1, signLength-1, text), markLine)
}

// commandText formats a command line for messages.
func commandText(words []string) string {
	if len(words) > 0 {
		words = append([]string{filepath.Base(words[0])}, words[1:]...)
	}
	line := strings.Join(words, " ")
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return strconv.QuoteToASCII(line)
}

// signature reads what sign wrote. The process may have released the lock since.
func (l *fileLock) signature() (pid int, since time.Time, command string) {
	b := make([]byte, signLength)
	n, _ := l.f.ReadAt(b, markLine)
	words := strings.SplitN(strings.TrimSpace(string(b[:n])), " ", 3)
	if len(words) < 3 {
		return 0, since, ""
	}
	pid, _ = strconv.Atoi(words[0])
	at, _ := strconv.ParseInt(words[1], 10, 64)
	return pid, time.Unix(at, 0), words[2]
}

// holders describes the processes that hold a byte of a lock, for a message.
func (l *fileLock) holders(at int64) string {
	found := lockers(l.path, at)
	if len(found) == 0 { // the holder may have changed meanwhile
		found = lockers(l.path, at)
	}
	pid, since, command := l.signature()
	for i := range found {
		if found[i].pid == pid && found[i].writes {
			found[i].since = since
		}
	}
	if len(found) == 0 && pid > 0 && ofAnother(pid) {
		return fmt.Sprintf(", perhaps by process %d (%s), which has written since %s", pid, command,
			since.UTC().Format(time.RFC3339))
	}
	return describe(found)
}

// holders describes the processes that hold a lock on a file other than a lock file.
func holders(path string) string { return describe(lockers(path, lockSeat)) }

// locker is a process that has a lock.
type locker struct {
	pid    int
	writes bool
	since  time.Time // when it got the lock; if unknown, its start is shown
}

// lockers finds the processes that lock a byte of a lock file, or that hold bbolt's lock on a
// file. /proc lists the locks on each open file of a process, as far as we may read it.
func lockers(path string, at int64) (found []locker) {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	inode := fmt.Sprintf(":%d ", statusOf(info).inode)
	files, _ := filepath.Glob("/proc/[0-9]*/fdinfo/*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), inode) {
			continue
		}
		for line := range strings.Lines(string(text)) {
			how := lockOf(line, inode, at)
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			if how != "" && (len(found) == 0 || found[len(found)-1].pid != pid) {
				found = append(found, locker{pid: pid, writes: how == "WRITE"})
			}
		}
	}
	return found
}

// lockOf reads a line such as
//
//	lock:	1: OFDLCK  ADVISORY  READ -1 fe:00:2621475 0 0
//
// It returns "" for a line that is not about the byte.
func lockOf(line, inode string, at int64) (how string) {
	words := strings.Fields(line)
	if len(words) < 9 || words[0] != "lock:" || !strings.Contains(line, inode) {
		return ""
	}
	if words[2] == "OFDLCK" && words[7] == strconv.FormatInt(at, 10) || words[2] == "FLOCK" {
		return words[4]
	}
	return ""
}

// described is the most processes that a message names.
const described = 3

// describe describes the processes that have a lock: their numbers, commands, since when, and
// whether they are stopped.
func describe(found []locker) string {
	if len(found) == 0 {
		return " by a process that was not found: it has just changed, or is another user's, or on another machine"
	}
	var texts []string
	for _, p := range found[:min(described, len(found))] {
		texts = append(texts, p.describe())
	}
	if more := len(found) - described; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return " by " + strings.Join(texts, "; ")
}

func (p *locker) describe() string {
	proc := fmt.Sprintf("/proc/%d/", p.pid)
	line, _ := os.ReadFile(proc + "cmdline")
	words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	state, start := processState(proc)
	text := fmt.Sprintf("process %d (%s), which ", p.pid, commandText(words))
	switch {
	case !p.since.IsZero():
		text += "has written since " + p.since.UTC().Format(time.RFC3339)
	case start.IsZero():
		text += "runs"
	default:
		text += "runs since " + start.UTC().Format(time.RFC3339)
	}
	if state == 'T' || state == 't' {
		text += " and is stopped"
	}
	return text
}

// processState returns the state of a process, T or t if it is stopped, and when it began.
func processState(proc string) (state byte, start time.Time) {
	stat, _ := os.ReadFile(proc + "stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest)
	up, err := os.ReadFile("/proc/uptime")
	if len(words) < 20 || err != nil {
		return 0, start
	}
	seconds, _, _ := strings.Cut(string(up), " ")
	running, _ := strconv.ParseFloat(seconds, 64)
	ticks, _ := strconv.ParseFloat(words[19], 64) // hundredths of a second since the machine started
	return words[0][0], time.Now().Add(-time.Duration((running - ticks/100) * float64(time.Second)))
}
