package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// flagLines show what every flag does. The last flag of a line is the one shown: without it, the same line
// must end differently, in its status, in its output, or in what it leaves in the database and in files.
// @ is the folder of the test, which contains the testdata of flagsDB. A line with :: before it must be
// refused (status 2), because the flag has no effect beside the others.
const flagLines = `
node list --db=@/none.db
when 1:ncpus=1 --now=now+5m
node list --output=json
node list --no-header
check --in-process --quiet
cycle --verbose
init --db=@/new.db --resource=x=long
init --db=@/new.db --signature=ncpus
init --db=@/new.db --group-key=arch
init --db=@/new.db --any-time
clock reset --to=2026-11-20T09:00:00Z
clock reset --to=2026-11-20T09:00:00Z --dry-run
init --db=@/new.db --policy=fastest
init --db=@/new.db --set=overdue=finish
init --db=@/new.db --local
init --db=@/new.db --dry-run
config set overdue=finish --dry-run
resource add x=long --dry-run
resource rm spare --dry-run
queue add new --group-key=color
queue add new --policy=fastest
queue add new --dry-run
queue set q --group-key=color
queue set q --policy=fastest
queue set q --policy=fastest --dry-run
queue rm empty --dry-run
pool add new=3 --outside=1
pool add new=3 --outside=1 --until=now+1h
:: pool add new=3 --until=now+1h
pool add new=3 --dry-run
pool set lic=3 --outside=2
pool set lic --outside=2 --until=now+1h
pool set lic=3 --dry-run
pool rm lic --dry-run
account set chem --shares=3
account set new --parent=chem
account set chem --member=ann=2
account set chem --allow=user=ann
account set chem --shares=2 --dry-run
account rm chem --dry-run
view set v "SELECT 1" --dry-run
whatif --drop=n[1-4]
whatif --limit="all running=0"
whatif --backfill=fcfs
whatif --compare=easy,relaxed
whatif --horizon=1h
whatif --add="z1 like n1"
view rm gpus --dry-run
preempt set queue=urgent over all --how=cancel
preempt set queue=urgent over all --grace=1m
preempt set queue=urgent over all --min-run=1m
preempt set queue=urgent over all --at-most=1
preempt set user=ann over user=bob --dry-run
preempt rm queue=urgent over all --dry-run
limit set user=ann running=50 --soft
limit set user=ann running=50 --dry-run
limit rm user=lim --soft
limit rm user=lim --dry-run
limit list --use
role add bob operator --dry-run
role rm ann operator --dry-run
queue add new --allow=user=ann
queue set q --allow=user=ann
class set research=50 --allow=user=ann
init --db=@/new.db --group=0
job throttle 8[] 1 --dry-run
node import @/bare.csv --unit=gb
:: node import @/nodes.json --from=csv
node import @/nodes.json --dry-run
node import @/headed.csv --map=h=name
node import @/noted.csv --skip=notes
node import @/nodes.slurm --default-partition=main
node add x mem=64 --unit=gb
node add x --dry-run
node set n1 mem=64 --unit=gb
node set n1 mem=64gb --dry-run
node rm n2 --dry-run
node list --state=down
node list --queue=q
node list --feature=ssd
node drain n2 --reason=why
node drain n2 --dry-run
node down n2 --reason=why
node down n2 --dry-run
node offline n2 --reason=why
node offline n2 --dry-run
node resume d1 --dry-run
node resume d1 --reason=why
node load n1=0.5 --dry-run
bucket list --all
set list --group-key=color --queue=q
set list --group-key=color
release 1 --dry-run
alter 2 --walltime=9h
alter 2 --cpus=2
alter 2 --gpus=1
alter 2 --mem=1gb
alter 2 --select=1:ncpus=2
alter 2 --place=excl
alter 2 --queue=q
alter 2 --class=a
alter 2 --account=acc
alter 2 --policy=fastest
alter 2 --prefer=ssd
alter 2 --exclude=n2
alter 2 --input=x.%j
alter 2 --access=singlejob
alter 2 --reservation=A
alter 2 --name=other
alter 2 --priority=3
alter 2 --begin=now+1h
alter 2 --deadline=now+9h
alter 2 --after=1
alter 2 --afterok=1
alter 2 --afternotok=1
alter 2 --afterany=1
alter 8 --aftercorr=4[]
alter 8 --user=eva --name=twin --singleton
alter 2 --user=ann
alter 2 --group=chem
:: alter 2 --script=job.sh
:: alter 2 --directives=pbs
:: alter 2 --lax
:: alter 2 --array=2
:: alter 2 --each=@/lines
:: alter 2 --hold
:: alter 2 --requestor=ann
alter 2 --no-requeue
alter 2 --comment=x
alter 2 --pool=lic=1
alter 2 --bind=tight
alter 2 --over-limits
alter 2 --select=9:ncpus=999 --accept=feasible
alter 7 --chdir=@
alter 7 --export=X=2
alter 7 --umask=027
alter 7 --out=x.%j
alter 7 --err=y.%j
alter 7 --out-mode=append
alter 7 --compat=slurm
alter 7 --retries=3
alter 7 --retries=3 --retry-on=75
alter 7 --retries=3 --retry-wait=5
alter 7 --mem=1gb --retries=3 --retry-on=oom --retry-mem=x2
alter 7 --signal=USR1
alter 7 --grace=5
alter 7 --mail=end
alter 7 --mail=end --mail-to=ann@site
alter 2 --priority=3 --dry-run
extend 1 --walltime=9h
extend 1 --walltime=9h --dry-run
unreserve A --dry-run
reservation list --all
config list --all
hold 2 --reason=why
hold 2 --dry-run
unhold 5 --dry-run
cancel 2 --reason=why
cancel --user=lim
cancel --name=wide
cancel --all
cancel 1 --waiting
cancel 2 --dry-run
done 1 --status=3
done 1 --reason=why
done 1 --attempt=2
done 1 --dry-run
retry 11 --dry-run
retry 11 --failed
submit 1 @/job.sh --each=@/select.sql
requeue 1 --reason=why
requeue 1 --hold
requeue 1 --dry-run
job list --all
job list --state=held
job list --user=eva
job list --queue=q
job list --class=red
job list --name=n*
job list --since=now-1d
job list --until=now-1d
job list --wide
job list --order=newest
top --user=eva
report --since=now-10m
report --until=now-1h
report --html=@/r.html
report --by=queue
report --csv=@/r.csv
history --state=failed
history --user=eva
history --queue=q
history --class=red
history --name=zzz*
history --since=now+1h
history --until=now-1d
cycle --backfill=fcfs
cycle --depth=2
cycle --backfill=relaxed --slack=0.5
cycle --dry-run
work --once --dry-run
wait 1 --timeout=0s --for=started
events --since=2
events --job=1
events --last=1
tx --file=@/verbs.tx
tx --file=@/verbs.tx --dry-run
class set research=5 --replace
class set x=5 --dry-run
class map teaching=b --replace
class map research=a --first
class map research=a --dry-run
class default research --dry-run
class rebalance --minimum=1m --threshold=10
class rebalance --min-run=1m
class rebalance --at-most=2
class rebalance --threshold=10 --minimum=1m
class rebalance --threshold=10 --minimum=1m --dry-run
class rm --all
class rm teaching --dry-run
class plan --from=@/plan.json
batch create b --jobs=@/jobs.csv --files=@/files.csv
batch create b --files=@/files.csv --jobs=@/jobs.csv
batch create b --files=@/files.csv --jobs=@/jobs.csv --policy=cursors
batch create b --files=@/files.csv --jobs=@/jobs.csv --hosts=7
batch create b --files=@/files.csv --jobs=@/jobs.csv --team=3
batch create b --files=@/files.csv --jobs=@/jobs.csv --quorum=2
batch create b --files=@/files.csv --jobs=@/jobs.csv --cushion=7
batch create b --files=@/files.csv --jobs=@/jobs.csv --max-errors=7
batch create b --files=@/files.csv --jobs=@/jobs.csv --lease=7h
batch create b --files=@/files.csv --jobs=@/jobs.csv --keep=7
batch create b --files=@/files.csv --jobs=@/jobs.csv --dry-run
batch show night --jobs
batch next night --host=h2
batch next night --host=h2 --user=eva
batch next night --host=h1 --want=2
batch next night --host=h1 --seconds=1000000
batch next night --host=h1 --lease=1m
batch next night --host=h2 --dry-run
batch done night 0 --host=h1
batch done night 0 --host=h1 --dry-run
batch fail night 0 --host=h1
batch fail night 0 --host=h1 --dry-run
batch expire --now=2026-12-20T00:00:00Z --dry-run
batch recompute --now=2026-12-20T00:00:00Z --dry-run
batch rm night --dry-run
query "SELECT coalesce(:a, 1)" --params=params.json
query --file=@/select.sql
query 'SELECT :x' --param=x=1
query 'SELECT name FROM nodes' --max-rows=1
gantt --since=now+30m
gantt --until=now+30m
gantt --nodes=n1
gantt --by=bucket
place 1:ncpus=1 --user=lim --over-limits
when 1:ncpus=1 --user=lim --over-limits
explain 1:ncpus=1 --user=lim --over-limits
submit 1:ncpus=1 --user=lim --over-limits
run 1:ncpus=1 --dry-run --user=lim --over-limits
place 1:ncpus=1 --bind=tight
submit 1:ncpus=1 --bind=tight
submit --cpus=2
submit --gpus=1
submit --mem=1gb
node set n1 --device=ncpus=0 --slices=4
:: node set n1 --slices=4
:: node set n1 --device=ncpus
node drain n1 --device=ncpus=0
node resume n1 --device=ncpus=0
node split g1 --by=numa
node split g1 --by=numa --dry-run
node join p --dry-run
gantt --rows=1
gantt --width=50
gantt --svg=@/out.svg
metrics --format=openmetrics
metrics --out=@/out.prom
node reset-usage --dry-run
usage --by=class
priority set user:ann=5 --dry-run
priority rm user=eva --dry-run
usage --since=now+1h
usage --until=now-1h
simulate @/trace.swf --procs=4
simulate @/trace.swf --procs=4 --policy=fcfs
simulate @/trace.swf --procs=4 --by=user
simulate @/trace.swf --procs=4 --html=@/x.html
simulate @/trace.swf --procs=4 --compare=fcfs,easy
:: simulate @/trace.swf --procs=4 --slack=2
simulate @/trace.swf --procs=4 --forecast
simulate @/trace.swf --nodes=@/simple.csv
simulate @/trace.swf --nodes=@/sizes.csv --unit=gb
:: simulate @/trace.swf --unit=gb
simulate @/trace.swf --nodes=@/simple.csv --output=json --node-policy=lastavailable
simulate @/trace.swf --procs=4 --class=a=1 --class-map=a=. --shares=user
simulate @/trace.swf --procs=4 --shares=user --class-map=a=. --class=a=1
simulate @/trace.swf --requested
simulate @/trace.swf --procs=4 --csv=@/out.csv
check --in-process --repair
compact --dry-run
adopt --dry-run
archive --before=now --to=@/old.jsonl --dry-run
restore @/backup.db --dry-run
load @/dump.jsonl --db=@/new.db --dry-run
salvage @/placectl.db --to=@/saved.db --dry-run
:: check --in-process --key=k
place 1:ncpus=1 --at=now+1h
place 4:ncpus=4 --place=scatter:excl --or-reserve
place 1:ncpus=1 --explain
place 1:ncpus=1 --dry-run
when 3:ncpus=4 --place=scatter:excl --count=2
explain --job=1
when --job=2
explain 1:ncpus=1 --nodes=n2
explain 1:ncpus=1 --policy=priority --limit=1
submit 1 --array=3
submit 1 --script=@/job.sh
submit 1 @/job.sh --directives=none
submit 1 @/lax.sh --lax
submit 1 @/job.sh --chdir=@
submit 1 @/job.sh --export=X=1
submit 1 @/job.sh --umask=077
submit 1 @/job.sh --out=x.%j
submit 1 @/job.sh --err=x.%j
submit 1 @/job.sh --input=x.%j
submit 1 @/job.sh --out-mode=append
submit 1 @/job.sh --compat=slurm
submit 1 @/job.sh --retries=3
submit 1 @/job.sh --retries=3 --retry-on=75
submit 1 @/job.sh --retries=3 --retry-wait=5
submit 1:mem=1gb @/job.sh --retries=3 --retry-on=oom --retry-mem=x2
submit 1 @/job.sh --signal=USR1
submit 1 @/job.sh --grace=5
submit 1 @/job.sh --mail=end
submit 1 @/job.sh --mail=end --mail-to=ann@site
show 7 --env
submit 1 --after=1
submit 1 --afterok=1
submit 1 --afternotok=1
submit 1 --afterany=1
submit 1 --array=2 --aftercorr=4
submit 1 --priority=3
submit 1 --begin=now+1h
submit 1 --deadline=now+9h
submit 1 --hold
submit 1 --user=eva --name=twin --singleton
submit 1 --no-requeue
submit 1 --comment=x
submit 1 --requestor=ci-1
submit 9:ncpus=999 --accept=feasible
submit 1 --dry-run
reserve r --walltime=1h --nodes=n2
reserve r --nodes=n2 --walltime=1h --start=now+1h
reserve r --nodes=n2 --walltime=1h --allow=user=eva
reserve r --nodes=n2 --walltime=1h --allow=user=eva --timelimit=10m
reserve r --nodes=n2 --walltime=1h --repeat=daily
reserve r --nodes=n2 --walltime=1h --repeat=daily --depth=4
reserve r --nodes=n2 --walltime=1h --start=23:30 --repeat=daily --zone=Asia/Tokyo
reserve r --nodes=n2 --walltime=1h --dry-run
:: reserve r --nodes=n2 --walltime=1h --depth=4
:: reserve r --nodes=n2 --walltime=1h --zone=Asia/Tokyo
`

