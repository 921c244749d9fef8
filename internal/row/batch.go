package row

import (
	"github.com/placectl/placectl/locality"
)

// BatchFile is a file of a batch.
type BatchFile struct {
	Name string
	Size int64 // bytes
}

// Batch is a batch: its number, which is part of the keys of its other rows, and its state for
// package locality.
type Batch struct {
	Number uint32
	Bytes  int64 // of all files that were sent
	locality.Batch
	UID *uint32 // the uid of its maker; nil if unknown
}

const (
	batchVersion      = 1
	batchFilesVersion = 1
)

// BatchFileBlock is the number of files in a row. On disk; must not change.
const BatchFileBlock = 128

func batchFields(f *Fields, b *Batch) {
	s := &b.Settings
	f.Version(batchVersion)
	f.KeyText("name", &b.Name)
	Fixed(f, "number", &b.Number)
	f.Text("settings.policy", &s.Policy)
	f.Bits(Fact{"layered", &b.Layered})
	Int(f, "bytes", &b.Bytes)
	Int(f, "total", &b.Total)
	f.At("created", &b.Created, Past)
	f.At("ended", &b.Batch.Ended, Past)
	Int(f, "remaining", &b.Remaining)
	Int(f, "waiting", &b.Waiting)
	Int(f, "rate", &b.Rate)
	Int(f, "settings.lease", &s.Lease)
	Int(f, "settings.away", &s.Away)
	Counts(f, "rates", b.Rates[:])
	Uint(f, "settings.team", &s.Team)
	Uint(f, "settings.hosts", &s.Hosts)
	Uint(f, "settings.cushion", &s.Cushion)
	Uint(f, "settings.leastJobs", &s.LeastJobs)
	Uint(f, "settings.maxErrors", &s.MaxErrors)
	Uint(f, "settings.keep", &s.Keep)
	Uint(f, "files", &b.Files)
	Uint(f, "used", &b.Used)
	Uint(f, "bound", &b.Bound)
	Uint(f, "jobs", &b.Jobs)
	Uint(f, "layers", &b.Layers)
	Uint(f, "active", &b.Active)
	Uint(f, "done", &b.Done)
	Uint(f, "failed", &b.Failed)
	Uint(f, "transfers", &b.Transfers)
	Uint(f, "moves", &b.Moves)
	f.Float("stretch", &b.Stretch)
	if f.More(b.UID != nil) {
		f.UID("uid", &b.UID)
	}
	f.Must(b.Jobs >= 1 && b.Layers >= 1 && b.Layers <= locality.MaxQuorum)
}

// BatchRow is the row of a batch.
var BatchRow = Kind[Batch]{Batches, batchFields}

func batchFilesFields(f *Fields, files *[]BatchFile) {
	f.Version(batchFilesVersion)
	for i := range Items(f, "", files) {
		f.Text("name", &(*files)[i].Name)
		Int(f, "size", &(*files)[i].Size)
		f.Next()
	}
}

// BatchFilesRow is a row of files.
var BatchFilesRow = Kind[[]BatchFile]{BatchFiles, batchFilesFields}

const batchRangeVersion = 1

func rangeFields(f *Fields, c *locality.Cursor) {
	f.Version(batchRangeVersion)
	KeyPart(f, "first", 4, 8, 12, &c.First)
	for _, x := range [...]struct {
		name string
		slot *int
	}{{"last", &c.Last}, {"unfinished", &c.Unfinished}, {"top", &c.Top}, {"low", &c.Low}, {"high", &c.High},
		{"generated", &c.Generated}} {
		Int(f, x.name, x.slot)
	}
	Int(f, "open", &c.Open)
	for i := range Each(f, "ends", c.Ends[:]) {
		end := &c.Ends[i]
		Uint(f, "hosts", &end.Hosts)
		Int(f, "rate", &end.Rate)
		Int(f, "hand", &end.Hand)
		Int(f, "back", &end.Back)
		f.Next()
	}
	Uints(f, "gone", &c.Gone)
}

// EncodeRange returns the row of a range of a batch.
func EncodeRange(c *locality.Cursor) []byte { return encode(rangeFields, c) }

// DecodeRange decodes what EncodeRange returns.
func DecodeRange(key, payload []byte) (*locality.Cursor, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.Cursor)
	rangeFields(&f, v)
	return v, f.done(BatchRanges)
}

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

// BatchJobsRow is a row of the jobs of a batch, as they were created.
var BatchJobsRow = Kind[locality.JobBlock]{BatchJobs, batchJobsFields}

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

// BatchTasksRow is a row of the states of a batch's jobs.
var BatchTasksRow = Kind[locality.TaskBlock]{BatchTasks, batchTasksFields}
