package row

import "github.com/placectl/placectl/locality"

const (
	batchJobsVersion  = 1
	batchTasksVersion = 1
)

// batchJobsHead lists the fields before the jobs of a block.
func batchJobsHead(f *Fields, b *locality.JobBlock) {
	f.Version(batchJobsVersion)
	Uint(f, "first", &b.First)
	for i := range Items(f, "before", &b.Before) {
		Int(f, "", &b.Before[i])
		f.Next()
	}
	f.Must(len(b.Before) == locality.MaxQuorum)
}

func batchJobsFields(f *Fields, b *locality.JobBlock) {
	batchJobsHead(f, b)
	Int(f, "reach", &b.Reach)
	last := 0
	for i := range Items(f, "jobs", &b.Jobs) {
		j := &b.Jobs[i]
		Delta(f, "a", &j.A, last)
		Delta(f, "b", &j.B, j.A)
		Uint(f, "credit", &j.Credit)
		Byte(f, "quorum", &j.Quorum)
		last = j.A
		f.Next()
	}
}

// EncodeBatchJobs returns a row of the jobs of a batch, as they were created.
func EncodeBatchJobs(b *locality.JobBlock) []byte { return encode(batchJobsFields, b) }

// DecodeBatchJobs reads it.
func DecodeBatchJobs(key, payload []byte) (*locality.JobBlock, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.JobBlock)
	batchJobsFields(&f, v)
	return v, f.done(BatchJobs)
}

// BatchCredit reads the credit before a block of jobs, and decodes no job.
func BatchCredit(key, payload []byte) ([]locality.Credit, error) {
	f, b := Fields{dir: reading, b: payload, key: key}, locality.JobBlock{}
	batchJobsHead(&f, &b)
	return b.Before, f.done(BatchJobs)
}

func batchTasksFields(f *Fields, b *locality.TaskBlock) {
	f.Version(batchTasksVersion)
	Uint(f, "first", &b.First)
	for i := range Items(f, "tasks", &b.Tasks) {
		t := &b.Tasks[i]
		slotFields(f, &t.Slots)
		Uint(f, "errors", &t.Errors)
		for k := range Items(f, "instances", &t.Instances) {
			x := &t.Instances[k]
			Byte(f, "layer", &x.Layer)
			Byte(f, "state", &x.State)
			Uint(f, "host", &x.Host)
			f.At("sent", &x.Sent, Past)
			f.AtAfter("until", &x.Until, x.Sent, leaseClock(x.State))
			f.Next()
		}
		f.Next()
	}
}

// leaseClock returns what the end of an instance means to the clock: the end of its lease, or
// of the instance.
func leaseClock(s locality.InstanceState) Clock {
	if s == locality.Live {
		return Shifts
	}
	return Past
}

// slotFields are a byte each, also in documents.
func slotFields(f *Fields, slots *[]locality.SlotState) {
	if !f.bytes() {
		var b []byte
		for _, s := range *slots {
			b = append(b, byte(s))
		}
		if f.Blob("slots", &b); f.dir == readingJSON {
			*slots = make([]locality.SlotState, len(b))
			for i := range b {
				(*slots)[i] = locality.SlotState(b[i])
			}
		}
		return
	}
	for k := range Items(f, "slots", slots) {
		Byte(f, "", &(*slots)[k])
	}
}

// EncodeBatchTasks returns a row of the states of a batch's jobs.
func EncodeBatchTasks(b *locality.TaskBlock) []byte { return encode(batchTasksFields, b) }

// DecodeBatchTasks reads it.
func DecodeBatchTasks(key, payload []byte) (*locality.TaskBlock, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.TaskBlock)
	batchTasksFields(&f, v)
	return v, f.done(BatchTasks)
}
