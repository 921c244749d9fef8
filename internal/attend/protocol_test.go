package attend

import "testing"

// The protocol of the lock and the bell as a model: commands that each commit once, and the attendants that
// they leave behind. The test searches every interleaving of their steps.

const (
	commands   = 3
	attendants = 4
)

// Steps of a command.
const (
	commits = iota
	tries
	rings
	ended
)

// Steps of an attendant. An absent one has not started yet, or has ended.
const (
	absent = iota
	begins // it holds the lock, but does not listen yet
	looks  // notes the state
	acts
	compares // was anything committed since it looked?
	waits
	silent   // its time is over: it removes the bell
	releases // releases the lock
	rechecks // checks once more whether anything was committed
	retries  // tries the lock
)

// moment is a state of the model.
type moment struct {
	commits, acted int // the number of commits, and how many were acted on
	holder         int // of the lock: an attendant's number from 1, -1-c of command c, 0 for none
	command        [commands]int
	attendant      [attendants]struct {
		at, seen    int
		hears, rung bool
	}
}

// variant leaves something out of the protocol.
type variant struct{ noRing, noRecheck, noRetry, triesFirst, lateBell bool }

// next lists the moments to which a step leads. late are those reached only by the passing of time.
func (v variant) next(m moment) (now, late []moment) {
	for c := range commands {
		n := m
		order := []int{commits, tries}
		if v.triesFirst {
			order = []int{tries, commits}
		}
		switch at := m.command[c]; {
		case at == ended:
		case at == rings:
			n.command[c] = ended
			heard := false
			for a := range attendants { // one of the listeners gets it
				if m.attendant[a].hears && !v.noRing {
					rung := n
					rung.attendant[a].rung, heard = true, true
					now = append(now, rung)
				}
			}
			if !heard {
				now = append(now, n)
			}
		case order[at] == commits:
			n.commits++
			n.command[c] = at + 1
			if v.triesFirst { // how far its try has come
				n.command[c] = ended
				if m.holder != -1-c {
					n.command[c] = rings
				} else {
					n = fork(n)
				}
			}
			now = append(now, n)
		case v.triesFirst:
			if n.command[c] = at + 1; m.holder == 0 {
				n.holder = -1 - c
			}
			now = append(now, n)
		case m.holder != 0:
			n.command[c] = rings
			now = append(now, n)
		default:
			n.command[c] = ended
			now = append(now, fork(n))
		}
	}
	for a := range attendants {
		n := m
		is := &n.attendant[a]
		switch is.at {
		case absent:
			continue
		case begins:
			is.at, is.hears, is.rung = looks, true, false
		case looks:
			is.at, is.seen = acts, m.commits
		case acts:
			is.at, n.acted = compares, max(m.acted, m.commits)
		case compares:
			if is.at = waits; is.seen != m.commits {
				is.at = looks
			}
		case waits:
			if m.attendant[a].rung {
				is.at, is.rung = looks, false
				break
			}
			if is.at = silent; v.lateBell {
				is.at = releases
			}
			late = append(late, n)
			continue
		case silent:
			is.at, is.hears, is.rung = releases, false, false
		case releases:
			n.holder = 0
			if is.at = rechecks; v.noRecheck {
				is.at = retries
			}
		case rechecks:
			if is.at = retries; is.seen == m.commits {
				*is = moment{}.attendant[0]
			}
		case retries:
			if m.holder != 0 || v.noRetry || v.noRecheck {
				*is = moment{}.attendant[0]
			} else {
				n.holder, is.at = a+1, begins
			}
		}
		now = append(now, n)
	}
	return now, late
}

// fork starts an attendant that holds the lock.
func fork(m moment) moment {
	for a := range m.attendant {
		if m.attendant[a].at == absent {
			m.attendant[a].at, m.holder = begins, a+1
			return m
		}
	}
	panic("more attendants than the model has room for")
}

// search goes through every reachable moment, and returns their number. lost is a moment in which only time
// passes although a commit was not acted on, nil if there is none.
func (v variant) search() (reached int, lost *moment) {
	seen := map[moment]bool{{}: true}
	for todo := []moment{{}}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		now, late := v.next(m)
		if len(now) == 0 && m.acted < m.commits {
			return len(seen), &m
		}
		for _, n := range append(now, late...) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), nil
}

// TestProtocol: no commit is overlooked, however the steps of commands and attendants interleave. Without
// any one of the precautions some are.
func TestProtocol(t *testing.T) {
	t.Parallel()
	if n, lost := (variant{}).search(); lost != nil {
		t.Errorf("a commit is overlooked: %+v", *lost)
	} else if n < 3000 {
		t.Errorf("only %d moments were searched", n)
	}
	for name, v := range map[string]variant{
		"no ring": {noRing: true}, "no recheck": {noRecheck: true}, "no retry": {noRetry: true},
		"the try before the commit": {triesFirst: true}, "the bell after the lock": {lateBell: true},
	} {
		if _, lost := v.search(); lost == nil {
			t.Errorf("%s: the model overlooks no commit, want one", name)
		}
	}
}
