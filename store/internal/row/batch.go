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

// EncodeBatch returns the row of a batch.
func EncodeBatch(b *Batch) []byte { return encode(batchFields, b) }

// DecodeBatch reads it.
func DecodeBatch(key, payload []byte) (*Batch, error) {
	return decode(Batches, batchFields, key, payload)
}

func batchFilesFields(f *Fields, files *[]BatchFile) {
	f.Version(batchFilesVersion)
	for i := range Items(f, "", files) {
		f.Text("name", &(*files)[i].Name)
		Int(f, "size", &(*files)[i].Size)
		f.Next()
	}
}

// EncodeBatchFiles returns a row of files.
func EncodeBatchFiles(files []BatchFile) []byte { return encode(batchFilesFields, &files) }

// DecodeBatchFiles reads it.
func DecodeBatchFiles(key, payload []byte) ([]BatchFile, error) {
	f, files := Fields{dir: reading, b: payload, key: key}, *new([]BatchFile)
	batchFilesFields(&f, &files)
	return files, f.done(BatchFiles)
}
