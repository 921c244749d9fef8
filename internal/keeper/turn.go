package keeper

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// A turn of the keeper is one commit. It reports the attempts that have ended since the last turn, makes
// a cycle if that may start something, and claims attempts to execute here. The journal of a slot has
// its intent before the attempt is claimed.

// turn makes a turn, and executes the attempts that it has claimed.
func (k *keeper) turn(ctx context.Context) {
	now := time.Now()
	if now.Before(k.again) {
		return
	}
	k.again = time.Time{}
	ask := &Request{Again: k.doubtful}
	reporting, alone := k.reports(now)
	for _, a := range reporting {
		ask.Ended = append(ask.Ended, a.result)
	}
	wanted := make(map[Key]*slot)
	if !alone && k.wants() {
		ask.Healthy = k.isHealthy()
		ask.Claim = func(key Key) (engine.Claim, bool) { return k.prepare(wanted, key) }
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
		k.turnFailed(reporting, alone, wanted, err)
		return
	}
	k.taken(answer, wanted)
	k.told(ctx, reporting, answer)
	if k.again.IsZero() {
		k.wait = 0
	}
}

// turnFailed records that the outcome is unknown, or that nothing was done.
func (k *keeper) turnFailed(reporting []*attendance, alone bool, wanted map[Key]*slot, err error) {
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
	if alone && !certain {
		if k.postpone(reporting[0], err); reporting[0].retry.works { // the database is not to blame
			return
		}
	} else {
		k.notef("%v", err)
	}
	if len(reporting) > 0 && !alone {
		k.careful = true
		if certain { // retry the reports alone, at once
			return
		}
	}
	k.backOff()
}

// backOff delays the next turn.
func (k *keeper) backOff() {
	k.wait = longer(k.wait)
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

// told handles the database's answers to reports.
func (k *keeper) told(ctx context.Context, reported []*attendance, answer *Answer) {
	k.accepts()
	settledAny := false
	for i, a := range reported {
		err := answer.Reported[i]
		if !Settled(err) {
			k.postpone(a, err)
			continue
		}
		if err != nil {
			k.notef("%s: %v", a.slot.Key, err)
		}
		settledAny = true
		k.at("told")
		k.giveBack(a.slot)
		k.untold = slices.DeleteFunc(k.untold, func(b *attendance) bool { return a == b })
	}
	if !slices.ContainsFunc(k.untold, (*attendance).isPostponed) {
		k.since = time.Time{}
	}
	if settledAny && !answer.Cycled {
		k.summon(k.Database)
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
func (k *keeper) prepare(wanted map[Key]*slot, key Key) (engine.Claim, bool) {
	sl := wanted[key]
	if sl == nil {
		if slices.ContainsFunc(k.untold, func(a *attendance) bool { return a.slot.lines == nil && a.slot.Key == key }) {
			return engine.Claim{}, false // its refusal is about to be reported
		}
		if len(k.running)+len(wanted) >= k.most {
			return engine.Claim{}, false
		}
		var err error
		if sl, err = k.take(key); err != nil {
			k.refuseLater(key, err)
			return engine.Claim{}, false
		}
		wanted[key] = sl
		k.at("prepared")
	}
	return k.claim(sl), true
}

func (k *keeper) claim(sl *slot) engine.Claim {
	return engine.Claim{Job: sl.Job, Attempt: sl.Number, By: engine.BySupervisor, Nonce: sl.nonce, Process: k.self}
}

// drawNonce draws the nonce of an attempt.
func drawNonce() (n engine.Nonce) {
	rand.Read(n[:]) //nolint:errcheck // it never fails
	return n
}
