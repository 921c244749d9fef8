package tables

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/query/tables"
)

// batchFile is a file of a batch.
type batchFile struct {
	batch  string
	number int
	row.BatchFile
}

func batchFilesTable(c *Catalog, _ int64) (tables.Table, error) {
	k := &batchKeys{c: c, table: row.BatchFiles}
	return batchTable(k, manyRows, []getter[batchFile]{
		textColumn("batch", "batch name", func(f *batchFile) string { return f.batch }),
		intColumn("number", "position in the sequence, from 0", func(f *batchFile) int64 { return int64(f.number) }),
		textColumn("name", "name", func(f *batchFile) string { return f.Name }),
		unitColumn("size", "size", tables.Bytes, func(f *batchFile) int64 { return f.Size }),
	}, func(batch string, block int, key, payload []byte, out []batchFile) ([]batchFile, error) {
		files, err := row.BatchFilesRow.Decode(key, payload)
		for i, f := range *files {
			out = append(out, batchFile{batch, block*row.BatchFileBlock + i, f})
		}
		return out, err
	}), nil
}

// manyRows is the assumed number of rows of a table that are not counted.
const manyRows = 100_000

// batchJob is a job of a batch, and its state.
type batchJob struct {
	batch  string
	number int
	*locality.Job
	task *locality.Task
}

func batchJobsTable(c *Catalog, _ int64) (tables.Table, error) {
	k := &batchKeys{c: c, table: row.BatchJobs}
	return batchTable(k, manyRows, []getter[batchJob]{
		textColumn("batch", "batch name", func(j *batchJob) string { return j.batch }),
		intColumn("job", "number of the job, from 0", func(j *batchJob) int64 { return int64(j.number) }),
		wordColumn("state", "ungenerated, unsent, sent, done or failed", []string{"ungenerated", "unsent", "sent",
			"done", "failed"}, func(j *batchJob) string { return j.task.State(j.Job) }),
		intColumn("first", "first file it uses", func(j *batchJob) int64 { return int64(j.A) }),
		intColumn("last", "last file it uses", func(j *batchJob) int64 { return int64(j.B) }),
		creditColumn("credit", "credit", func(j *batchJob) locality.Credit { return j.Credit }),
		intColumn("quorum", "number of results wanted", func(j *batchJob) int64 { return int64(j.Quorum) }),
		intColumn("errors", "number of failures", func(j *batchJob) int64 { return int64(j.task.Errors) }),
		textColumn("hosts", "its hosts and results: h1:done,h2:sent", func(j *batchJob) string {
			return c.hands(j.task)
		}),
	}, func(batch string, block int, key, payload []byte, out []batchJob) ([]batchJob, error) {
		jobs, err := row.BatchJobsRow.Decode(key, payload)
		if err != nil {
			return nil, err
		}
		tasks := &locality.TaskBlock{}
		if payload, err = c.src.Rows.Get(row.BatchTasks, key); err == nil && payload != nil {
			tasks, err = row.BatchTasksRow.Decode(key, payload)
		}
		none := &locality.Task{}
		for i := range jobs.Jobs {
			one := batchJob{batch, jobs.First + i, &jobs.Jobs[i], none}
			if i < len(tasks.Tasks) {
				one.task = &tasks.Tasks[i]
			}
			out = append(out, one)
		}
		return out, err
	}), nil
}

// hands lists the hosts that had a job of a batch.
func (c *Catalog) hands(t *locality.Task) string {
	list := make([]string, len(t.Instances))
	for i, x := range t.Instances {
		list[i] = c.hostName(x.Host) + ":" + x.State.String()
	}
	return joined(list)
}
