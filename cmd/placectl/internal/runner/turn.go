package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/placectl/placectl/store"
)

// A turn of the keeper is one commit. It reports the attempts that have ended since the last turn, makes
// a cycle if that may start something, and claims attempts to execute here. The journal of a slot has
// its intent before the attempt is claimed.

// patience bounds the pauses between attempts to report what the database does not accept.
const patience = time.Minute

// turn makes a turn, and executes the attempts that it has claimed.
func (k *keeper) turn(ctx context.Context) {
	now := time.Now()
	if now.Before(k.again) {
		return
	}
	ask := &Request{Again: k.doubtful}
	var reporting []*attendance
	if k.careful && len(k.untold) > 0 { // alone, so that a bad report blocks no other
		reporting = k.untold[:1]
	} else {
		reporting = k.untold
	}
	for _, a := range reporting {
		ask.Ended = append(ask.Ended, a.result)
	}
	wanted := make(map[Key]*slot)
	if !k.careful && k.wants() {
		ask.Healthy = k.isHealthy()
		ask.Claim = func(key Key) (store.Claim, bool) { return k.prepare(wanted, key) }
	}
	if len(ask.Ended)+len(ask.Again) == 0 && ask.Claim == nil {
		return
	}
	k.looking = false
	began := time.Now()
	answer, err := k.DB.Turn(ctx, ask)
	k.turns++
	defer func() {
		k.turned = time.Now()
		k.took = k.turned.Sub(began)
	}()
	if err != nil {
		k.turnFailed(ask, wanted, err)
		return
	}
	k.again = time.Time{}
	k.taken(answer, wanted)
	k.told(ctx, reporting, answer)
	if k.careful = k.careful && len(k.untold) > 0; k.again.IsZero() {
		k.wait = 0
	}
}

// turnFailed records that the outcome is unknown, or that nothing was done.
func (k *keeper) turnFailed(ask *Request, wanted map[Key]*slot, err error) {
	k.notef("%v", err)
	certain := errors.Is(err, ErrNoTurn)
	for _, sl := range wanted {
		if certain {
			k.giveBack(sl)
		} else {
			k.doubtful = append(k.doubtful, Again{k.claim(sl), k.Epoch})
		}
	}
	if k.since.IsZero() {
		k.since = time.Now()
	}
	if certain && len(ask.Ended) > 0 && !k.careful {
		k.careful = true // retry the reports alone, at once
		return
	}
	if n := len(ask.Ended); n == 1 && k.careful {
		k.untold = append(k.untold[1:], k.untold[0])
	}
	k.careful = len(ask.Ended) > 0
	k.backOff()
}

// backOff delays the next turn.
func (k *keeper) backOff() {
	k.wait = min(max(2*k.wait, firstWait), patience)
	k.again = time.Now().Add(k.wait)
}

// mostPauseOfTurns bounds the pause between two turns.
const mostPauseOfTurns = 25 * time.Millisecond

// gather waits for attempts started by the last turn that are about to end, for as long as that turn
// took, or as the first of them ran. So small commands share commits, and others can use the database
// meanwhile. The end of an attempt that has run longer is reported at once.
func (k *keeper) gather() {
	brief := time.Since(k.turned)
	if brief > mostPauseOfTurns {
		return
	}
	until := k.turned.Add(min(max(k.took, 2*brief), mostPauseOfTurns))
	for {
		fresh := false
		for _, a := range k.running {
			fresh = fresh || a.turn == k.turns
		}
		rest := time.Until(until)
		if !fresh || rest <= 0 {
			return
		}
		select {
		case a := <-k.ended:
			k.collect(a)
		case <-time.After(rest):
			return
		}
	}
}

// firstWait is the first pause before reports are repeated that the database has not accepted.
const firstWait = 250 * time.Millisecond

// told handles the database's answers to reports.
func (k *keeper) told(ctx context.Context, reported []*attendance, answer *Answer) {
	var left []*attendance
	settledAny := false
	for i, a := range reported {
		err := answer.Reported[i]
		if !Settled(err) {
			k.notef("%s: %v", a.slot.Key, err)
			left = append(left, a)
			continue
		}
		if err != nil {
			k.notef("%s: %v", a.slot.Key, err)
		}
		settledAny = true
		k.at("told")
		k.giveBack(a.slot)
	}
	if len(left) > 0 { // append them last, so that one that always fails blocks no other
		k.backOff()
	} else {
		k.since = time.Time{}
	}
	k.untold = append(k.untold[len(reported):], left...)
	if settledAny && !answer.Cycled {
		k.summon()
	}
}

// taken executes claimed attempts, and frees the slots of those that were not claimed.
func (k *keeper) taken(answer *Answer, wanted map[Key]*slot) {
	orders := answer.Orders
	for _, c := range k.doubtful {
		if k.adopted[c.Nonce] == nil {
			for _, sl := range k.slots {
				if sl != nil && sl.nonce == c.Nonce {
					wanted[sl.Key] = sl
				}
			}
		}
	}
	k.doubtful = nil
	for _, sl := range slices.Collect(maps.Values(wanted)) {
		if slices.Contains(answer.Doubtful, sl.nonce) {
			k.doubtful = append(k.doubtful, Again{k.claim(sl), sl.epoch()})
			delete(wanted, sl.Key)
		}
	}
	for nonce, a := range k.adopted {
		if slices.Contains(answer.Doubtful, nonce) {
			k.doubtful = append(k.doubtful, Again{k.claim(a.slot), a.slot.epoch()})
		}
	}
	if answer.Failed != nil {
		k.notef("%v", answer.Failed)
		k.backOff()
	}
	if len(orders) > 0 {
		k.at("claimed")
	}
	for _, o := range orders {
		if a := k.adopted[o.Nonce]; a != nil {
			delete(k.adopted, o.Nonce)
			a.tell(Held{Key: o.Key, Nonce: o.Nonce, Process: k.self, Ending: o.Ending, Left: o.Left})
			k.at("adopted")
		} else if sl := wanted[o.Key]; sl != nil && sl.nonce == o.Nonce {
			delete(wanted, o.Key)
			k.execute(sl, o)
		}
	}
	for nonce, a := range k.adopted { // the job has gone on without it
		if slices.Contains(answer.Doubtful, nonce) {
			continue
		}
		delete(k.adopted, nonce)
		a.tell(Held{Key: a.slot.Key, Nonce: nonce, Ending: true})
	}
	for _, sl := range wanted {
		k.giveBack(sl)
	}
}

// prepare gives a slot to an attempt that is about to be claimed.
func (k *keeper) prepare(wanted map[Key]*slot, key Key) (store.Claim, bool) {
	sl := wanted[key]
	if sl == nil {
		if slices.ContainsFunc(k.untold, func(a *attendance) bool { return a.slot.lines == nil && a.slot.Key == key }) {
			return store.Claim{}, false // its refusal is about to be reported
		}
		if len(k.running)+len(wanted) >= k.most {
			return store.Claim{}, false
		}
		var err error
		if sl, err = k.take(key); err != nil {
			k.refuseLater(key, err)
			return store.Claim{}, false
		}
		wanted[key] = sl
		k.at("prepared")
	}
	return k.claim(sl), true
}

func (k *keeper) claim(sl *slot) store.Claim {
	return store.Claim{Job: sl.Job, Attempt: sl.Number, By: store.BySupervisor, Nonce: sl.nonce, Process: k.self}
}

// drawNonce draws the nonce of an attempt.
func drawNonce() (n store.Nonce) {
	rand.Read(n[:]) //nolint:errcheck // it never fails
	return n
}
