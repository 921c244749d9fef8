package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A fault makes one part of what is submitted fail. command stands for the part's command, flags for what submit needs
// besides. break does it while the parts are held; $part is the failing one.
type partFault struct{ name, command, flags, breaks string }

var partFaults = []partFault{
	{"exit status", "exit 3", "", ""},
	{"signal", "kill -9 $$", "", ""},
	{"no such program", "exec no-such-program", "", ""},
	{"no folder for its output", "true", "--out gone.%a/x", "rmdir gone.*2 gone.*0 2>/dev/null || true"},
	{"no working folder", "true", "--chdir gone.0", "rmdir gone.0"},
	{"cancelled", "true", "", "placectl cancel -q $part"},
	{"held", "true", "", "keep=$part"},
}

// partMakers submit held parts. They set $part to the failing one, $parts to all, and $all to what is asked about. F is
// replaced by the fault's command, G by its flags.
var partMakers = []struct{ name, script string }{
	{"one job", `part=$(placectl submit -q --hold -t 1m -o id G -- sh -c 'F'); parts=$part all=$part`},
	{"one of three", `
		a=$(placectl submit -q --hold -t 1m -o id --out /dev/null -- true)
		part=$(placectl submit -q --hold -t 1m -o id G -- sh -c 'F')
		c=$(placectl submit -q --hold -t 1m -o id --out /dev/null -- true)
		parts="$a $part $c" all="$a $part $c"`},
	{"array", `
		all=$(placectl submit -q --hold -t 1m --array 4 -o id G -- sh -c 'test $PLACECTL_INDEX != 2 || { F; }')
		part="$all[2]" parts="$all[0] $all[1] $all[2] $all[3]"`},
	{"each", `
		printf '%s\n' zero one two three >lines
		all=$(placectl submit -q --hold -t 1m --each lines -o id G -- sh -c 'test $PLACECTL_INDEX != 2 || { F; }')
		part="$all[2]" parts="$all[0] $all[1] $all[2] $all[3]"`},
	{"before an afterok", `
		part=$(placectl submit -q --hold -t 1m -o id G -- sh -c 'F'); parts=$part
		all=$(placectl submit -q -t 1m -o id --out /dev/null --afterok $part -- touch after)`},
	{"array before an afterok", `
		a=$(placectl submit -q --hold -t 1m --array 4 -o id G -- sh -c 'test $PLACECTL_INDEX != 2 || { F; }')
		part="$a[2]" parts="$a[0] $a[1] $a[2] $a[3]"
		all=$(placectl submit -q -t 1m -o id --out /dev/null --afterok $a -- touch after)`},
	{"before an afternotok", `
		part=$(placectl submit -q --hold -t 1m -o id G -- sh -c 'F')
		b=$(placectl submit -q -t 1m -o id --out /dev/null --afternotok $part -- true)
		parts=$part all="$part $b"`},
	{"tx", `
		cat >night.tx <<'END'
submit --hold -t 1m --out /dev/null -- true
submit --hold -t 1m --name part G -- sh -c 'F'
submit -t 1m --out /dev/null --name report --afterok part -- touch after
END
		placectl tx -q -f night.tx --key night >/dev/null; placectl tx -q -f night.tx --key night >/dev/null
		part=2 parts="1 2" all="1 2 3"`},
	{"tx of arrays", `
		cat >night.tx <<'END'
submit --hold -t 1m --array 4 --name part G -- sh -c 'test $PLACECTL_INDEX != 2 || { F; }'
submit -t 1m --out /dev/null --name report --afterok part -- touch after
submit -t 1m --out /dev/null --name alarm --afternotok report -- true
END
		placectl tx -q -f night.tx --key night
		part="1[2]" parts="1[0] 1[1] 1[2] 1[3]" all="1 6 7"`},
	{"sbatch", `
		printf '#!/bin/sh\n%s\n' 'F' >job.sh
		part=$(placectl slurm sbatch --parsable -H -t 1 S job.sh); parts=$part all=$part`},
	{"sbatch array", `
		printf '#!/bin/sh\ntest $SLURM_ARRAY_TASK_ID != 2 || { %s; }\n' 'F' >job.sh
		all=$(placectl slurm sbatch --parsable -H -t 1 --array=0-3 S job.sh)
		part="$all[2]" parts="$all[0] $all[1] $all[2] $all[3]"`},
	{"qsub", `
		printf '#!/bin/sh\n%s\n' 'F' >job.sh
		part=$(placectl pbs qsub -h -j oe -l walltime=60 P job.sh); part=${part%%.*} parts=${part%%.*} all=${part%%.*}`},
	{"qsub array", `
		printf '#!/bin/sh\ntest $PBS_ARRAY_INDEX != 2 || { %s; }\n' 'F' >job.sh
		all=$(placectl pbs qsub -h -j oe -l walltime=60 -J 0-3 P job.sh); all=${all%%[*}
		part="$all[2]" parts="$all[0] $all[1] $all[2] $all[3]"`},
	{"retried", `
		first=$(placectl submit -q -t 1m --hold -o id G -- sh -c 'F')
		placectl cancel -q $first; part=$(placectl retry -q -o id $first); parts= all=$part`},
}

