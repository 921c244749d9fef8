package slurm

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/bytejson"
)

// jsonHead begins Slurm's documents.
type jsonHead struct {
	Plugin struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"plugin"`
	Slurm struct {
		Version struct {
			Major int `json:"major"`
			Micro int `json:"micro"`
			Minor int `json:"minor"`
		} `json:"version"`
		Release string `json:"release"`
	} `json:"Slurm"`
}

func newHead() (h jsonHead) {
	h.Plugin.Type, h.Plugin.Name = "openapi/v0.0.38", "Slurm OpenAPI v0.0.38"
	h.Slurm.Version.Major, h.Slurm.Version.Minor, h.Slurm.Version.Micro = 22, 5, 8
	h.Slurm.Release = "22.05.8"
	return h
}

// jobsJSON writes jobs in the form of --json. Numbers that an array element or a planned start lacks are 0.
func jobsJSON(c *fronts.Call, rows []*queued) error {
	jobs := make([]map[string]any, len(rows))
	for i, q := range rows {
		array, task := 0, any(nil)
		if q.Array != 0 {
			array, task = int(q.Array), q.Index
		}
		group, gid := group(q.people, q.UID)
		jobs[i] = map[string]any{
			"account": q.Account, "array_job_id": array, "array_task_id": task, "array_max_tasks": q.Limit,
			"array_task_string": "",
			"cpus":              q.Cores, "dependency": emptyIfNull(q.after()), "end_time": unix(q.End),
			"exit_code": exitStatus(q.Job), "eligible_time": unix(later(q.Submit, q.Begin)),
			"features": emptyIfNull(orNull(joined(q.Features))), "job_id": q.ID,
			"job_resources": map[string]any{"nodes": fold(q.Nodes), "allocated_cpus": q.Cores},
			"job_state":     long(q.Job), "name": q.Name, "nodes": fold(q.Nodes), "node_count": q.nodeCount(),
			"tasks": q.Tasks, "partition": q.partition(),
			"priority": q.Priority, "qos": q.Class, "resv_name": q.Reservation, "requeue": q.Requeue,
			"restart_cnt": max(q.Attempt-1, 0), "start_time": unix(q.Start),
			"state_reason": reason(q.Job), "submit_time": unix(q.Submit), "time_limit": int64(q.Walltime / time.Minute),
			"user_id": q.UID, "group_id": json.Number(gid), "group_name": group, "user_name": q.User,
			"current_working_directory": q.detail().Dir, "standard_output": q.detail().Out,
			"standard_error": q.detail().Err, "memory_per_node": (q.NodeMem + 1023) / 1024,
		}
	}
	return writeJSON(c, map[string]any{"meta": newHead(), "errors": []string{}, "jobs": jobs})
}

func writeJSON(c *fronts.Call, v any) error {
	text, err := bytejson.MarshalIndent(v, "  ")
	if err == nil {
		_, err = c.Stdout.Write(append(text, '\n'))
	}
	return err
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func emptyIfNull(s string) string {
	if s == "(null)" {
		return ""
	}
	return s
}

func joined(list []string) (text string) {
	for i, s := range list {
		if i > 0 {
			text += "&"
		}
		text += s
	}
	return text
}

// exitStatus returns how a job ended, as wait(2) does.
func exitStatus(j *fronts.Job) int {
	code := exitCode(j)
	for i := range code {
		if code[i] == ':' {
			status, _ := strconv.Atoi(code[:i])
			signal, _ := strconv.Atoi(code[i+1:])
			return status<<8 | signal
		}
	}
	return 0
}