// requestLines are the same for the flags of requests, for every verb that takes one. REQUEST stands for
// the verb. n1 is reserved for zoe and some others, who are drawn to it. n4 is shared with a job. n3 is
// fast.
const requestLines = `
REQUEST --select=1:ncpus=1:host=n3
REQUEST --select=2:ncpus=1 --place=scatter
REQUEST --select=1:ncpus=1 --walltime=2h
REQUEST --select=1:ncpus=1 --name=NAME
REQUEST --select=1:ncpus=1 --user=zoe
REQUEST --select=1:ncpus=1 --group=g
REQUEST --select=1:ncpus=1 --account=acc
REQUEST --select=1:ncpus=1 --queue=q
REQUEST --select=1:ncpus=1 --class=research
REQUEST --select=1:ncpus=1 --policy=fastest
REQUEST --select=1:ncpus=1 --policy=priority --prefer=ssd
REQUEST --select=1:ncpus=1 --exclude=n2
REQUEST --select=1:ncpus=1:host=n4 --access=singlejob
REQUEST --select=1:ncpus=1 --reservation=A
REQUEST --select=1:ncpus=1 --pool=lic=2
`

// requesters are the verbs that take a request, for REQUEST.
var requesters = []string{"place", "when", "explain", "submit", "run --dry-run", "reserve r --allow=user=eva"}

