package locality

import (
	"fmt"
	"slices"
)

// Report says what a host's answer changed.
type Report struct {
	Job       int
	State     string // of the job: done, failed, unsent, sent
	Remaining Credit // of the batch
}

// NotHeld is an ErrNotHeld that says what happened to the job.
type NotHeld struct {
	Job  int
	Host string
	Why  string
}

func (e *NotHeld) Error() string {
	return fmt.Sprintf("job %d: host %s: %s", e.Job, e.Host, e.Why)
}

// Unwrap makes errors.Is see ErrNotHeld.
func (e *NotHeld) Unwrap() error { return ErrNotHeld }

// Done accepts a host's result of a job. It refuses an answer after the lease has expired with
// a NotHeld, and changes nothing: the result of another host counts.
func (o *Op) Done(h *Host, job int) (Report, error) {
	return o.answer(h, job, func(e *ending) error {
		e.m.Jobs++
		if e.m.Measured {
			o.Batch.stretch(float64(o.Now-e.m.Busy) / max(1, seconds(e.j.Credit, e.m.Rate)))
		}
		h.earn(e.j.Credit, o.Now-e.m.Busy, o.Now)
		e.x.State = Answered
		return e.finish(e.x.Layer, Done)
	})
}

// Fail accepts a host's report that it could not do a job. The job goes to another host, and
// after MaxErrors failures it has failed for good.
func (o *Op) Fail(h *Host, job int) (Report, error) {
	return o.answer(h, job, func(e *ending) error {
		h.decay(o.Now)
		e.x.State = Broken
		e.t.Errors++
		if e.t.Errors <= o.Batch.Settings.MaxErrors {
			return e.lose(e.x.Layer)
		}
		for layer := range e.j.Quorum {
			if e.t.state(e.j, layer).Terminal() {
				continue
			}
			if err := e.finish(layer, Failed); err != nil {
				return err
			}
		}
		return nil
	})
}

// ending is an instance that is about to end.
type ending struct {
	o     *Op
	m     *Member
	n     int
	j     *Job
	block *TaskBlock
	t     *Task
	x     *Instance
}

// find returns the instance of a job that a host has.
func (o *Op) find(h *Host, m *Member, job int) (*ending, error) {
	j, err := o.job(job)
	if err != nil {
		return nil, err
	}
	block, t, err := o.task(job)
	if err != nil {
		return nil, err
	}
	e := &ending{o, m, job, j, block, t, t.live(h.Number)}
	if m == nil || e.x == nil {
		return nil, &NotHeld{job, h.Name, e.why(h.Number)}
	}
	return e, nil
}

// why says what happened to a job that a host reports but does not hold.
func (e *ending) why(host uint32) string {
	for _, x := range slices.Backward(e.t.Instances) {
		if x.Host != host {
			continue
		}
		switch x.State {
		case Answered:
			return "it has reported this job already"
		case Broken:
			return "it has reported already that the job failed"
		case Expired:
			return "its lease has expired, and the job is no longer its own"
		}
		return "the job was finished without it"
	}
	return "it was never given this job"
}

// answer ends the instance of a job that a host holds, in the way end says.
func (o *Op) answer(h *Host, job int, end func(*ending) error) (Report, error) {
	m, err := o.Member(h.Number)
	if err != nil {
		return Report{}, err
	}
	e, err := o.find(h, m, job)
	if err != nil {
		return Report{}, err
	}
	if err := e.drop(); err != nil {
		return Report{}, err
	}
	if err := end(e); err != nil {
		return Report{}, err
	}
	e.x.Until = o.Now
	if err := o.putTask(e.block); err != nil {
		return Report{}, err
	}
	m.Busy, m.Seen = o.Now, o.Now
	if err := o.measure(m, h); err != nil {
		return Report{}, err
	}
	if err := o.PutHost(h); err != nil {
		return Report{}, err
	}
	return o.report(e), o.PutMember(m)
}

