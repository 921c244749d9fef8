package row

import "github.com/placectl/placectl/locality"

const (
	batchJobsVersion  = 1
	batchTasksVersion = 1
)

// EncodeBatchJobs is a row of the jobs of a batch, as they were created.
func EncodeBatchJobs(b *locality.JobBlock) []byte {
	e := encoder{b: make([]byte, 0, 8*locality.BlockJobs)}
	e.byte(batchJobsVersion)
	e.uint(uint64(b.First))
	e.uint(uint64(len(b.Before)))
	for _, c := range b.Before {
		e.int(c)
	}
	e.int(int64(b.Reach))
	e.uint(uint64(len(b.Jobs)))
	last := 0
	for _, j := range b.Jobs {
		e.uint(uint64(j.A - last))
		e.uint(uint64(j.B - j.A))
		e.uint(uint64(j.Credit))
		e.byte(byte(j.Quorum))
		last = j.A
	}
	return e.b
}

// decodeJobsHead reads what comes before the jobs of a block.
func decodeJobsHead(d *decoder) *locality.JobBlock {
	d.byte()
	b := &locality.JobBlock{First: int(d.uint()), Before: make([]locality.Credit, d.count())}
	for i := range b.Before {
		b.Before[i] = d.int()
	}
	if len(b.Before) != locality.MaxQuorum {
		d.bad = true
	}
	return b
}

// BatchCredit reads what credit comes before a block of jobs, and decodes no job.
func BatchCredit(key, payload []byte) ([]locality.Credit, error) {
	d := decoder{b: payload}
	b := decodeJobsHead(&d)
	return b.Before, d.done(BatchJobs, key)
}

// DecodeBatchJobs reads it.
func DecodeBatchJobs(key, payload []byte) (*locality.JobBlock, error) {
	d := decoder{b: payload}
	b := decodeJobsHead(&d)
	b.Reach = int(d.int())
	b.Jobs = make([]locality.Job, d.count())
	last := 0
	for i := range b.Jobs {
		last += int(d.uint())
		b.Jobs[i] = locality.Job{A: last, B: last + int(d.uint()), Credit: int64(d.uint()), Quorum: int(d.byte())}
	}
	return b, d.done(BatchJobs, key)
}

// EncodeBatchTasks is a row of what became of the jobs of a batch.
func EncodeBatchTasks(b *locality.TaskBlock) []byte {
	e := encoder{b: make([]byte, 0, 16*locality.BlockJobs)}
	e.byte(batchTasksVersion)
	e.uint(uint64(b.First))
	e.uint(uint64(len(b.Tasks)))
	for i := range b.Tasks {
		t := &b.Tasks[i]
		e.uint(uint64(len(t.Slots)))
		for _, s := range t.Slots {
			e.byte(byte(s))
		}
		e.uint(uint64(t.Errors))
		e.uint(uint64(len(t.Instances)))
		for _, x := range t.Instances {
			e.byte(byte(x.Layer))
			e.byte(byte(x.State))
			e.uint(uint64(x.Host))
			e.int(x.Sent)
			e.int(x.Until - x.Sent)
		}
	}
	return e.b
}

// DecodeBatchTasks reads it.
func DecodeBatchTasks(key, payload []byte) (*locality.TaskBlock, error) {
	d := decoder{b: payload}
	d.byte()
	b := &locality.TaskBlock{First: int(d.uint()), Tasks: make([]locality.Task, d.count())}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		for range d.count() {
			t.Slots = append(t.Slots, locality.SlotState(d.byte()))
		}
		t.Errors = int(d.uint())
		for range d.count() {
			x := locality.Instance{Layer: int(d.byte()), State: locality.InstanceState(d.byte()), Host: uint32(d.uint()), Sent: d.int()}
			x.Until = x.Sent + d.int()
			t.Instances = append(t.Instances, x)
		}
	}
	return b, d.done(BatchTasks, key)
}
