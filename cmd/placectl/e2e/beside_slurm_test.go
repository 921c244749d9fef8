package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// besideSlurm are scripts that print the same here and with Slurm 22.05. J is the number of a job that sbatch
// printed: it becomes J in what is compared. Known differences are left out: a job whose dependency cannot be met is
// cancelled here, scontrol shows each job of an array that waits, and does not requeue what has ended.
var besideSlurm = []struct{ name, script string }{
	{"submits", `sbatch --wrap true | tr -s 0-9 N`},
	{"parsable", `sbatch --parsable --wrap true | tr -s 0-9 N`},
	{"waits for a failure", `sbatch -W --wrap 'exit 3' >/dev/null; echo $?`},
	{"waits for an array",
		`sbatch -W --array=0-2 --wrap 'exit $((SLURM_ARRAY_TASK_ID == 1 ? 4 : 0))' >/dev/null; echo $?`},
	{"warns before the first line", "printf '#!/bin/sh\\ntrap \"echo warned\" USR1\\nsleep 2 & wait\\nsleep 1\\n' " +
		">j.sh; sbatch -W -o out -t 1 --signal=B:USR1@600 j.sh >/dev/null; echo $?"},
	{"variables",
		`sbatch -W -J one -n 2 -c 2 -o out --wrap 'echo $SLURM_JOB_NAME $SLURM_NTASKS $SLURM_CPUS_PER_TASK $SLURM_JOB_NUM_NODES $SLURM_JOB_NODELIST; [ "$PWD" = "$SLURM_SUBMIT_DIR" ]' >/dev/null; echo $?; cat out`},
	{"variables of an array",
		`J=$(sbatch -W --parsable --array=2-4:2 -o out-%A_%a --wrap 'echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_STEP'); ls; cat out-*`},
	{"no environment", `X=1 sbatch -W --export=NONE -o out --wrap 'echo ${X-none} $USER $HOME' >/dev/null; cat out`},
	{"a job that was held",
		`J=$(sbatch --parsable -H --wrap true); squeue -h -j $J -o '%i %T %r %l %D %C'; scontrol hold $J; scontrol release $J; echo $?`},
	{"an array that waits", `J=$(sbatch --parsable -H --array=0-8:2 --wrap true); squeue -h -j $J -o '%i %T %K %F'`},
	{"ranges of an array that waits",
		`J=$(sbatch --parsable -H --array=1,3,5-7%2 --wrap true); squeue -h -j $J -o %i; squeue -h -r -j $J -o %i`},
	{"a start at a time", `J=$(sbatch --parsable --begin=now+1hour --wrap true); squeue -h -j $J -o '%T %r'`},
	{"a dependency that failed",
		`J=$(sbatch --parsable --array=0-1 -W --wrap 'exit $SLURM_ARRAY_TASK_ID'); K=$(sbatch --parsable -W --dependency=afternotok:$J --wrap true); echo $?`},
	{"a dependency of two",
		`J=$(sbatch --parsable -H --wrap true); K=$(sbatch --parsable --dependency=afterany:$J --wrap true); squeue -h -j $K -o '%T %r %E'`},
	{"cancels",
		`J=$(sbatch --parsable -H --wrap true); scancel $J; echo $?; scontrol show job $J | grep -o 'JobState=[A-Z]*'`},
	{"how a job ended",
		`J=$(sbatch --parsable -W --wrap 'exit 5'); scontrol show job $J | grep -o -e 'JobState=[A-Z]*' -e ' ExitCode=.*' -e Reason=[A-Za-z]*`},
	{"how a job was killed",
		`J=$(sbatch --parsable --wrap 'sleep 60'); sleep 3; scancel $J; sleep 3; scontrol show job $J | grep -o 'JobState=[A-Z]*'`},
	{"another time limit",
		`J=$(sbatch --parsable -H -t 10 --wrap true); scontrol update jobid=$J timelimit=1:00:00; squeue -h -j $J -o '%l %L'`},
	{"no such script", `sbatch nosuch.sh; echo $?`},
	{"a script of Windows", `printf '#!/bin/sh\r\ntrue\r\n' >j.sh; sbatch j.sh; echo $?`},
	{"a script without #!", `echo true >j.sh; sbatch j.sh; echo $?`},
	{"more than there is",
		`sbatch -n 100 --wrap true | tr -d 0-9; echo ${PIPESTATUS[0]}; sbatch -N 2 --wrap true | tr -d 0-9; echo ${PIPESTATUS[0]}`},
	{"a bad time", `sbatch -t abc --wrap true 2>&1 | head -n 1; echo ${PIPESTATUS[0]}`},
	{"a bad array", `sbatch --array=a --wrap true; echo $?`},
	{"cancels no job", `scancel 999999; echo $?`},
	{"shows no job", `scontrol show job 999999; echo $?; squeue -h -j 999999; echo $?`},
	{"a bad state", `squeue -t BAD 2>&1 | head -n 1; echo ${PIPESTATUS[0]}`},
	{"names of hosts", `scontrol show hostnames 'n[1-3,5]'; scontrol show hostlist n1,n2,n3`},
	{"srun",
		`srun sh -c 'echo $SLURM_PROCID; exit 7' 2>/dev/null; echo $?; srun -n 2 sh -c 'echo $SLURM_NTASKS' 2>/dev/null`},
	{"an array of one at a time",
		`J=$(sbatch --parsable -H --array=0-3%1 --wrap true); squeue -h -j $J -o %i; scontrol show job $J | grep -o 'ArrayTaskThrottle=[0-9]*' | sort -u`},
}