// shownElsewhere are the flags whose effect needs time, processes or a terminal, with where it is shown.
var shownElsewhere = map[string]string{
	"upgrade --sign":        "signed.txtar",
	"upgrade --dry-run":     "signed.txtar",
	"check --dry-run":       "check.txtar",
	"log trim --dry-run":    "replica.txtar",
	"whatif --preempt":      "whatif.txtar",
	"report --title":        "report.txtar",
	"report --add":          "whatif.txtar",
	"report --drop":         "whatif.txtar",
	"report --limit":        "whatif.txtar",
	"report --preempt":      "whatif.txtar",
	"report --priority":     "whatif.txtar",
	"whatif --priority":     "whatif.txtar",
	"report --backfill":     "whatif.txtar",
	"report --horizon":      "whatif.txtar",
	"top --delay":           "daily.txtar",
	"history --last":        "daily.txtar",
	"work --once":           "work.txtar",
	"on --watch":            "on.txtar",
	"on --signal":           "signal.txtar",
	"signal --timeout":      "signal.txtar",
	"signal --dry-run":      "signal.txtar",
	"signal --key":          "signal.txtar",
	"on --sweep":            "elsewhere.txtar",
	"on --no-forward":       "on.txtar",
	"logs --path":           "logs.txtar",
	"work --cycle":          "work.txtar",
	"work --host":           "work.txtar",
	"keep --host":           "work.txtar",
	"keep --dry-run":        "work.txtar",
	"attend --dry-run":      "attend.txtar",
	"place --wait":          "plan.txtar",
	"run --wait":            "run.txtar",
	"run --priority":        "run.txtar",
	"run --dry-run":         "run.txtar",
	"wait --timeout":        "wait.txtar",
	"when --cpus":           "words.txtar",
	"when --gpus":           "words.txtar",
	"when --mem":            "words.txtar",
	"run --cpus":            "words.txtar",
	"run --gpus":            "words.txtar",
	"run --mem":             "words.txtar",
	"retry --cpus":          "retry.txtar",
	"retry --gpus":          "retry.txtar",
	"retry --mem":           "retry.txtar",
	"retry --walltime":      "retry.txtar",
	"tx --wait":             "tx_wait.txtar",
	"batch work --jobs":     "batch_work.txtar",
	"batch work --host":     "batch_work.txtar",
	"batch work --dry-run":  "batch_work.txtar",
	"tx --timeout":          "tx_wait.txtar",
	"events --follow":       "events.txtar",
	"cancel --immediately":  "ending.txtar",
	"requeue --immediately": "ending.txtar",
	"release --immediately": "ending.txtar",
	"done --force":          "ending.txtar",
	"node down --lost":      "ending.txtar",
	"cycle --exec":          "cycle_exec.txtar",
	"cycle --exec-timeout":  "cycle_exec.txtar",
	"cycle --forecast":      "forecast.txtar",
	"cycle --max-time":      "cycle.txtar",
	"cycle --widest":        "cycle.txtar",
	"batch cursors --all":   "batch.txtar",
	"simulate --class-map":  "simulate.txtar",
	"simulate --preempt":    "simulate_nodes.txtar",
	"simulate --durations":  "simulate.txtar",
	"query --max-time":      "query.txtar",
	"check --in-process":    "check.txtar",
	"restore --no-hold":     "backup.txtar",
	"restore --force":       "restore_running.txtar",
	"adopt --no-hold":       "copies.txtar",
	"init --from":           "replica.txtar",
	"init --force":          "replica.txtar",
	"log --since":           "replica.txtar",
	"salvage --to":          "salvage.txtar",
	"archive --to":          "archive.txtar",
	"archive --before":      "archive.txtar",
	"demo --force":          "demo.txtar",
	"demo --dry-run":        "demo.txtar",
	"demo --key":            "demo.txtar",
	"run --bind":            "devices.txtar",
	"node detect --threads": "detect.txtar",
	"node detect --root":    "detect.txtar",
	"node detect --apply":   "detect.txtar",
	"node detect --dry-run": "detect.txtar",
	"logs --follow":         "logs.txtar",
	"logs --err":            "logs.txtar",
	"logs --tail":           "logs.txtar",
	"logs --attempt":        "logs.txtar",
	"cycle --launch":        "launch.txtar",
	"submit --carried":      "ssh.txtar",

	"install-frontends --force": "fronts.txtar", "install-frontends --dry-run": "fronts.txtar",
}

