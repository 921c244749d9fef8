#!/bin/sh
# Makes the pictures of this directory anew: terminals as SVG, the page of report as PNG
# where there is a Chromium. Run it in this directory with placectl in PATH.
set -eu
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PLACECTL_DB=$work/cluster.db LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC USER=ann PLACECTL_NOW=2026-11-20T08:00:00Z

# A morning on twelve nodes.
placectl init --any-time -q -o id >/dev/null
placectl node add 'n[01-08]' ncpus=32 mem=128gb -o id >/dev/null
placectl node add 'g[1-4]' ncpus=64 mem=512gb ngpus=4 -o id >/dev/null
at() { PLACECTL_NOW=2026-11-20T$1:00Z; export PLACECTL_NOW; }
sub() { placectl submit "$@" -o id -- ./work >/dev/null 2>&1; placectl cycle -q -o id >/dev/null; }
sub 4:ncpus=32 --place scatter -t 4h --name climate --user eva
sub 1:ncpus=16:ngpus=2 -t 6h --name train --user bob
sub 1:ncpus=32:ngpus=4 -t 3h --name vision --user bob
at 08:20
sub 1:ncpus=8 --array 10 -t 1h30m --name sweep --user ann
sub 2:ncpus=64:ngpus=4 --place scatter -t 2h --name llm --user mia
at 08:50
placectl done 1 --status 0 -o id >/dev/null
sub 6:ncpus=32 --place scatter -t 3h --name ocean --user eva
sub 1:ncpus=4 -t 20m --name test --user tom
placectl reserve course --nodes 'g[3-4]' --start 14:00 -t 2h --allow group=students -o id >/dev/null
at 09:30
placectl done 5 --status 0 -o id >/dev/null
placectl done 6 --status 2 -o id >/dev/null
sub 8:ncpus=32 --place scatter:excl -t 1h --name wide --user tom
sub 1:ncpus=999 --name wrong --user tom 2>/dev/null
placectl node drain n08 --reason 'fan, ticket 4711' -o id >/dev/null
placectl cycle -q -o id >/dev/null

# terminal FILE WIDTH COMMAND: what a command says, as a picture of a terminal.
terminal() {
	file=$1 width=$2
	shift 2
	{ echo "\$ $*"; "$@" 2>&1; } | awk -v cols="$width" '
		{ if (length($0) > cols) cols = length($0); gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); gsub(/>/, "\\&gt;"); line[NR] = $0 }
		END {
			w = cols * 7.83 + 24; h = NR * 18 + 22
			printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">", w, h, w, h
			print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16191d\"/><g font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"13\" fill=\"#d8dee6\" xml:space=\"preserve\">"
			for (i = 1; i <= NR; i++) printf "<text x=\"12\" y=\"%d\"%s>%s</text>\n", i * 18 + 8, i == 1 ? " fill=\"#7fd1a0\"" : "", line[i]
			print "</g></svg>"
		}' >"$here/$file"
}
terminal status.svg 80 placectl status
terminal jobs.svg 80 placectl job list
terminal explain.svg 90 placectl explain "$(placectl job list --name wide -o id)"
terminal top.svg 80 placectl top
placectl gantt --svg "$here/gantt.svg" --to 2026-11-20T18:00:00Z >/dev/null

placectl report --html report.html
if command -v chromium >/dev/null; then
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --hide-scrollbars --window-size=1200,1000 \
		--screenshot="$here/report.png" "file://$work/report.html" >/dev/null 2>&1
else
	echo "no chromium here (Debian package chromium): report.png is as it was" >&2
fi
