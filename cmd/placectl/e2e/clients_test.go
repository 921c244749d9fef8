package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	withClients = flag.Bool("clients", false, "run what Debian packages of workflow managers and MPI there are on "+
		"both front-ends: they are fetched, and unpacked")
	clientsFolder = flag.String("clients-folder", "",
		"keep the packages in this `folder`, and use those that are there")
	jobqueue = flag.String("dask-jobqueue", "", "the `folder` of a checkout of dask-jobqueue, which is no package")
	submitit = flag.String("submitit", "", "the `folder` of a checkout of submitit, which is no package")
)

// clients are Debian's packages, unpacked but not installed.
type clients struct{ root string }

// unpacked fetches packages and their dependencies, once for all tests.
var unpacked = sync.OnceValues(func() (*clients, error) {
	dir := *clientsFolder
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "placectl-clients-"); err != nil {
			return nil, err
		}
	}
	c := &clients{filepath.Join(dir, "root")}
	names := []string{"snakemake", "toil", "python3-distributed", "python3-cloudpickle", "python3-typing-extensions",
		"mpich", "openmpi-bin", "libmpich-dev", "libopenmpi-dev", "prometheus-node-exporter"}
	if _, err := os.Stat(filepath.Join(dir, "whole")); err == nil {
		return c, nil
	}
	fetch := exec.Command("bash", "-c", `set -e -o pipefail; mkdir -p debs root; cd debs
apt-get install -y --no-install-recommends --reinstall -o Debug::NoLocking=1 --print-uris "$@" | awk "/^'/ { sub(/_.*/, \"\", \$2); print \$2 }" | sort -u >../names
xargs apt-get -q download <../names >../fetched 2>&1 || { cat ../fetched; exit 1; }
for p in *.deb; do dpkg -x "$p" ../root; done
touch ../whole`, "fetch")
	fetch.Args = append(fetch.Args, names...)
	fetch.Dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if out, err := fetch.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("packages cannot be had (%v): %s", err, bytes.TrimSpace(out))
	}
	return c, nil
})

// theClients returns the packages. It skips the test if they are not available.
func theClients(t *testing.T) *clients {
	t.Helper()
	if !*withClients {
		t.Skip("it fetches packages: -clients")
	}
	c, err := unpacked()
	if err != nil {
		t.Skip(err)
	}
	return c
}

// lab is a database of this machine, with a shell that has a front-end and the packages.
type lab struct {
	t    *testing.T
	c    *clients
	dir  string
	env  []string
	wait time.Duration
}

// newLab makes a lab with the commands of pbs or slurm first in PATH.
func newLab(t *testing.T, front string) *lab {
	c := theClients(t)
	dir := t.TempDir()
	l := &lab{t: t, c: c, dir: dir, wait: 4 * time.Minute}
	lib := filepath.Join(c.root, "usr/lib/x86_64-linux-gnu")
	for _, sub := range []string{"bin", "home"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.env = append(os.Environ(), "HOME="+dir+"/home", "USER=root", "LOGNAME=root", "PLACECTL_DB="+dir+"/c.db",
		"TMPDIR="+dir, "LANG=C.UTF-8",
		"PATH="+dir+"/bin:"+os.Getenv("PATH")+":"+filepath.Join(c.root, "usr/bin"),
		"PYTHONPATH="+filepath.Join(c.root, "usr/lib/python3/dist-packages"),
		"LD_LIBRARY_PATH="+strings.Join([]string{lib, lib + "/lapack", lib + "/blas"}, ":"), "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OPAL_PREFIX="+filepath.Join(c.root, "usr"))
	l.must(
		`placectl init -q --set state_dir=$HOME/state && placectl node add -q "$(hostname)" ncpus=64 mem=64gb && placectl install-frontends -q ` + front + ` bin`)
	t.Cleanup(func() {
		l.run("placectl cancel --now $(placectl query -o id \"SELECT job FROM jobs WHERE state IN ('running', " +
			"'queued')\")")
	}) //nolint:errcheck // there may be none
	return l
}

func (l *lab) run(script string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), l.wait)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = l.dir, l.env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (l *lab) must(script string) string {
	l.t.Helper()
	out, err := l.run(script)
	if err != nil {
		jobs, _ := l.run("placectl job list --all; placectl events --last 30")
		l.t.Fatalf("%s: %v\n%s\n%s", script, err, out, jobs)
	}
	return out
}