// globalsShownElsewhere is the same for global flags.
var globalsShownElsewhere = map[string]string{"--lock-timeout": "cmd_node_import_test.go",
	"--no-color": "cmd_node_list_test.go", "--begun": "ssh.txtar", "--stale": "replica.txtar",
	"--raw": "cmd_logs_test.go"}

// flagsDB makes a folder with a database and the files that flagLines name.
func flagsDB(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"headed.csv": "h,ncpus\nz,1\n", "noted.csv": "name,notes\nz,1\n",
		"nodes.slurm": "NodeName=z CPUTot=1 Partitions=main\n",
		"groups.csv":  "name,ncpus,state,host\ng1,0@0+1@1,down,\np.0,1,down,p\np.1,1,down,p\n",
		"bare.csv":    "name,mem\nx,64\n", "sizes.csv": "name,ncpus,mem\nx,4,64\n",
		"simple.csv": "name,ncpus\nx,2\ny,2\n",
		"dump.jsonl": "{\"placectl\":\"dump\",\"format\":11}\n{\"rows\":0}\n",
		"nodes.json": `[{"name":"x"}]`, "select.sql": "SELECT 1", "params.json": `{"a":"007"}`,
		"verbs.tx": "submit 1\n", "job.sh": "#PBS -N x\ntrue\n", "lax.sh": "#PBS -Y\ntrue\n",
		"plan.json": `{"total_workers":10,"classes":[{"name":"a","load_pct":100,"running":2,"waiting":9}]}`,
		"files.csv": "name,size\nf1,100\nf2,100\nf3,100\n",
		"jobs.csv":  "first,last\nf1,f2\nf1,f2\nf2,f3\nf2,\nf3,\nf3,\n",
		"trace.swf": "; MaxProcs: 8\n1 0 0 600 3 -1 -1 4 600 -1 1 1 1 1 1 -1 -1 -1\n2 1 0 60 4 -1 -1 4 60 -1 1 1 1 1 " +
			"1 -1 -1 -1\n3 2 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const before = "--now 2026-11-19T00:00:00Z "
	for line := range strings.Lines(before + `init --any-time --resource color=string --resource spare=long
		` + before + `node add n2 ncpus=4 mem=8gb color=red
		` + before + `reserve old --nodes n2 -t 1h
		queue add q
		config set state_dir=@/state
		queue add empty
		node add n[1,3-4] ncpus=4 mem=8gb color=red
		node set n1 priority=1
		node add q[1-2] ncpus=4 queue=q color=blue
		node add d1 ncpus=4 state=down
		node import @/groups.csv
		node set n3 speed=3 features=ssd
		class set research=60 teaching=40
		class map 'research=^ci-'
		reserve A --nodes n1 -t 3d --allow user=zoe,group=g,account=acc,class=research,job=NAME
		submit 1:ncpus=2:host=n4 -t 2h --user ann
		cycle
		submit 3:ncpus=4 --place scatter:excl -t 1h --priority 5
		submit 3:ncpus=4 --place scatter:excl -t 2h --priority 4
		submit 1:ncpus=1 -t 30m --user eva --name twin
		submit 1:ncpus=1 --hold
		place 1:ncpus=1:host=n2 --user ann
		done 6
		submit 1:ncpus=1 --hold --export X=1 -- true
		submit 1:ncpus=1 --hold --array 2
		submit 1:ncpus=1 --hold --user eva
		cancel 11
		pool add lic=2 --outside 1
		account set chem
		priority set user:eva=2
		view set gpus "SELECT name FROM nodes WHERE ngpus > 0"
		preempt set queue=urgent over all
		limit set user=lim running=0
		role add ann operator
		limit set --soft user=lim ncpus=0
		batch create night --hosts 1 --files @/files.csv --jobs @/jobs.csv
		batch next night --host h1 --want 1
		backup @/backup.db`) {
		if status, said := flagRun(t, dir, line); status != exit.OK {
			t.Fatalf("%s: status %d, %s", line, status, said)
		}
	}
	return dir
}

