package directives

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// check reads a script and compares the whole result.
func check(t *testing.T, what, script string, o Options, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, append([]string(nil), told(t, "job", []byte(script), o)...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", what, script, diff)
	}
}

// TestTraps: options that look alike in two of the three dialects, but differ.
func TestTraps(t *testing.T) {
	o := testOptions(t)
	for _, c := range []struct {
		script string
		want   []string
	}{
		{"#SBATCH --time=30", []string{"--walltime=0:30:00"}},
		{"#SBATCH --time=1-0", []string{"--walltime=24:00:00"}},
		{"#SBATCH --time=30:00", []string{"--walltime=0:30:00"}},
		{"#PBS -l walltime=30", []string{"--walltime=0:00:30"}},
		{"#SBATCH --mem=4", []string{"--select=1:ncpus=1:mem=4mb", "SLURM_MEM_PER_NODE=4",
			"means: 1:ncpus=1:mem=4mb free"}},
		{"#SBATCH -n 8 -c 2", []string{"--select=8:ncpus=2", "SLURM_CPUS_PER_TASK=2", "means: 8:ncpus=2 free"}},
		{"#SBATCH -n 8 -c 2 -N 2", []string{"--select=2:ncpus=8:mpiprocs=4", "--place=scatter", "SLURM_CPUS_PER_TASK=2",
			"means: 2:ncpus=8:mpiprocs=4 scatter"}},
		{"#SBATCH -o %t", []string{"--out=0"}}, // with us %t is the attempt
		{"#SBATCH -o %s/%J", []string{"--out=batch/%j"}},
		{"#PBS -o %t", []string{"--out=%%t"}},
		{"#PBS -J 0-3", []string{"--array=0-3"}},
		{"#SBATCH -J 0-3", []string{"--name=0-3"}},
		{"#SBATCH --array=5", []string{"--array=5-5"}},
		{"#placectl --array 5", []string{"--array=5"}},
		{"#PBS -o a -j oe", []string{"--out=a"}},
		{"#SBATCH -o a", []string{"--out=a"}},
		{"#placectl -o a", []string{"refused: job, line 1, column 11: -o: it belongs on the command line, not " +
			"into the script"}},
		{"#PBS -l nodes=2:ppn=4", []string{"--select=nodes=2:ppn=4", "means: 2:ncpus=4:mpiprocs=4 scatter"}},
		{"#PBS -W depend=afterok:12:13", []string{"--afterok=12", "--afterok=13"}},
		{"#SBATCH -d afterok:12?afterany:13",
			[]string{"refused: job, line 1, column 9: -d: ? (or) is not supported: a job waits for all its " +
				"dependencies"}},
		{"#PBS -a 202611301800", []string{"--begin=2026-11-30T17:00:00Z"}},
		{"#PBS -p 1023", []string{"--priority=1023"}},
		{"#PBS -p -1025",
			[]string{`refused: job, line 1, column 6: -p: "-1025" is not a whole number from -1024 to 1023`}},
		{"#SBATCH --nice=7", []string{"--priority=-7"}},
		{"#PBS -q long", []string{"--queue=long"}},
		{"#SBATCH -q long", []string{"--class=long"}},
		{"#PBS -p 7", []string{"--priority=7"}},
		{"#SBATCH -p gpu", []string{"--queue=gpu"}},
		{"#PBS -e a -N b -V", []string{"--err=a", "--name=b", "--export=all"}},
		{"#SBATCH -v -W", []string{"refused: job, line 1, column 12: -W: placectl wait"}},
	} {
		check(t, "trap", c.script, o, c.want...)
	}
}

