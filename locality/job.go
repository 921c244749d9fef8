package locality

import "fmt"

// BlockJobs is how many jobs share a row. It is on disk and must not change.
const BlockJobs = 128

// Job is a job as it was created: it uses files A..B.
type Job struct {
	A, B   int
	Credit Credit
	Quorum int // results wanted, each from another host and user
}

// JobBlock holds BlockJobs consecutive jobs, and sums over all jobs before them, so that sums
// and cuts need not read the whole batch.
type JobBlock struct {
	First  int
	Before []Credit // credit of the earlier jobs, by layer
	Reach  int      // the last file that an earlier job uses, -1 for none
	Jobs   []Job
}

// Span is files A..B.
type Span struct{ A, B int }

func blockOf(job int) (block, at int) { return job / BlockJobs, job % BlockJobs }

// job returns a job.
func (o *Op) job(n int) (*Job, error) {
	if n < 0 || n >= o.Batch.Jobs {
		return nil, fmt.Errorf("job %d: %w: the batch has jobs 0 to %d", n, ErrNoJob, o.Batch.Jobs-1)
	}
	number, at := blockOf(n)
	block, err := o.Jobs(number)
	if err != nil {
		return nil, err
	}
	if at >= len(block.Jobs) {
		return nil, fmt.Errorf("%w: job %d is missing from its block", ErrCorrupt, n)
	}
	return &block.Jobs[at], nil
}

// credit returns what a slot is worth: 0 if its job wants fewer results.
func (j *Job) credit(layer int) Credit {
	if layer >= j.Quorum {
		return 0
	}
	return j.Credit
}

// before returns the credit that a layer has in the jobs before one.
func (o *Op) before(layer, job int) (Credit, error) {
	number, at := blockOf(job)
	if at == 0 && job >= o.Batch.Jobs && job > 0 {
		number, at = blockOf(job - 1)
		at++
	}
	block, err := o.Jobs(number)
	if err != nil {
		return 0, err
	}
	sum := block.Before[layer]
	for i := range min(at, len(block.Jobs)) {
		sum += block.Jobs[i].credit(layer)
	}
	return sum, nil
}

// between returns the credit of the slots first..last, which must be in one layer.
func (o *Op) between(first, last int) (Credit, error) {
	if last < first {
		return 0, nil
	}
	from, layer := o.Batch.JobOf(first)
	to, _ := o.Batch.JobOf(last)
	low, err := o.before(layer, from)
	if err != nil {
		return 0, err
	}
	high, err := o.before(layer, to+1)
	return high - low, err
}

// seek returns the first job before which a layer has at least that much credit.
func (o *Op) seek(layer int, want Credit) (int, error) {
	blocks := (o.Batch.Jobs + BlockJobs - 1) / BlockJobs
	low, high := 0, blocks-1 // the last block that begins at or below want
	for low < high {
		mid := (low + high + 1) / 2
		before, err := o.Before(mid)
		if err != nil {
			return 0, err
		}
		if before[layer] <= want {
			low = mid
		} else {
			high = mid - 1
		}
	}
	block, err := o.Jobs(low)
	if err != nil {
		return 0, err
	}
	sum := block.Before[layer]
	for i := range block.Jobs {
		if sum >= want {
			return block.First + i, nil
		}
		sum += block.Jobs[i].credit(layer)
	}
	return block.First + len(block.Jobs), nil
}

// reach returns the last file that an earlier job uses, or -1.
func (o *Op) reach(job int) (int, error) {
	number, at := blockOf(max(0, job-1))
	block, err := o.Jobs(number)
	if err != nil {
		return 0, err
	}
	if job > 0 {
		at++
	}
	out := block.Reach
	for i := range min(at, len(block.Jobs)) {
		out = max(out, block.Jobs[i].B)
	}
	return out, nil
}