func (o *Op) report(e *ending) Report {
	r := Report{Job: e.n, Remaining: o.Batch.Remaining, State: "sent"}
	if slices.Contains(e.t.Slots, Unsent) {
		r.State = "unsent"
	}
	if e.t.finished(e.j) {
		if r.State = "done"; slices.Contains(e.t.Slots, Failed) {
			r.State = "failed"
		}
	}
	return r
}

// drop takes the instance from its host.
func (e *ending) drop() error {
	slot := e.o.Batch.Slot(e.n, e.x.Layer)
	e.m.Live = slices.DeleteFunc(e.m.Live, func(s int) bool { return s == slot })
	return e.o.TakeDue(Due{e.x.Until, e.m.Host, slot})
}

// lose takes back a slot whose instance ended without a result. The slot waits, unless another
// host also has it or takes it over.
func (e *ending) lose(layer int) error {
	if e.shared(layer) {
		return nil
	}
	if taken, err := e.takeOver(layer); err != nil || taken {
		return err
	}
	return e.giveBack(layer)
}

// shared reports whether another host also has the slot.
func (e *ending) shared(layer int) bool {
	for _, x := range e.t.Instances {
		if x.Layer == layer && x.State == Live {
			return true
		}
	}
	return false
}

// giveBack makes the slot wait for another host.
func (e *ending) giveBack(layer int) error {
	slot := e.o.Batch.Slot(e.n, layer)
	c, err := e.o.CursorAt(slot)
	if err != nil {
		return err
	}
	end := &c.Ends[c.sideOf(slot)]
	end.Hand -= e.j.Credit
	end.Back += e.j.Credit
	e.o.Batch.Waiting += e.j.Credit
	e.t.set(layer, Unsent)
	if err := e.o.PutBack(slot); err != nil {
		return err
	}
	return e.o.PutCursor(c)
}

// finish makes a slot terminal, whether it is open, waiting, or with a host.
func (e *ending) finish(layer int, as SlotState) error {
	o := e.o
	slot := o.Batch.Slot(e.n, layer)
	if err := e.supersede(layer); err != nil {
		return err
	}
	c, err := o.CursorAt(slot)
	if err != nil {
		return err
	}
	end := &c.Ends[c.sideOf(slot)]
	switch {
	case c.isOpen(slot):
		c.Open -= e.j.Credit
		c.Gone = append(c.Gone, slot)
		o.Batch.Waiting -= e.j.Credit
	case e.t.state(e.j, layer) == Unsent:
		end.Back -= e.j.Credit
		o.Batch.Waiting -= e.j.Credit
		if err := o.TakeBack(slot); err != nil {
			return err
		}
	default:
		end.Hand -= e.j.Credit
	}
	o.Batch.Remaining -= e.j.Credit
	e.t.set(layer, as)
	if e.t.finished(e.j) {
		e.count()
	}
	if err := o.putTask(e.block); err != nil { // advance reads it
		return err
	}
	if err := o.advance(c); err != nil {
		return err
	}
	o.generate(c)
	return o.PutCursor(c)
}

// count counts a finished job.
func (e *ending) count() {
	b := e.o.Batch
	if slices.Contains(e.t.Slots, Failed) {
		b.Failed++
	} else {
		b.Done++
	}
	if b.Over() {
		b.Ended = e.o.Now
	}
}

// supersede takes a slot from the other hosts that have it. A host that has nothing else no
// longer counts until it asks again, because it may be gone.
func (e *ending) supersede(layer int) error {
	slot := e.o.Batch.Slot(e.n, layer)
	for i := range e.t.Instances {
		x := &e.t.Instances[i]
		if x.Layer != layer || x.State != Live || x.Host == e.m.Host {
			continue
		}
		if err := e.o.TakeDue(Due{x.Until, x.Host, slot}); err != nil {
			return err
		}
		x.State, x.Until = Superseded, e.o.Now
		m, err := e.o.Member(x.Host)
		if err != nil {
			return err
		}
		m.Live = slices.DeleteFunc(m.Live, func(s int) bool { return s == slot })
		if len(m.Live) == 0 {
			if err := e.o.leave(m); err != nil {
				return err
			}
		}
		if err := e.o.PutMember(m); err != nil {
			return err
		}
	}
	return nil
}