// partAskers ask how it went. Each would be a success only if all had ended well; they are asked in this order.
var partAskers = []string{
	"placectl wait -q --timeout T",
	"setsid -w placectl wait -q --timeout T",
	"placectl tx -q -f night.tx --key night --wait --timeout T",
	"placectl wait -q $all --timeout T",
	"placectl wait -q $all --timeout T -o json",
	"placectl wait -q $part --timeout T",
	"timeout T placectl logs -f $part",
	"d=$(placectl submit -q -t 1m -o id --out /dev/null --afterok $(echo $all | tr ' ' ,) -- touch after) && " +
		"placectl wait -q $d --timeout T",
	"d=$(placectl slurm sbatch --parsable -t 1 -o /dev/null -d afterok:$(echo $all | tr ' ' :) --wrap 'touch after') " +
		"&& placectl wait -q $d --timeout T",
	"d=$(echo submit -t 1m --out /dev/null --afterok $(echo $all | tr ' ' ,) -- touch after | placectl tx -q -o id) " +
		"&& placectl wait -q $d --timeout T",
	"for j in $all; do placectl wait -q $j --timeout T || exit 1; done",
}

// TestNoFalseSuccess: where one part fails, is cancelled or held, no way to ask reports success, and nothing
// that depends on
// success runs.
func TestNoFalseSuccess(t *testing.T) {
	program := commandPath(t)
	random := seeded(t)
	type chosen struct{ maker, fault int }
	var list []chosen
	for m := range partMakers {
		for f := range partFaults {
			list = append(list, chosen{m, f})
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if !*long {
		list = list[:5]
	}
	for _, c := range list {
		maker, fault := partMakers[c.maker], partFaults[c.fault]
		if fault.name == "no working folder" && strings.Contains(maker.name, "qsub") {
			continue // it has no option for the folder
		}
		if maker.name == "retried" && fault.breaks != "" {
			continue // it may run at once
		}
		t.Run(maker.name+", "+fault.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, program)
			t.Cleanup(h.leaveNothing)
			h.run(falseSuccessScript(rand.New(rand.NewPCG(uint64(c.maker), uint64(c.fault))), maker.script, fault))
		})
	}
}

func falseSuccessScript(r *rand.Rand, maker string, fault partFault) string {
	flags := "--out /dev/null"
	slurm, pbs := "-o /dev/null", "-o /dev/null"
	if fault.flags != "" {
		flags = fault.flags
		slurm = strings.NewReplacer("--out", "-o", "--chdir", "-o /dev/null -D").Replace(flags)
		pbs = strings.NewReplacer("--out gone.%a/x", "-o gone.0/x").Replace(flags)
	}
	timeout := "30s"
	if fault.name == "held" {
		timeout = "2s"
	}
	script := strings.NewReplacer("F", fault.command, "G", flags, " S ", " "+slurm+" ", " P ", " "+pbs+" ").Replace(
		maker)
	var b strings.Builder
	fmt.Fprintf(&b, `
unset `+testUser+`
placectl init -q --local --set state_dir=$HOME/state
placectl node set $(hostname) -q ncpus=
placectl node set $(hostname) -q ncpus=4
mkdir gone.0 gone.1 gone.2 gone.3 gone.%%a 2>/dev/null || true
keep=
%s
%s
for p in $parts; do test "$p" = "$keep" || test "$p" = "$part" -a %q = cancelled || placectl unhold -q $p; done
`, script, fault.breaks, fault.name)
	askers := slices.Clone(partAskers)
	others := askers[2:] // the first two are for those who have not been told
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	if fault.name == "cancelled" {
		askers = others // a plain wait does not count what its user has cancelled
	}
	for _, ask := range askers {
		fmt.Fprintf(&b, "if (%s) >said 2>&1; then echo 'this says success: %s'; cat said; placectl job list --all; "+
			"exit 1; fi\n",
			strings.ReplaceAll(ask, "T", timeout), strings.ReplaceAll(ask, "'", "."))
	}
	b.WriteString("test ! -e after || { echo 'what depends on success has run'; exit 1; }\nplacectl cancel -q " +
		"--all || true\n")
	return b.String()
}
