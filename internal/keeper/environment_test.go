package keeper

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
)

// testSite has an account of which nothing is known.
var testSite = Site{Database: "/db", Account: func() []string { return nil }}

// orderOf makes an order with a value for each variable.
func orderOf(compat string) *Order {
	at := time.Unix(1764000000, 0)
	return &Order{Key: Key{14, 3}, Name: "solve", User: "ann", Queue: "workq", Partition: "workq", Class: "gold",
		Account: "lab", Reservation: "mon",
		Array: &Array{Number: 10, Index: 4, Count: 5, Least: 0, Greatest: 8, Step: 2},
		Nodes: []string{"n1", "n2", "n3"},
		Chunks: []Chunk{{Node: "n1", Cores: 2, Processes: 2, Threads: 1, GPUs: 1},
			{Node: "n2", Cores: 2, Processes: 2, Threads: 1, GPUs: 1},
			{Node: "n3", Cores: 1}, {Node: "n1", Cores: 2, Processes: 2, Threads: 1, GPUs: 1}},
		Walltime: time.Hour, Start: at, End: at.Add(time.Hour),
		DeviceEnv:  []string{"PLACECTL_DEVICES=ngpus=0,3;ncpus=0-7", "CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"},
		DeviceFile: []string{"n1 ngpus=0,3"},
		Server:     "placectl", Cluster: "lab",
		Payload: &engine.Payload{Owner: &engine.Submitter{Host: "login"}, Dir: "/work", Compat: compat,
			Env: []string{"HOME=/home/ann", "PATH=/bin", "SHELL=/bin/bash", "LOGNAME=ann", "LANG=C", "MAIL=/m",
				"TZ=UTC", "I_MPI_HYDRA_BOOTSTRAP=mine"},
			Variables: []string{"SLURM_CPUS_PER_TASK=2", "SLURM_MEM_PER_NODE=4", "SLURM_MEM_PER_CPU=2"}}}
}

// expected is the result of each row of testdata/environment.tsv for that order.
var expected = map[string]string{
	"PBS_ENVIRONMENT": "PBS_ENVIRONMENT=PBS_BATCH",
	"PBS_JOBID":       "PBS_JOBID=10[4].placectl",
	"PBS_JOBNAME":     "PBS_JOBNAME=solve",
	"PBS_QUEUE":       "PBS_QUEUE=workq",
	"PBS_ACCOUNT":     "PBS_ACCOUNT=lab",
	"PBS_NODEFILE":    "PBS_NODEFILE=/state/14.3/processes",
	"PBS_JOBDIR":      "PBS_JOBDIR=/work",
	"PBS_O_WORKDIR":   "PBS_O_WORKDIR=/work",
	"PBS_O_HOST":      "PBS_O_HOST=login",
	"PBS_O_HOME PBS_O_PATH PBS_O_SHELL PBS_O_LOGNAME PBS_O_LANG PBS_O_MAIL PBS_O_TZ PBS_O_QUEUE " +
		"PBS_O_SYSTEM": "PBS_O_HOME=/home/ann PBS_O_PATH=/bin PBS_O_SHELL=/bin/bash PBS_O_LOGNAME=ann PBS_O_LANG=C " +
		"PBS_O_MAIL=/m PBS_O_TZ=UTC PBS_O_QUEUE=workq PBS_O_SYSTEM=Linux",
	"PBS_ARRAY_ID":             "PBS_ARRAY_ID=10[].placectl",
	"PBS_ARRAY_INDEX":          "PBS_ARRAY_INDEX=4",
	"PBS_ARRAYID":              "PBS_ARRAYID=4",
	"PBS_NODENUM PBS_TASKNUM":  "PBS_NODENUM=0 PBS_TASKNUM=1",
	"NCPUS OMP_NUM_THREADS":    "NCPUS=2 OMP_NUM_THREADS=1",
	"SLURM_JOB_ID SLURM_JOBID": "SLURM_JOB_ID=14 SLURM_JOBID=14",
	"SLURM_JOB_NAME SLURM_JOB_ACCOUNT SLURM_JOB_PARTITION SLURM_JOB_QOS SLURM_JOB_RESERVATION " +
		"SLURM_JOB_USER": "SLURM_JOB_NAME=solve SLURM_JOB_ACCOUNT=lab SLURM_JOB_PARTITION=workq SLURM_JOB_QOS=gold " +
		"SLURM_JOB_RESERVATION=mon SLURM_JOB_USER=ann",
	"SLURM_JOB_NODELIST SLURM_NODELIST":            "SLURM_JOB_NODELIST=n[1-3] SLURM_NODELIST=n[1-3]",
	"SLURM_JOB_NUM_NODES SLURM_NNODES":             "SLURM_JOB_NUM_NODES=3 SLURM_NNODES=3",
	"SLURM_NTASKS SLURM_NPROCS":                    "SLURM_NTASKS=7 SLURM_NPROCS=7",
	"SLURM_TASKS_PER_NODE SLURM_JOB_CPUS_PER_NODE": "SLURM_TASKS_PER_NODE=4,2,1 SLURM_JOB_CPUS_PER_NODE=4,2,1",
	"SLURM_CPUS_ON_NODE":                           "SLURM_CPUS_ON_NODE=4",
	"SLURM_CPUS_PER_TASK":                          "SLURM_CPUS_PER_TASK=2",
	"SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU":         "SLURM_MEM_PER_NODE=4 SLURM_MEM_PER_CPU=2",
	"SLURM_SUBMIT_DIR SLURM_SUBMIT_HOST":           "SLURM_SUBMIT_DIR=/work SLURM_SUBMIT_HOST=login",
	"SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX " +
		"SLURM_ARRAY_TASK_STEP": "SLURM_ARRAY_JOB_ID=10 SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=5 " +
		"SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=2",
	"SLURM_RESTART_COUNT": "SLURM_RESTART_COUNT=2",
	"SLURM_JOB_START_TIME " +
		"SLURM_JOB_END_TIME": "SLURM_JOB_START_TIME=1764000000 SLURM_JOB_END_TIME=1764003600",
	"SLURM_JOB_GPUS " +
		"SLURM_GPUS_ON_NODE": "SLURM_JOB_GPUS=0,3 SLURM_GPUS_ON_NODE=2",
	"SLURM_CLUSTER_NAME": "SLURM_CLUSTER_NAME=lab",
	"SLURM_NODEID SLURM_PROCID SLURM_LOCALID " +
		"SLURM_GTIDS": "SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_GTIDS=0",
	"SLURM_TASK_PID SLURMD_NODENAME": "SLURMD_NODENAME=n1", // the pid is the gate's: TestTaskPID
	"OMPI_MCA_plm=rsh PRTE_MCA_plm=ssh I_MPI_HYDRA_BOOTSTRAP=ssh " +
		"HYDRA_BOOTSTRAP=ssh": "OMPI_MCA_plm=rsh PRTE_MCA_plm=ssh I_MPI_HYDRA_BOOTSTRAP=mine HYDRA_BOOTSTRAP=ssh",
	"SLURM_STEP_* SLURM_SRUN_* SLURM_CONF PBS_JOBCOOKIE PBS_MOMPORT": "",
}

