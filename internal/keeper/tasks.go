package keeper

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// eachTask returns a function that calls fn for each process of the attempt. They all descend from its
// warden. If the warden was killed, they are found as descendants of the command, and by the token in
// their environment.
func (a *attendance) eachTask() func(func(pid int)) {
	tokens := tokensOf(a.slot.nonce)
	return func(fn func(pid int)) {
		if !a.foreign {
			eachDescendant(a.warden, fn)
		} else {
			if a.born != 0 && Lives(a.pid, a.born) {
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

// tasks lists the attempt's live processes.
func (a *attendance) tasks() []int { return listed(a.eachTask()) }

// listed lists the processes that each calls its function for. A single round can miss one whose parent
// ends meanwhile, so listed repeats it until nothing new appears, at most four times.
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
	return slices.DeleteFunc(list, func(pid int) bool { return !Lives(pid, 0) })
}

// Lives reports whether a process lives and, unless born is 0, was started then. A zombie does not
// live.
func Lives(pid int, born uint64) bool {
	lives, _ := Look(pid, born)
	return lives
}

// Look reports whether a process lives, as Lives does, and whether it is stopped, as by ^Z.
func Look(pid int, born uint64) (lives, stopped bool) {
	s, err := statOf(pid)
	lives = err == nil && s.state != 'Z' && s.state != 'X' && (born == 0 || s.born == born)
	return lives, lives && (s.state == 'T' || s.state == 't')
}

// sweepFor bounds a sweep, because the caller has other work.
const sweepFor = 100 * time.Millisecond

// sweep kills the processes of each. It first stops each one it meets, until there are no new ones: a
// stopped process can neither fork nor react to another's end. It reports whether new ones still came
// when it gave up.
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
	// parents last: when a parent ends, the kernel continues its stopped children
	for _, pid := range slices.Backward(list) {
		unix.Kill(pid, unix.SIGKILL) //nolint:errcheck // it may have ended
	}
	return storm
}

// some reports whether each finds any process.
func some(each func(func(pid int))) (found bool) {
	each(func(int) { found = true })
	return found
}

// pauseAfter returns the pause after a sweep. It doubles while killed processes take time to end, and
// is short in a storm.
func pauseAfter(storm bool, last time.Duration) time.Duration {
	const shortest = 5 * time.Millisecond
	if storm {
		return shortest
	}
	return min(max(2*last, shortest), time.Second)
}

// eachDescendant calls fn for the descendants of a process, zombies included.
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

// tokens finds processes by the token in the environment with which they were started. It must not be
// used for long, because process numbers are reused.
type tokens struct {
	tag   string
	read  map[int]bool // processes whose environment is known: does it have the token?
	empty map[int]bool // processes whose environment was found empty
}

func tokensOf(n engine.Nonce) *tokens { return tokensWith(tagOf(n.String())) }

// tagOf returns a name for a token that other users may see.
func tagOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:6])
}

func tokensWith(tag string) *tokens {
	return &tokens{tag, map[int]bool{os.Getpid(): false}, make(map[int]bool)}
}

// tokensFor bounds the search for processes with a token on a host where processes keep ending.
const tokensFor = 200 * time.Millisecond

// each calls fn for the processes with the token, the newest first. A process that ended before it could
// be read may have forked. So each repeats the search until it has read all, and meanwhile watches for
// new process numbers.
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

// newestProcess returns the process number assigned last.
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

// executedWithin bounds the time from a warden's report of its command to the command's execution.
const executedWithin = time.Second

// hasCommand reports whether a process is a command with the token. A warden reports its command
// before that is executed. Until then the command has the warden's name and no token, so hasCommand
// waits for it.
func (t *tokens) hasCommand(pid int) bool {
	for end := bootClock() + executedWithin; ; time.Sleep(time.Millisecond) {
		name := nameOf(pid) // as it was before the environment is read
		if t.has(pid) {
			return true
		}
		_, known := t.read[pid]
		if known && name != gate.WardenName || !Lives(pid, 0) || bootClock() >= end {
			return false
		}
		delete(t.read, pid)
		delete(t.empty, pid) // the environment is empty for a moment during the execution
	}
}

// nameOf returns the name of a process, "" if there is no such process.
func nameOf(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(text))
}

// look calls fn if a process has the token. It reports whether that is unknown, because the process has
// ended or may be about to execute a program.
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
	if has && (!known || Lives(pid, 0)) {
		fn(pid)
	}
	return false
}