// TestWhichLines: which lines are directives, and which of them count.
func TestWhichLines(t *testing.T) {
	o := testOptions(t)
	check(t, "no script", "", o)
	check(t, "comments and blank lines", "\xef\xbb\xbf#!/bin/sh\r\n\r\n  # x\n#SBATCH -J "+
		"a\r\n\t\n#SBATCH-H\n##SBATCH -n 4\n# SBATCH -n 4\n #SBATCH -n 4\n#SBATCHES -n 4\n#sbatch -n 4\n#SBATCH\n",
		o, "--name=a", "--hold")
	check(t, "other bytes", "#!/bin/sh\n# caf\xe9 \x00\n#SBATCH -J a\necho \xe9\n", o, "--name=a")
	check(t, "behind a command",
		"#PBS -N a\necho\n\ncat <<EOF\n#PBS: see below\n#PBS -l ncpus=4\n#PBS -l mem=4gb\nEOF\n",
		o, "--name=a", "note: job, line 6: #PBS: not read: it stands behind the first command")
	check(t, "both", "#SBATCH -J a\n#PBS -N b\n", o,
		"refused: job, line 2: the script has #PBS and #SBATCH lines: choose with --directives pbs, slurm or none")
	both := "#SBATCH -J a\n#PBS -N b\n#placectl --hold\n"
	for choice, want := range map[string][]string{"pbs": {"--name=b", "--hold"}, "slurm": {"--name=a", "--hold"},
		"none": {"--hold"}} {
		o.Choose = choice
		check(t, choice, both, o, want...)
	}
	o.Choose = "pbs"
	check(t, "none of the kind", "#SBATCH -J a\n", o)
	o.Choose = "lsf"
	check(t, "no kind", both, o, "refused: wrong usage: --directives: lsf is not one of pbs, slurm, none")
}