// TestEnvironmentRows: each row of the table of variables has its result, and only with directives of its
// kind.
func TestEnvironmentRows(t *testing.T) {
	text, err := os.ReadFile("testdata/environment.tsv")
	if err != nil {
		t.Fatal(err)
	}
	envs := map[string][]string{}
	for _, compat := range []string{"", "pbs", "slurm"} {
		envs[compat] = orderOf(compat).environment(&testSite, "/state/14.3", engine.Nonce{})
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		row, _, _ := strings.Cut(line, "\t")
		if row == "variable" {
			continue
		}
		rows++
		want, ok := expected[row]
		if !ok {
			t.Errorf("expected has nothing for the row %q", row)
		}
		for _, kv := range strings.Fields(want) {
			name, _, _ := strings.Cut(kv, "=")
			for compat, env := range envs {
				theirs := strings.HasPrefix(name, "PBS_") && compat == "pbs" || strings.HasPrefix(name, "SLURM") &&
					compat == "slurm" ||
					(name == "NCPUS" || name == "OMP_NUM_THREADS") && compat == "pbs" ||
					strings.Contains(row, "OMPI") && (compat != "" || name == "I_MPI_HYDRA_BOOTSTRAP")
				if slices.Contains(env, kv) != theirs {
					t.Errorf("compat %q: %s is set: %v, want %v", compat, kv, !theirs, theirs)
				}
			}
		}
		if want == "" {
			for compat, env := range envs {
				for _, kv := range env {
					for name := range strings.FieldsSeq(row) {
						if prefix, all := strings.CutSuffix(name, "*"); strings.HasPrefix(kv, prefix) && all ||
							strings.HasPrefix(kv, name+"=") {
							t.Errorf("compat %q: %s", compat, kv)
						}
					}
				}
			}
		}
	}
	if rows != len(expected) {
		t.Errorf("the table has %d rows, expected has %d", rows, len(expected))
	}
}