// file writes a file of the lab.
func (l *lab) file(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

// holds verifies the content of a file, except for blanks at its ends.
func (l *lab) holds(name, want string) {
	l.t.Helper()
	got, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil || strings.TrimSpace(string(got)) != want {
		l.t.Errorf("%s has %q, want %q (%v)", name, got, want, err)
	}
}

// snakefile has a number of steps and two more, one of which fails.
const snakefile = `rule all:
    input: "sum.txt"
rule part:
    output: "p{i}.txt"
    resources: mem_mb=100, runtime=5
    shell: "test '{wildcards.i}' != '%s' && echo {wildcards.i} > {output}"
rule sum:
    input: expand("p{i}.txt", i=range(%d))
    output: "sum.txt"
    resources: mem_mb=100, runtime=5
    shell: "cat {input} | awk '{{ s += $1 }} END {{ print s }}' > {output}"
`

// statusScripts are programs for --cluster-status, as sites write them.
var statusScripts = map[string]string{
	"slurm": `#!/bin/sh
case $(sacct -j "$1" -X -n -P -o State) in
COMPLETED) echo success ;;
PENDING | RUNNING | SUSPENDED) echo running ;;
*) echo failed ;;
esac
`,
	"pbs": `#!/bin/sh
text=$(qstat -x -f "$1") || { echo failed; exit; }
case $text in
*"job_state = F"*"Exit_status = 0"*) echo success ;;
*"job_state = F"*) echo failed ;;
*) echo running ;;
esac
`}

// TestClientsSnakemake: twelve steps run on both front-ends, with and without a program that reports on
// jobs, and with srun. A failed step is noticed.
func TestClientsSnakemake(t *testing.T) {
	submits := map[string]string{
		"slurm": "sbatch --parsable -n1 -t {resources.runtime} --mem={resources.mem_mb} -o %j.log",
		"pbs":   "qsub -l select=1:ncpus=1:mem={resources.mem_mb}mb -l walltime=00:05:00 -j oe"}
	for front, submit := range submits {
		for name, options := range map[string]string{
			"markers": "--cluster '" + submit + "'",
			"status":  "--cluster '" + submit + "' --cluster-status ./status.sh",
			"slurm":   "--slurm --default-resources",
		} {
			if name == "slurm" && front != "slurm" {
				continue
			}
			t.Run(front+"/"+name, func(t *testing.T) {
				l := newLab(t, front)
				l.file("status.sh", statusScripts[front])
				l.file("Snakefile", fmt.Sprintf(snakefile, "x", 10))
				l.wait = 15 * time.Minute // with --slurm it asks about three jobs in 100 s, whatever its settings
				command := "snakemake -j 10 --latency-wait 20 --nocolor " + options
				out := l.must(command)
				if !strings.Contains(out, "12 of 12 steps (100%) done") {
					t.Errorf("Snakemake has not done all 12 steps:\n%s", out)
				}
				l.holds("sum.txt", "45")
				if name == "markers" {
					return
				}
				l.file("Snakefile", fmt.Sprintf(snakefile, "1", 2))
				l.must("rm -f sum.txt p*.txt")
				if out, err := l.run(command + " --keep-going"); err == nil ||
					!strings.Contains(out, "Error executing rule part") && !strings.Contains(out,
						"Error in rule part") {
					t.Errorf("a step fails, but Snakemake ends with %v:\n%s", err, out)
				}
				if _, err := os.Stat(filepath.Join(l.dir, "sum.txt")); err == nil {
					t.Error("Snakemake goes on after a failed step")
				}
			})
		}
	}
}

// toilSort sorts a file in parts, each in a job of its own.
const toilSort = `import os, sys
from toil.common import Toil
from toil.job import Job

def part(job, numbers):
    if numbers == [666]:
        raise RuntimeError("this one fails")
    return sorted(numbers)

def merge(job, parts):
    return sorted(n for p in parts for n in p)

def begin(job, numbers):
    size = 3
    parts = [job.addChildJobFn(part, numbers[i:i + size], memory="100M", cores=1, disk="10M").rv() for i in range(0, len(numbers), size)]
    return job.addFollowOnJobFn(merge, parts, memory="100M", cores=1, disk="10M").rv()

if __name__ == "__main__":
    parser = Job.Runner.getDefaultArgumentParser()
    parser.add_argument("numbers")
    options = parser.parse_args()
    numbers = [int(n) for n in options.numbers.split(",")]
    with Toil(options) as toil:
        result = toil.start(Job.wrapJobFn(begin, numbers, memory="100M", cores=1, disk="10M"))
    print("sorted", *result)
`

// TestClientsToil: a sort in parts runs on both front-ends, and a failed part is noticed.
func TestClientsToil(t *testing.T) {
	for front, system := range map[string]string{"slurm": "slurm", "pbs": "torque"} {
		t.Run(front, func(t *testing.T) {
			l := newLab(t, front)
			l.file("sort.py", toilSort)
			command := "python3 sort.py ./store --batchSystem " + system + " --disableCaching --retryCount 0 " +
				"--statePollingWait 1 --defaultMemory 100M --defaultDisk 10M --maxLocalJobs 10 --workDir $TMPDIR "
			if out := l.must(command + "9,3,7,1,8,2,6,4,5 2>err || { cat err; exit 1; }"); !strings.Contains(out,
				"sorted 1 2 3 4 5 6 7 8 9\n") {
				t.Errorf("Toil has not sorted the numbers:\n%s", out)
			}
			if out, err := l.run("rm -rf store; " + command + "3,1,2,666 2>&1"); err == nil ||
				!strings.Contains(out, "this one fails") {
				t.Errorf("a part fails, but Toil ends with %v:\n%s", err, out)
			}
		})
	}
}

// TestClientsDask: workers of dask-jobqueue start as jobs of both front-ends, and add numbers.
func TestClientsDask(t *testing.T) {
	carries := map[string]string{"pbs": `, job_extra_directives=["-V"]`} // plain qsub does not carry PYTHONPATH
	for front, class := range map[string]string{"slurm": "SLURMCluster", "pbs": "PBSCluster"} {
		t.Run(front, func(t *testing.T) {
			l := newLab(t, front)
			if *jobqueue == "" {
				t.Skip("dask-jobqueue is no package of Debian: -dask-jobqueue FOLDER names a checkout")
			}
			l.file("sum.py", `import sys
from dask_jobqueue import `+class+`
from dask.distributed import Client
if __name__ == "__main__":
    with `+class+`(cores=2, memory="1GB", processes=1, walltime="00:10:00", interface="lo", local_directory=".", python=sys.executable, log_directory="logs"`+carries[front]+`) as cluster:
        cluster.scale(jobs=2)
        with Client(cluster) as client:
            client.wait_for_workers(2, timeout=120)
            print("sum", sum(client.gather(client.map(lambda n: n * n, range(100)))))
`)
			out := l.must("PYTHONPATH=$PYTHONPATH:" + *jobqueue +
				" python3 sum.py 2>err || { cat err logs/*; exit 1; }")
			if !strings.Contains(out, "sum 328350") {
				t.Errorf("the workers' sum is wrong or missing:\n%s", out)
			}
			for range 100 {
				if live := l.must(
					"placectl query -o id \"SELECT count(*) FROM jobs WHERE state IN ('running', 'queued')\""); strings.
					TrimSpace(live) == "0" {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
			t.Error("workers are left:\n" + l.must("placectl job list"))
		})
	}
}

const submititJobs = `import os, submitit, time

def square(x):
    return x * x

def bad():
    raise ValueError("this one fails")

class Saved:
    def __init__(self):
        self.starts = 0
    def __call__(self, folder):
        open(os.path.join(folder, "start%d" % self.starts), "w").close()
        if self.starts == 0:
            time.sleep(300)
        return self.starts
    def checkpoint(self, folder):
        self.starts += 1
        return submitit.helpers.DelayedSubmission(self, folder)

if __name__ == "__main__":
    ex = submitit.AutoExecutor(folder="logs", cluster="slurm")
    ex.update_parameters(timeout_min=5, cpus_per_task=1, mem_gb=0.1, name="squares")
    print("one", ex.submit(square, 7).result())
    print("array", *[j.result() for j in ex.map_array(square, range(5))])
    try:
        ex.submit(bad).result()
    except submitit.core.utils.FailedJobError as e:
        print("failed", "this one fails" in str(e))
    here = os.path.abspath(".")
    job = ex.submit(Saved(), here)
    while not os.path.exists("start0"):
        time.sleep(0.1)
    time.sleep(1)
    job._interrupt(timeout=False)
    print("again", job.result(), os.path.exists("start1"))
`

// TestClientsSubmitit: functions, an array, one that fails, and one that is interrupted, saves its state
// and goes on in another attempt.
func TestClientsSubmitit(t *testing.T) {
	l := newLab(t, "slurm")
	if *submitit == "" {
		t.Skip("submitit is no package of Debian: -submitit FOLDER names a checkout")
	}
	l.file("jobs.py", submititJobs)
	out := l.must("PYTHONPATH=$PYTHONPATH:" + *submitit + " python3 jobs.py 2>err || { cat err logs/*; exit 1; }")
	for _, want := range []string{"one 49\n", "array 0 1 4 9 16\n", "failed True\n", "again 1 True\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// ranks adds up the numbers of its ranks.
const ranks = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank, size, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rank++;
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 1) printf("%d ranks, sum %d\n", size, sum);
	MPI_Finalize();
	return 0;
}
`

// TestClientsMPI: two ranks of MPICH and Open MPI find each other in a job of either front-end.
func TestClientsMPI(t *testing.T) {
	for front, submit := range map[string]string{"slurm": "sbatch -n 2 -o out --wait job.sh",
		"pbs": "qsub -V -l select=2:ncpus=1:mpiprocs=1 -j oe -o out -W block=true job.sh"} {
		for mpi, link := range map[string]string{
			"mpich": "-I$R/usr/include/x86_64-linux-gnu/mpich -L$R/usr/lib/x86_64-linux-gnu -lmpich",
			"openmpi": "-I$R/usr/lib/x86_64-linux-gnu/openmpi/include -L$R/usr/lib/x86_64-linux-gnu/openmpi/lib " +
				"-L$R/usr/lib/x86_64-linux-gnu -Wl,--unresolved-symbols=ignore-in-shared-libs -lmpi",
		} {
			t.Run(front+"/"+mpi, func(t *testing.T) {
				l := newLab(t, front)
				l.file("ranks.c", ranks)
				if out, err := l.run("R=" + l.c.root + "; gcc -o ranks ranks.c " + link); err != nil {
					t.Skipf("it cannot be compiled here: %s", out)
				}
				l.file("job.sh", "#!/bin/sh\ncd "+l.dir+"\nmpiexec."+map[string]string{"mpich": "hydra",
					"openmpi": "openmpi --mca btl self,tcp --mca btl_tcp_if_include lo --mca pml ob1"}[mpi]+
					" -n 2 ./ranks\n")
				l.wait = time.Minute
				l.env = append(l.env, "PRTE_MCA_prte_tmpdir_base="+l.dir)
				if out, err := l.run(submit); err != nil {
					text, _ := os.ReadFile(filepath.Join(l.dir, "out"))
					t.Fatalf("the job fails: %v: %s\n%s", err, out, text)
				}
				text, _ := os.ReadFile(filepath.Join(l.dir, "out"))
				if !regexp.MustCompile(`(?m)^2 ranks, sum 3$`).Match(text) {
					t.Errorf("the two ranks have not found each other:\n%s", text)
				}
			})
		}
	}
}

// TestClientsExporter: node_exporter shows every family that metrics writes, without an error, and no
// counter decreases between two scrapes.
func TestClientsExporter(t *testing.T) {
	l := newLab(t, "slurm")
	l.must("placectl class set a=60 b=40 -q; placectl place 1:ncpus=1 -q && placectl release 1 -q; mkdir prom")
	exporter := exec.Command(filepath.Join(l.c.root, "usr/bin/prometheus-node-exporter"),
		"--collector.disable-defaults", "--collector.textfile",
		"--collector.textfile.directory="+filepath.Join(l.dir, "prom"), "--web.listen-address=127.0.0.1:0")
	said, err := exporter.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := exporter.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		exporter.Process.Kill() //nolint:errcheck // it ends the test
		exporter.Wait()         //nolint:errcheck // of what was killed
	}()
	address := ""
	var text []byte
	for buf := make([]byte, 4096); address == ""; {
		n, err := said.Read(buf)
		text = append(text, buf[:n]...)
		if m := regexp.MustCompile(`127\.0\.0\.1:[1-9][0-9]+`).Find(text); m != nil {
			address = string(m)
		} else if err != nil {
			t.Fatalf("node_exporter prints %s: %v", text, err)
		}
	}
	scrape := func() (families []string, counters map[string]string) {
		t.Helper()
		l.must("placectl metrics --out prom/placectl.prom")
		text := l.must("python3 -c 'import urllib.request; print(urllib.request.urlopen(\"http://" + address +
			"/metrics\").read().decode())'")
		if !strings.Contains(text, "\nnode_textfile_scrape_error 0\n") {
			t.Fatalf("node_exporter reports an error of the text file:\n%s", text)
		}
		counters = make(map[string]string)
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "# TYPE placectl_"); ok {
				name, _, _ := strings.Cut(rest, " ")
				families = append(families, name)
			}
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && strings.HasPrefix(line,
				"placectl_") && strings.Contains(name, "_total{") {
				counters[name] = value
			}
		}
		slices.Sort(families)
		return families, counters
	}
	families, before := scrape()
	want := []string{"class_share_ratio", "cycle_last_duration_seconds", "cycle_last_timestamp_seconds", "file_bytes",
		"file_free_bytes", "info", "job_wait_seconds", "jobs",
		"jobs_ended_total", "jobs_submitted_total", "nodes", "queue_oldest_seconds", "resource_capacity",
		"resource_reserved", "resource_used"}
	if !slices.Equal(families, want) {
		t.Errorf("node_exporter shows the families %v, want %v", families, want)
	}
	l.must("placectl place 1:ncpus=1 -q && placectl release 2 -q")
	_, after := scrape()
	grown := 0
	for name, value := range before {
		if after[name] < value {
			t.Errorf("the counter %s} went from %s to %s", name, value, after[name])
		} else if after[name] > value {
			grown++
		}
	}
	if grown != 2 {
		t.Errorf("only %d counters have grown: %v, %v", grown, before, after)
	}
}