func TestFamily(t *testing.T) {
	for script, want := range map[string]Family{"#SBATCH -J a": Slurm, "#PBS -N a": PBS, "#placectl --name a": None,
		"#SBATCH\n": Slurm, "true\n#PBS -N a": None} {
		s, err := readString(script, testOptions(t))
		if err != nil || s.Family != want {
			t.Errorf("%q: family %q, %v, want %q", script, s.Family, err, want)
		}
	}
	for f, want := range map[Family]string{None: " ", PBS: " ", Slurm: "slurm-%j.out slurm-%A_%a.out"} {
		if got := f.DefaultOut(false) + " " + f.DefaultOut(true); got != want {
			t.Errorf("DefaultOut of %q = %q, want %q", f, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	o := testOptions(t)
	check(t, "quotes and a comment", "#SBATCH -J 'a b' --comment \"x # y\" # the rest\n", o, "--name=a b",
		"--comment=x # y")
	check(t, "an open quote", "#SBATCH -J 'a b\n", o,
		"refused: job, line 1: #SBATCH: the quote at column 5 is not closed")
	check(t, "a backquote", "#SBATCH -J \"a`date`\"\n", o, "refused: job, line 1, column 14: -J: ` is not expanded "+
		"in such a line: in single quotes it stands for itself, and names of files have %j, %x and others")
	check(t, "one in single quotes", "#SBATCH -J 'a$b'\n#SBATCH -D a\\$b\n", o, "--name=a$b", "--chdir=a$b")
	check(t, "a control character", "#SBATCH -J 'a\x1b[2J'\n", o,
		`refused: job, line 1, column 12: -J: "a\x1b[2J" cannot be printed`)
	check(t, "other bytes", "#SBATCH -J \xff\n", o, "--name=\xff")
	check(t, "letters of two bytes", "#SBATCH -J é --gid x\n", o,
		"refused: job, line 1, column 14: --gid: a job runs as who submits it")
	check(t, "no option", "#SBATCH -n 4 tasks\n#PBS\n", Options{Choose: "slurm"},
		`refused: job, line 1, column 14: #SBATCH: "tasks" is no option: the line has options of sbatch alone`)
	check(t, "no option", "#PBS -l ncpus=4 tasks --\n", o,
		`refused: job, line 1, column 17: #PBS: "tasks" is no option: the line has options of qsub alone`,
		`refused: job, line 1, column 23: #PBS: "--" is no option: the line has options of qsub alone`)
	check(t, "several in one word", "#SBATCH -HQn4 -Jx\n", o, "--hold", "--select=4:ncpus=1", "--name=x",
		"means: 4:ncpus=1 free", "note: job, line 1, column 9: -Q: ignored: it changes nothing here")
	check(t, "short for one", "#SBATCH --mem-per-c 4 --part=x --cpus-per-t=2 --exclus\n", o, "--queue=x",
		"--select=1:ncpus=2:mem=8mb", "--place=scatter:excl", "SLURM_CPUS_PER_TASK=2", "SLURM_MEM_PER_CPU=4",
		"means: 1:ncpus=2:mem=8mb scatter:excl")
	check(t, "a value where none is", "#SBATCH --hold=yes\n", o,
		"refused: job, line 1, column 9: --hold: it has no value")
	check(t, "no value", "#SBATCH --job-name\n#SBATCH -n\n#SBATCH --job-name=\n", o,
		"refused: job, line 1, column 9: --job-name: it needs a value",
		"refused: job, line 2, column 9: -n: it needs a value",
		"refused: job, line 3, column 9: --job-name: it needs a value")
	check(t, "attached alone", "#SBATCH --nice 5\n", o,
		`refused: job, line 1, column 16: #SBATCH: "5" is no option: the line has options of sbatch alone`)
}

// TestUnknown: all errors are reported. On request an unknown option becomes a note, and its value is
// skipped. What is refused stays refused.
func TestUnknown(t *testing.T) {
	o := testOptions(t)
	script := "#SBATCH --time-limit 4 -n 8\n#SBATCH -Z x -H\n#SBATCH --ntask=2 --jobname=a\n#SBATCH --bogus\n"
	check(t, "strict", script, o,
		"refused: job, line 1, column 9: --time-limit: there is no such option; did you mean time-min?",
		"refused: job, line 2, column 9: -Z: there is no such option",
		"refused: job, line 3, column 9: --ntask: it is short for --ntasks, --ntasks-per-node, --ntasks-per-core, "+
			"--ntasks-per-gpu or --ntasks-per-socket",
		"refused: job, line 3, column 19: --jobname: there is no such option; did you mean job-name?",
		"refused: job, line 4, column 9: --bogus: there is no such option")
	o.Lax = true
	check(t, "lax", strings.Replace(script, "--ntask=2 ", "", 1), o, "--select=8:ncpus=1", "--hold",
		"means: 8:ncpus=1 free",
		"note: job, line 1, column 9: --time-limit: left out: there is no such option; did you mean time-min?",
		"note: job, line 2, column 9: -Z: left out: there is no such option",
		"note: job, line 3, column 9: --jobname: left out: there is no such option; did you mean job-name?",
		"note: job, line 4, column 9: --bogus: left out: there is no such option")
	check(t, "refused all the same", "#SBATCH --bogus --wrap=x\n", o,
		"refused: job, line 1, column 17: --wrap: in a script there is nothing to wrap")
	check(t, "resources and attributes", "#PBS -l ncpus=2,pmem=4gb -W x=1,umask=7 -t 1-10\n", o, "--select=ncpus=2",
		"--umask=7", "means: 1:ncpus=2 free",
		"note: job, line 1, column 6: -l: left out: no resource \"pmem\"",
		"note: job, line 1, column 26: -W: left out: qsub has no attribute x",
		"note: job, line 1, column 41: -t: left out: an option of Torque's qsub: write -J 0-99 for an array")
	check(t, "our own", "#placectl --bogus x --hold\n#placectl --db=x\n", o, "refused: job, line 2, column 11: --db: "+
		"it belongs on the command line, not into the script")

	many := strings.Repeat("#SBATCH --bogus\n", maxErrors+5)
	if lines := told(t, "job", []byte(many), testOptions(t)); len(lines) != maxErrors+1 ||
		lines[maxErrors] != "refused: and 5 more" {
		t.Errorf("%d errors are reported, the last is %q", len(lines), lines[len(lines)-1])
	}
}

// TestLastWins: of several lines that set the same thing the last one counts, whatever its family.
func TestLastWins(t *testing.T) {
	o := testOptions(t)
	check(t, "a name", "#SBATCH -J a\n#placectl --name b\n", o, "--name=b")
	check(t, "a name", "#placectl --name b\n#SBATCH -J a\n", o, "--name=a")
	check(t, "a select of ours", "#SBATCH -n 4\n#placectl 2:ncpus=8\n", o, "--select=2:ncpus=8",
		"means: 2:ncpus=8 free")
	check(t, "one of theirs", "#SBATCH -c 4\n#placectl 2:ncpus=8\n#SBATCH -n 4\n", o, "--select=4:ncpus=4",
		"SLURM_CPUS_PER_TASK=4", "means: 4:ncpus=4 free")
	check(t, "a place of ours", "#SBATCH -N 2\n#placectl --place pack\n", o, "--select=2:ncpus=1", "--place=pack",
		"means: 2:ncpus=1 pack")
	check(t, "files", "#PBS -o a\n#placectl --out b\n", o, "--out=b")
	check(t, "files", "#placectl --out b\n#PBS -o a\n", o, "--out=a")
	check(t, "a resource", "#PBS -l ncpus=2,mem=1gb\n#PBS -l NCPUS=4\n", o, "--select=mem=1gb,NCPUS=4",
		"means: 1:mem=1gb:ncpus=4 pack")
	check(t, "a mail address", "#PBS -m e\n#PBS -m b\n", o, "--mail=begin")
	check(t, "in one line", "#SBATCH -J a -J b\n", o, "--name=b")
	check(t, "none any more", "#PBS -r n -h\n#placectl --hold=false\n#PBS -r y\n", o)
	check(t, "a list", "#placectl --after 1 --after 2\n#SBATCH -d after:2:3\n", o, "--after=1", "--after=2",
		"--after=3")
}

// TestZeroOptions: without a cluster nothing is declared, and no array fits.
func TestZeroOptions(t *testing.T) {
	var o Options
	check(t, "resources", "#PBS -l ncpus=2,a100=1\n", o, "refused: job, line 1, column 6: -l: no resource \"a100\"")
	check(t, "a class", "#SBATCH -q long\n", o, "note: job, line 1, column 9: -q: left out: there is no class long")
	check(t, "an array", "#SBATCH -a 1\n", o,
		`refused: job, line 1, column 9: -a: "1" is not an array: it has more than 0 jobs; write 100 (jobs), 0-99, 0-99:2 or 1,5,9-12, and %10 behind it for at most 10 at once`)
	check(t, "a file", "#SBATCH -F nodes.txt\n", o, "refused: job, line 1, column 9: -F: files of nodes are not "+
		"read: name the nodes with --nodelist")
	check(t, "a host", "#PBS -o n1:out\n", o, "refused: job, line 1, column 6: -o: n1 is another host: output is "+
		"written where the job runs, like its other files")
	check(t, "a flag", "#placectl --name x\n", o, "refused: job, line 1, column 11: --name: submit has no such flag")
	check(t, "a time", "#PBS -a 202611301800\n", o, "--begin=2026-11-30T18:00:00Z")
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		mine, host string
		is         bool
	}{
		{"n1", "n1", true}, {"n1.site.org", "N1", true}, {"n1", "n1.site.org", true},
		{"n1.site.org", "n1.other.org", false},
		{"n1", "n2", false}, {"n1", "localhost", true}, {"n1", "", false}, {"", "", false},
	} {
		r := &reader{o: Options{Host: c.mine}}
		if r.isHere(c.host) != c.is {
			t.Errorf("isHere(%s) at %s = %v, want %v", c.host, c.mine, !c.is, c.is)
		}
	}
}
