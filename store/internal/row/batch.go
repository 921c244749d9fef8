package row

import (
	"fmt"

	"github.com/placectl/placectl/locality"
)

// BatchFile is a file of a batch.
type BatchFile struct {
	Name string
	Size int64 // bytes
}

// Batch is a batch: its number, which keys its other rows, and what package locality
// keeps of it.
type Batch struct {
	Number uint32
	Bytes  int64 // of all files that were sent
	locality.Batch
	UID *uint32 // of its maker; nil if that is unknown
}

const (
	batchVersion      = 1
	batchFilesVersion = 1
)

// BatchFileBlock is how many files share a row. On disk; must not change.
const BatchFileBlock = 128

// EncodeBatch is the row of a batch.
func EncodeBatch(b *Batch) []byte {
	e := encoder{}
	e.byte(batchVersion)
	e.fixed32(b.Number)
	e.string(b.Settings.Policy)
	flags := byte(0)
	if b.Layered {
		flags = 1
	}
	e.byte(flags)
	for _, n := range batchInts(b) {
		e.int(*n)
	}
	for _, n := range b.Rates {
		e.uint(uint64(n))
	}
	for _, n := range batchCounts(b) {
		e.uint(uint64(*n))
	}
	e.float(b.Stretch)
	if b.UID != nil {
		e.uint(uint64(*b.UID))
	}
	return e.b
}

func batchInts(b *Batch) []*int64 {
	return []*int64{&b.Bytes, &b.Total, &b.Created, &b.Ended, &b.Remaining, &b.Waiting, &b.Rate, &b.Settings.Lease, &b.Settings.Away}
}

func batchCounts(b *Batch) []*int {
	s := &b.Settings
	return []*int{&s.Team, &s.Hosts, &s.Cushion, &s.LeastJobs, &s.MaxErrors, &s.Keep, &b.Files, &b.Used, &b.Bound, &b.Jobs, &b.Layers,
		&b.Active, &b.Done, &b.Failed, &b.Transfers, &b.Moves}
}

// DecodeBatch reads it.
func DecodeBatch(key, payload []byte) (*Batch, error) {
	d := decoder{b: payload}
	d.byte()
	b := &Batch{Number: d.fixed32()}
	b.Name = string(key)
	b.Settings.Policy = d.string()
	b.Layered = d.byte()&1 != 0
	for _, n := range batchInts(b) {
		*n = d.int()
	}
	for i := range b.Rates {
		b.Rates[i] = uint32(d.uint())
	}
	for _, n := range batchCounts(b) {
		*n = int(d.uint())
	}
	b.Stretch = d.float()
	if len(d.b) > 0 {
		uid := uint32(d.uint())
		b.UID = &uid
	}
	if err := d.done(Batches, key); err != nil {
		return nil, err
	}
	if b.Jobs < 1 || b.Layers < 1 || b.Layers > locality.MaxQuorum {
		return nil, fmt.Errorf("%w: batch %q has %d jobs in %d layers", ErrDamaged, key, b.Jobs, b.Layers)
	}
	return b, nil
}

// EncodeBatchFiles is a row of files.
func EncodeBatchFiles(files []BatchFile) []byte {
	e := encoder{}
	e.byte(batchFilesVersion)
	e.uint(uint64(len(files)))
	for _, f := range files {
		e.string(f.Name)
		e.int(f.Size)
	}
	return e.b
}

// DecodeBatchFiles reads it.
func DecodeBatchFiles(key, payload []byte) ([]BatchFile, error) {
	d := decoder{b: payload}
	d.byte()
	files := make([]BatchFile, d.count())
	for i := range files {
		files[i] = BatchFile{d.string(), d.int()}
	}
	return files, d.done(BatchFiles, key)
}