// TestBesideSlurm compares what sbatch, squeue, scontrol, scancel and srun print and end with to what a real
// Slurm 22.05 does, if it is installed (apt-get install slurmctld slurmd slurm-client).
func TestBesideSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	conf := realSlurm(t)
	for _, row := range besideSlurm {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			// The script names its job in a file, so that its number can be told from other numbers.
			script := "{ " + row.script + "\n}; echo \"$J\" >../J\n"
			real, ours := exec.Command("timeout", "60", "bash", "-c", script),
				exec.Command("timeout", "60", "bash", "-c", script)
			real.Dir = besideDir(t)
			real.Env = []string{"PATH=/usr/bin:/bin", "SLURM_CONF=" + conf, "HOME=/root", "USER=root", "LOGNAME=root",
				"TZ=UTC", "PWD=" + real.Dir}
			ours.Dir = besideDir(t)
			db := filepath.Join(filepath.Dir(ours.Dir), "c.db")
			ours.Env = append(os.Environ(), "PLACECTL_DB="+db, "TZ=UTC", "HOME=/root", "USER=root", "LOGNAME=root",
				"PWD="+ours.Dir,
				"PLACECTL_STATE="+filepath.Join(filepath.Dir(ours.Dir), "state"))
			make := exec.Command("bash", "-c", "placectl init -q --set start=auto && placectl node add \"$(hostname "+
				"-s)\" ncpus=8 mem=16000mb -q && "+
				"placectl submit --hold --array 999 -q -- true && placectl cancel 1 -q")
			make.Dir, make.Env = ours.Dir, ours.Env
			if out, err := make.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want, got := besideOutput(t, real), besideOutput(t, ours)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -Slurm +ours\n%s", row.script, diff)
			}
		})
	}
}

func besideDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// besideOutput runs a script, and returns what it prints.
func besideOutput(t *testing.T, cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	job, _ := os.ReadFile(filepath.Join(filepath.Dir(cmd.Dir), "J"))
	if j := strings.TrimSpace(string(job)); j != "" { // a number above 1000
		return strings.ReplaceAll(string(out), j, "J")
	}
	return string(out)
}

// realSlurm starts a Slurm of one node on the loopback interface, and returns its configuration.
func realSlurm(t *testing.T) string {
	for _, program := range []string{"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"} {
		if _, err := os.Stat(program); err != nil {
			t.Skip("there is no Slurm here: apt-get install slurmctld slurmd slurm-client")
		}
	}
	if out, err := exec.Command("/usr/sbin/slurmctld", "-V").Output(); err != nil ||
		!strings.HasPrefix(string(out), "slurm-wlm 22.05") {
		t.Skipf("this is not Slurm 22.05, which the answers are compared with: %s", out)
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmd needs root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	// not asked for by package net, with which the program would need libc
	dir, port := t.TempDir(), 20000+rand.IntN(10000)
	text := fmt.Sprintf(`ClusterName=beside
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%d
SlurmdPort=%d
SlurmUser=root
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.pid
SlurmdParameters=config_overrides
FirstJobId=1001
KillWait=2
NodeName=%[4]s NodeAddr=127.0.0.1 CPUs=8 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=%[4]s Default=YES MaxTime=INFINITE DefaultTime=60 State=UP OverSubscribe=NO
`, port, port+1, dir, host)
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"slurmctld", "slurmd"} {
		daemon := exec.Command("/usr/sbin/"+program, "-D", "-f", conf)
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = daemon.Process.Signal(os.Interrupt)
			_ = daemon.Wait()
		})
	}
	for range 100 {
		ask := exec.Command("/usr/bin/sinfo", "-h", "-o", "%T")
		ask.Env = []string{"SLURM_CONF=" + conf}
		if out, err := ask.Output(); err == nil && string(out) == "idle\n" {
			return conf
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skip("Slurm does not come up here")
	return ""
}