// flagRun runs a line in a folder, and returns its status and its output.
func flagRun(t *testing.T, dir, line string) (int, string) {
	t.Helper()
	words, err := text.SplitWords(strings.ReplaceAll(line, "@", dir))
	if err != nil {
		t.Fatal(err)
	}
	c := newCapture(words...)
	if strings.HasPrefix(words[0], "run") {
		c.Args = append(c.Args, "--", "true")
	}
	c.vars["PLACECTL_DB"] = filepath.Join(dir, "placectl.db")
	code := c.run()
	return code, strings.ReplaceAll(c.out.String()+c.err.String(), dir, "@")
}

// copyDatabase copies a folder with a database, which executes jobs there, too.
func copyDatabase(t *testing.T, dir, template string) {
	t.Helper()
	err := os.CopyFS(dir, os.DirFS(template))
	if _, none := os.Lstat(filepath.Join(dir, "placectl.db")); err == nil && none == nil {
		err = adoptAt(filepath.Join(dir, "placectl.db"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func adoptAt(path string) error {
	db, err := engine.Open(path, &engine.Options{Now: func() time.Time { return testNow }, Behind: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *engine.Tx) error { _, err := tx.Adopt(true); return err })
	return errors.Join(err, db.Close())
}

// flagOutcome is how a line ends in a copy of a folder.
type flagOutcome struct {
	Status int
	Said   string
	Files  map[string]string
	dry    bool // the line has changed no file
}

func flagTry(t *testing.T, template, line string) flagOutcome {
	t.Helper()
	dir := t.TempDir()
	if strings.HasPrefix(line, "work ") { // nothing is executed from a copy, whose bytes are the same each time
		copyDatabase(t, dir, template)
	} else if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	var o flagOutcome
	before := filesIn(t, dir)
	o.Status, o.Said = flagRun(t, dir, line)
	o.Files = filesIn(t, dir)
	o.dry = cmp.Equal(before, o.Files)
	return o
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFlagsHaveEffects: every flag of every verb does something, or is refused. A flag without a case here
// fails the test.
func TestFlagsHaveEffects(t *testing.T) {
	lines := append(strings.Split(strings.TrimSpace(flagLines), "\n"), "batch next night --host=h1 --key=k")
	for _, as := range requesters {
		for line := range strings.Lines(strings.TrimSpace(requestLines)) {
			lines = append(lines, strings.Replace(strings.TrimSpace(line), "REQUEST", as, 1))
		}
	}
	for _, tt := range keyedLines(t) { // verbs that write take a key
		if tt.verb != "batch next" {
			lines = append(lines, tt.line+" --key=k")
		}
	}
	template := flagsDB(t)
	shown := map[string]bool{}
	for _, line := range lines {
		refused := strings.HasPrefix(line, ":: ")
		line = strings.TrimPrefix(line, ":: ")
		verb, flag, without := takeFlag(t, line)
		shown[verb+" "+flag] = true
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			with := flagTry(t, template, line)
			if (with.Status == exit.Usage) != refused {
				t.Fatalf("status %d, but it should be refused: %v: %s", with.Status, refused, with.Said)
			}
			base := flagTry(t, template, without)
			if base.Status == with.Status && base.Said == with.Said && cmp.Equal(base.Files, with.Files) {
				t.Errorf("%s does nothing: with and without it the status is %d, and the output\n%s", flag, with.Status,
					with.Said)
			}
			if flag == "--dry-run" && (!with.dry || base.dry) {
				t.Errorf("only without --dry-run may the line change something: %s", with.Said)
			}
		})
	}
	for name, where := range shownElsewhere {
		_, flag, _ := strings.Cut(name, "--")
		if text, err := os.ReadFile("../../../testdata/script/" + where); shown[name] ||
			!strings.Contains(string(text), "--"+flag) {
			t.Errorf("%s is listed as shown in %s, but is also shown here, or not there: %v", name, where, err)
		}
		shown[name] = true
	}
	for i := range verbs.GlobalFlags {
		f := &verbs.GlobalFlags[i]
		if f.Name != "help" && f.Name != "version" && !slices.ContainsFunc(lines, func(line string) bool {
			_, flag, _ := takeFlag(t, strings.TrimPrefix(line, ":: "))
			return flag == f.Shown()
		}) &&
			globalsShownElsewhere[f.Shown()] == "" {
			t.Errorf("no line shows what %s does", f.Shown())
		}
	}
	r := newCapture().runner()
	var look func(path string, v *session.Verb)
	look = func(path string, v *session.Verb) {
		for _, f := range v.Flags {
			if name := verbs.Dashed(f.Names()[0]); !shown[path+" "+name] {
				t.Errorf("no line shows what %s %s does", path, name)
			}
		}
		for _, sub := range v.Verbs {
			look(path+" "+sub.Name, sub)
		}
	}
	for _, e := range r.Verbs {
		look(e.Name, e.Verb())
	}
}

// takeFlag removes the last flag from a line. It returns the flag, its verb, and the rest of the line.
func takeFlag(t *testing.T, line string) (verb, flag, without string) {
	t.Helper()
	words, err := text.SplitWords(line)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := newCapture().runner().Verbs.Parse(append(words, "--", "true"))
	if err != nil {
		t.Fatalf("%s cannot be parsed: %v", line, err)
	}
	last := len(words) - 1
	for !strings.HasPrefix(words[last], "--") {
		last--
	}
	flag, _, _ = strings.Cut(words[last], "=")
	return inv.Verb(), flag, text.JoinWords(slices.Delete(words, last, last+1))
}
