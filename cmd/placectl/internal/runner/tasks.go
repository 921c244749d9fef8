package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// eachTask is how to go through the processes of the attempt. They descend from its warden,
// whatever they do. Those of a command whose warden was killed are found below its process, and by
// the token in their environment.
func (a *attendance) eachTask() func(func(pid int)) {
	tokens := tokensOf(a.slot.nonce)
	return func(fn func(pid int)) {
		if !a.foreign {
			eachDescendant(a.warden, fn)
		} else {
			if a.born != 0 && lives(a.pid, a.born) {
				fn(a.pid)
				eachDescendant(a.pid, fn)
			}
			if a.over {
				tokens.each(fn)
			}
		}
		for _, pid := range a.group.tasks() {
			fn(pid)
		}
	}
}

// tasks lists those that live.
func (a *attendance) tasks() []int { return listed(a.eachTask()) }

// listed lists the processes that each goes through. One can be missed whose parent ends
// while we look: so it looks until it finds the same twice.
func listed(each func(func(pid int))) (list []int) {
	for range 4 {
		before := len(list)
		each(func(pid int) {
			if !slices.Contains(list, pid) {
				list = append(list, pid)
			}
		})
		if len(list) == before {
			break
		}
	}
	return slices.DeleteFunc(list, func(pid int) bool { return !lives(pid, 0) })
}

// lives reports whether a process lives, and where born is not 0 was started then. A zombie
// does not.
func lives(pid int, born uint64) bool { return Lives(pid, born) }

// Lives reports whether a process that was born then lives; born 0: whenever it was.
func Lives(pid int, born uint64) bool {
	lives, _ := Look(pid, born)
	return lives
}

// Look reports whether a process lives, as Lives does, and whether it is stopped, as ^Z stops it.
func Look(pid int, born uint64) (lives, stopped bool) {
	s, err := statOf(pid)
	lives = err == nil && s.state != 'Z' && s.state != 'X' && (born == 0 || s.born == born)
	return lives, lives && (s.state == 'T' || s.state == 't')
}

// sweepFor bounds a sweep: there are other things to be done.
const sweepFor = 100 * time.Millisecond

// sweep kills the processes that each goes through. It stops them first, as it comes to them,
// until there are no new ones: a stopped process cannot fork or react to another's end. It reports
// whether new ones came until it gave up.
func sweep(each func(func(pid int))) (storm bool) {
	stopped := make(map[int]bool)
	var list []int
	for until := bootClock() + sweepFor; ; {
		storm = false
		each(func(pid int) {
			if !stopped[pid] {
				unix.Kill(pid, unix.SIGSTOP) //nolint:errcheck // it may have ended
				stopped[pid], storm = true, true
				list = append(list, pid)
			}
		})
		if !storm || bootClock() >= until {
			break
		}
	}
	for _, pid := range slices.Backward(list) { // parents last: the kernel continues stopped processes that lose theirs
		unix.Kill(pid, unix.SIGKILL) //nolint:errcheck // it may have ended
	}
	return storm
}

// some reports whether each goes through any process.
func some(each func(func(pid int))) (found bool) {
	each(func(int) { found = true })
	return found
}

// pauseAfter is the pause after a sweep. It doubles while processes are left that are
// killed, and take their time, and is short in a storm.
func pauseAfter(storm bool, last time.Duration) time.Duration {
	const shortest = 5 * time.Millisecond
	if storm {
		return shortest
	}
	return min(max(2*last, shortest), time.Second)
}

// eachDescendant goes through the processes that descend from one, zombies too.
func eachDescendant(pid int, fn func(pid int)) {
	seen := map[int]bool{pid: true}
	for next := children(pid); len(next) > 0; {
		pid, next = next[0], next[1:]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		below := children(pid)
		fn(pid)
		next = append(next, below...)
	}
}

// children lists the children of all threads of a process.
func children(pid int) (list []int) {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	names, err := readNames(threads)
	if err != nil {
		return nil
	}
	for _, thread := range names {
		text, err := os.ReadFile(threads + "/" + thread + "/children")
		if err != nil {
			return childrenByParent(pid)
		}
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// childrenByParent finds the children on kernels that do not list them.
func childrenByParent(pid int) (list []int) {
	for _, p := range processes() {
		if s, err := statOf(p); err == nil && s.parent == pid {
			list = append(list, p)
		}
	}
	return list
}

func readNames(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// processes lists all processes.
func processes() (list []int) {
	names, _ := readNames("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// tokenName is the variable that all processes of an attempt have in their environment.
const tokenName = "PLACECTL_TOKEN"

// tokens finds processes by the token in their environment, as they were started with, for
// the short time in which the number of a process is not used again.
type tokens struct {
	tag   string
	read  map[int]bool // the environment of these is known: does it have the token?
	empty map[int]bool // it was found empty
}

func tokensOf(n store.Nonce) *tokens { return tokensWith(tagOf(n.String())) }

// tagOf is a name for a token that can be told to others.
func tagOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:6])
}

func tokensWith(tag string) *tokens {
	return &tokens{tag, map[int]bool{os.Getpid(): false}, make(map[int]bool)}
}

// tokensFor bounds the search for processes with a token on a host where processes end all
// the time.
const tokensFor = 200 * time.Millisecond

// each goes through the processes that have the token, the newest first. What ended before it
// could be read may have forked: so it looks again, until it has read all that are there, and
// lies in wait for those that come next.
func (t *tokens) each(fn func(pid int)) {
	end := bootClock() + tokensFor
	for again := true; again && bootClock() < end; {
		again = false
		for _, pid := range slices.Backward(processes()) {
			again = t.look(pid, fn) || again
		}
		for until := bootClock() + 5*time.Millisecond; again && bootClock() < until; {
			newest := newestProcess()
			for pid := newest; pid > newest-3; pid-- {
				if _, known := t.read[pid]; !known {
					t.look(pid, fn)
				}
			}
		}
	}
}

// newestProcess is the number that was given to a process last.
func newestProcess() int {
	text, _ := os.ReadFile("/proc/loadavg")
	words := bytes.Fields(text)
	if len(words) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(string(words[len(words)-1]))
	return pid
}

// has reports whether a process has the token.
func (t *tokens) has(pid int) (is bool) {
	t.look(pid, func(int) { is = true })
	return is
}

// look looks whether a process has the token. It reports whether that could not be told,
// since it has ended, or may be about to become a program.
func (t *tokens) look(pid int, fn func(pid int)) (unknown bool) {
	has, known := t.read[pid]
	if !known {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH):
			return true
		case err == nil && len(env) == 0 && !t.empty[pid]:
			t.empty[pid] = true
			return true
		}
		has = err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool {
			token, ok := bytes.CutPrefix(v, []byte(tokenName+"="))
			return ok && tagOf(string(token)) == t.tag
		})
		t.read[pid] = has
	}
	if has && (!known || lives(pid, 0)) {
		fn(pid)
	}
	return false
}
