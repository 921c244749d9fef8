#!/usr/bin/env bash
# Installs what build.sh has put into dist/ as a user would, each in a fresh Debian of its own with
# nothing else in it: the wheel by pip, the deb by dpkg, the tarball and the rpm unpacked. In each it
# types the README's first job.
#
# usage: release/chroot.sh VERSION [SUITE]
#
# It needs root, debootstrap, rpm2cpio and cpio, all packages of Debian; without them it says so and
# ends with status 0. SUITE is bookworm unless given.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1#v} suite=${2:-bookworm} arch=$(go env GOHOSTARCH) machine=$(uname -m)
for tool in debootstrap rpm2cpio cpio unshare; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: this needs root"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
debootstrap --variant=minbase --include=python3,python3-pip,python3-venv "$suite" "$work/base" http://deb.debian.org/debian >"$work/log" 2>&1 ||
	{ tail -n 20 "$work/log"; exit 1; }

# The first block of the README's first job.
sed -n '/^## Your first job$/,/^```$/{/^## /d;/^```/d;p}' README.md >"$work/job"
grep -q submit "$work/job"

# try NAME: runs what stands in $work/install in a fresh root, and then the first job.
try() {
	local root=$work/$1
	cp -a "$work/base" "$root"
	cp dist/*"$version"* "$root/root"
	if [ -d "$work/unpacked" ]; then
		cp -R "$work/unpacked/." "$root"
		rm -rf "$work/unpacked"
	fi
	{ printf 'set -e\ncd /root\nexport HOME=/root PATH=/root/bin:/usr/bin:/bin:/usr/sbin:/sbin\n%s\n' "$2"
		printf '[ "$(placectl version -o id)" = "%s" ]\n' "$version"
		cat "$work/job"; } >"$root/root/try.sh"
	unshare --mount --pid --fork --kill-child sh -c \
		'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" sh /root/try.sh' sh "$root" >"$work/said" 2>&1 ||
		{ echo "$1 failed:"; cat "$work/said"; exit 1; }
	grep -q '^hello from job 1$' "$work/said" || { echo "$1: the job said nothing:"; cat "$work/said"; exit 1; }
	rm -rf "$root"
	echo "ok: $1"
}

try wheel "python3 -m venv /root/venv && /root/venv/bin/pip install -q --no-index placectl-$version-py3-*_$machine.whl && ln -s venv/bin bin && venv/bin/python -c 'import placectl'"
try deb "dpkg -i placectl_${version}_$arch.deb >/dev/null"
try tarball "tar -xzf placectl-$version-linux-$arch.tar.gz && ln -s placectl-$version-linux-$arch bin"
mkdir "$work/unpacked"
rpm2cpio "dist/placectl-$version-1.$machine.rpm" | (cd "$work/unpacked" && cpio -idm --quiet --no-absolute-filenames 2>"$work/log")
try rpm true