// TestEnvironment: the environment of a job without directives of PBS or Slurm.
func TestEnvironment(t *testing.T) {
	o := orderOf("")
	o.Payload.Env = append(o.Payload.Env, "TMPDIR=/mine", "CUDA_VISIBLE_DEVICES=all", "MINE=1")
	env := o.environment(&testSite, "/state/14.3", engine.Nonce{1})
	want := []string{"HOME=/home/ann", "PATH=/bin", "SHELL=/bin/bash", "LOGNAME=ann", "LANG=C", "MAIL=/m", "TZ=UTC",
		"I_MPI_HYDRA_BOOTSTRAP=mine", "MINE=1",
		"PLACECTL_DB=/db", "PLACECTL_JOB=14", "PLACECTL_ATTEMPT=3", "PLACECTL_TOKEN=01000000000000000000000000000000",
		"PLACECTL_NAME=solve", "PLACECTL_USER=ann",
		"PLACECTL_QUEUE=workq", "PLACECTL_CLASS=gold", "PLACECTL_ACCOUNT=lab", "PLACECTL_NODELIST=n[1-3]",
		"PLACECTL_ELSEWHERE=/state/14.3/elsewhere", "PLACECTL_NODEFILE=/state/14.3/nodes",
		"PLACECTL_WALLTIME=3600", "PLACECTL_END=1764003600", "PLACECTL_SUBMIT_DIR=/work", "PLACECTL_SUBMIT_HOST=login",
		"PLACECTL_ARRAY=10", "PLACECTL_INDEX=4",
		"PLACECTL_DEVICES=ngpus=0,3;ncpus=0-7", "PLACECTL_DEVICEFILE=/state/14.3/devices",
		"CUDA_VISIBLE_DEVICES=GPU-a,GPU-b", "TMPDIR=/state/14.3/tmp", "PWD=/work"}
	slices.Sort(env)
	slices.Sort(want)
	for _, kv := range env {
		if !slices.Contains(want, kv) {
			t.Error("not expected:", kv)
		}
	}
	for _, kv := range want {
		if !slices.Contains(env, kv) {
			t.Error("missing:", kv)
		}
	}
}

// TestAccount: a job finds the variables of its account if it brings none. Its own are kept.
func TestAccount(t *testing.T) {
	account := func() []string { return environ.Account("ann", "/home/ann", "") }
	o := orderOf("pbs")
	o.Payload.Env = []string{"HOME=/mine"}
	env := o.environment(&Site{Account: account}, "/state/14.3", engine.Nonce{1})
	for _, kv := range []string{"HOME=/mine", "USER=ann", "LOGNAME=ann", "SHELL=/bin/sh", "PATH=" + environ.DefaultPath,
		"PBS_O_LOGNAME=ann"} {
		if !slices.Contains(env, kv) {
			t.Errorf("missing: %s", kv)
		}
	}
	if slices.Contains(env, "HOME=/home/ann") {
		t.Error("the account's HOME replaces the job's own")
	}
}

// TestProcesses: PBS_NODEFILE has a line for each process, ours one for each chunk.
func TestProcesses(t *testing.T) {
	if got, want := orderOf("pbs").processes(), "n1\nn1\nn2\nn2\nn3\nn1\nn1\n"; got != want {
		t.Errorf("processes() = %q, want %q", got, want)
	}
}

// TestTaskPID: a job of Slurm gets its own pid.
func TestTaskPID(t *testing.T) {
	s := newSite(t)
	k := s.job(`[ "$SLURM_TASK_PID" = $$ ]`, func(o *Order) { o.Payload.Compat = "slurm" })
	if r := s.supervise(k).Result; r.Outcome != engine.OutcomeExited || r.Exit != 0 {
		t.Errorf("SLURM_TASK_PID is not the pid: outcome %d, exit %d", r.Outcome, r.Exit)
	}
}

// TestScriptWords: a script is run with the interpreter given at submission, or by its first line, or by sh.
func TestScriptWords(t *testing.T) {
	for _, c := range []struct{ script, interpreter, want string }{
		{"echo hello\n", "", "/bin/sh|S"},
		{"#!/bin/bash\n", "", "/bin/bash|S"},
		{"#! /usr/bin/env  python3 -u\r\nx", "", "/usr/bin/env|python3 -u|S"},
		{"#!\t/bin/awk\t-f \n", "", "/bin/awk|-f|S"},
		{"#!/bin/bash", "/bin/csh -f", "/bin/csh|-f|S"},
		{"#!\n", "", "/bin/sh|S"},
	} {
		o := &Order{Payload: &engine.Payload{Script: c.script, Interpreter: c.interpreter}}
		if got := strings.Join(ScriptWords(o.Payload, "S", o.Command), "|"); got != c.want {
			t.Errorf("ScriptWords of %q = %s, want %s", c.script, got, c.want)
		}
	}
}
