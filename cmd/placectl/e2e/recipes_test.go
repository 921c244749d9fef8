package e2e

// recipeChecks are what must hold after each recipe of docs/recipes.md, as shell. One of them first runs
// commands like those in its recipe's tables.
var recipeChecks = map[string]string{
	"A cycle every minute, jobs over ssh": `
		grep -q 'hello from n01' ~/jobs/1.log
		test "$(head -n 1 ~/ssh.log)" = n01
		placectl show 1 -o json | grep -q '"state":"finished"'
		placectl show 2 -o json | grep -q '"state":"cancelled"'
		! ps -eo args | grep -qx 'sleep 12345'`,
	"This machine alone": `
		grep -q 'hello from job 1' placectl-1.out
		placectl --db here.db show 1 -o json | grep -q '"state":"finished"'
		placectl --db here.db check -q`,
	"From pueue, task-spooler, gflow and GNU parallel": `
		export PLACECTL_DB=$HOME/daily.db
		placectl submit -t 10m --name test -o id -- sh -c 'echo tested; sleep 1'
		placectl submit -t 10m --name after --afterok test -o id -- echo reported
		placectl wait
		placectl logs after
		placectl retry test -o id
		placectl wait
		placectl limit set 'user=*' running=2
		job=$(placectl submit -t 10m --hold -o id -- sh -c 'echo made')
		placectl alter $job --priority 100 --name next
		placectl unhold next
		placectl logs -f next
		placectl limit rm 'user=*' running
		array=$(placectl submit --array 1-3 -t 10m --name part -o id -- sh -c 'test $PLACECTL_INDEX != 2')
		placectl wait $array || placectl retry $array --failed -o json
		placectl wait || true
		printf 'red,1\nblue,2\n' >colours.csv
		placectl submit -t 1m --each colours.csv --array %1 --out 'colour.%a' -o id -- printf '%s is %s\n' {1} {2}
		placectl submit -t 1m --each colours.csv --out 'line.%a' -m 50mb --retries 1 --retry-on oom --retry-mem x2 -o id -- sh -c 'echo "$PLACECTL_LINE"'
		placectl wait || true
		grep -qx reported placectl-2.out
		placectl --db daily.db show 3 -o json | grep -q '"state":"finished".*"retry_of":1'
		placectl --db daily.db show next -o json | grep -q '"state":"finished","priority":100'
		placectl --db daily.db query "SELECT count(*) FROM jobs WHERE name = 'part' AND retry_of = 7 AND \"index\" = 2" -o id | grep -qx 1
		grep -qx 'blue is 2' colour.1
		grep -qx 'red,1' line.0
		placectl --db daily.db check -q`,
	"One that stays up": `
		grep -q '^attempt 1$' placectl-1.out
		grep -q '^attempt 2$' placectl-1.out
		test "$(placectl --db resident.db query 'SELECT count(*) FROM attempts' -o id)" = 2
		placectl --db resident.db check -q`,
	"From cron alone": `
		test "$(cat fit.1)" = "fitting in $HOME with 17"`,
	"Which GPU is mine": `
		cat placectl-1_*.out | sort | grep -c '^GPU [0-3], cores ' | grep -qx 3
		test "$(cat placectl-1_*.out | sort -u | wc -l)" -eq 3
		placectl --db gpus.db check -q`,
	"Twenty machines, the database on one of them": `
		grep -q '^computed for ann on pc07$' placectl-1.out
		grep -qx pc07 ssh.log
		grep -q '^hello from pc02$' placectl-2.out
		placectl --db lab.db check -q`,
	"Nodes that another tool knows": `
		test "$(placectl --db known.db query "SELECT count(*) FROM nodes WHERE ncpus = 16" -o id)" = 101
		placectl --db known.db query "SELECT name, ncpus, mem FROM nodes WHERE name = 'web1'" -o csv | grep -q '^web1,8,33285996544$'
		test "$(placectl --db known.db query "SELECT count(*) FROM nodes WHERE name GLOB 'pc[12]' AND mem > 1000000" -o id)" = 2`,
	"Several users": `
		grep -q '^mine$' *.out
		placectl --db lab/cluster.db check -q`,
	"A nightly batch": `
		test "$(placectl job list --state finished -o id | wc -l)" -eq 8
		placectl show 10 -o json | grep -q '"state":"cancelled"'
		grep -q 'all is well' ~/jobs/9.log`,
	"A pool of CI runners": `
		placectl show 1 -o json | grep -q '"name":"unit".*"state":"finished"'
		test "$(placectl job list --all -o id | wc -l)" -eq 2`,
	"Maintenance windows": `
		test "$(placectl reservation list -o id | grep -c patches)" -ge 4
		placectl query "SELECT count(*) FROM nodes WHERE state = 'free' AND free_until IS NOT NULL" -o id | grep -qx 4`,
	"Two teams": `
		placectl class plan -o csv | grep -q '^biology,40,12,'
		test "$(placectl job list --all -o csv | grep -c ',eva,')" -eq 40`,
}

// standIns replace commands that recipes call and that tests must not run.
var standIns = map[string]string{
	// ssh hands the words behind the host's name to a local shell.
	"ssh": `#!/bin/sh
while :; do
	case $1 in
	-o) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
echo "$1" >>~/ssh.log
shift
PATH=$HOME/stand-ins:$PATH
exec sh -c "$*"
`,
	"flux": `#!/bin/sh
echo '{"version": 1, "execution": {"R_lite": [{"rank": "0-100", "children": {"core": "0-15"}}], "nodelist": ["fluke[3-103]"]}}'
`,
	"ansible": `#!/bin/sh
mkdir facts
echo '{"ansible_facts": {"ansible_hostname": "web1", "ansible_processor_vcpus": 8, "ansible_memtotal_mb": 31744}, "changed": false}' >facts/web1
`,
}
