package locality

// SlotState is the state of a slot that a cursor has passed. The numbers are on disk and must
// not change.
type SlotState uint8

// The states of a slot. Ungenerated ones have no record; void ones are in layers that a job
// does not need.
const (
	Ungenerated SlotState = 0
	Unsent      SlotState = 1 // it was returned or passed over
	Sent        SlotState = 2
	Done        SlotState = 3
	Failed      SlotState = 4
	Void        SlotState = 5
)

// Terminal reports whether the state is final.
func (s SlotState) Terminal() bool { return s >= Done }

// InstanceState is the state of an instance. The numbers are on disk and must not change.
type InstanceState uint8

// The states of an instance.
const (
	Live       InstanceState = 1 // its host has it
	Answered   InstanceState = 2
	Broken     InstanceState = 3 // the host reported a failure
	Expired    InstanceState = 4
	Superseded InstanceState = 5 // another answered first, or the job failed
)

var instanceNames = [...]string{Live: "sent", Answered: "done", Broken: "failed", Expired: "expired",
	Superseded: "superseded"}

func (s InstanceState) String() string {
	if int(s) < len(instanceNames) {
		return instanceNames[s]
	}
	return "unknown"
}

// Instance is a job that a host has, or what happened to it there.
type Instance struct {
	Layer int
	Host  uint32
	State InstanceState
	Sent  int64 // Unix seconds
	Until int64 // the lease while it is live, afterwards when it ended
}

// Task is the state of a job.
type Task struct {
	Slots     []SlotState // by layer; nil while no cursor has passed it
	Errors    int
	Instances []Instance
}

// TaskBlock holds the states of the jobs of a block.
type TaskBlock struct {
	First int
	Tasks []Task
}

// state returns the state of a slot of a job.
func (t *Task) state(j *Job, layer int) SlotState {
	switch {
	case layer >= j.Quorum:
		return Void
	case layer < len(t.Slots):
		return t.Slots[layer]
	}
	return Ungenerated
}

// set notes the state of a slot.
func (t *Task) set(layer int, s SlotState) {
	for len(t.Slots) <= layer {
		t.Slots = append(t.Slots, Ungenerated)
	}
	t.Slots[layer] = s
}

// finished reports whether the job is done or failed for good.
func (t *Task) finished(j *Job) bool {
	for layer := range j.Quorum {
		if !t.state(j, layer).Terminal() {
			return false
		}
	}
	return true
}

// waits reports whether a result of the job is missing and no host works on it.
func (t *Task) waits(j *Job) bool {
	for layer := range j.Quorum {
		if s := t.state(j, layer); s == Ungenerated || s == Unsent {
			return true
		}
	}
	return false
}

// live returns the instance of a job that a host has, or nil if there is none.
func (t *Task) live(host uint32) *Instance {
	for i := range t.Instances {
		if x := &t.Instances[i]; x.Host == host && x.State == Live {
			return x
		}
	}
	return nil
}

// task returns the state of a job. putTask stores changes to it.
func (o *Op) task(job int) (*TaskBlock, *Task, error) {
	number, at := blockOf(job)
	block, err := o.Tasks(number)
	if err != nil {
		return nil, nil, err
	}
	for len(block.Tasks) <= at {
		block.Tasks = append(block.Tasks, Task{})
	}
	return block, &block.Tasks[at], nil
}

func (o *Op) putTask(block *TaskBlock) error { return o.PutTasks(block.First/BlockJobs, block) }

// setSlot notes the state of a slot.
func (o *Op) setSlot(slot int, s SlotState) error {
	job, layer := o.Batch.JobOf(slot)
	block, t, err := o.task(job)
	if err != nil {
		return err
	}
	t.set(layer, s)
	return o.putTask(block)
}

// slot returns a slot's state and credit.
func (o *Op) slot(slot int) (SlotState, Credit, error) {
	n, layer := o.Batch.JobOf(slot)
	j, err := o.job(n)
	if err != nil {
		return 0, 0, err
	}
	if layer >= j.Quorum {
		return Void, 0, nil
	}
	_, t, err := o.task(n)
	if err != nil {
		return 0, 0, err
	}
	return t.state(j, layer), j.Credit, nil
}
