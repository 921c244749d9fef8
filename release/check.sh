#!/usr/bin/env bash
# Tries what build.sh has put into dist/: each of tarball, deb and wheel brings a program of the version
# given, the manual can be read, completion is there, and a job runs.
#
# usage: release/check.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/../dist"
version=${1#v} arch=$(go env GOHOSTARCH)
sha256sum --check --quiet SHA256SUMS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# brings PROGRAM: it has the version, and runs the first job.
brings() {
	local program=$1 db
	db=$(mktemp -d -p "$work")
	[ "$("$program" version -o id)" = "$version" ]
	"$program" --db "$db/queue.db" init --local -q >/dev/null
	job=$("$program" --db "$db/queue.db" submit -t 1m --out "$db/out" -o id -- echo done)
	"$program" --db "$db/queue.db" wait "$job" --timeout 1m -q >"$db/waited"
	[ "$(cat "$db/out")" = done ]
	printf 'ok: %s\n' "${program#"$work"/}"
}

tar -xzf "placectl-$version-linux-$arch.tar.gz" -C "$work"
tar -xzf "placectl-etcd-$version-linux-$arch.tar.gz" -C "$work"
folder=$work/placectl-$version-linux-$arch
brings "$folder/placectl"
brings "$work/placectl-etcd-$version-linux-$arch/placectl"
if command -v man >/dev/null; then
	man "$folder/placectl.1" | grep -q 'placectl'
fi
bash -c "source '$folder/completion.bash'; complete -p placectl" | grep -q placectl

if command -v dpkg-deb >/dev/null; then
	dpkg-deb -x "placectl_${version}_$arch.deb" "$work/deb"
	brings "$work/deb/usr/bin/placectl"
	[ -s "$work/deb/usr/share/man/man1/placectl.1.gz" ] && [ -s "$work/deb/usr/share/bash-completion/completions/placectl" ]
fi

if python3 -c 'import venv, ensurepip' 2>/dev/null; then
	python3 -m venv "$work/venv"
	"$work/venv/bin/pip" install -q --no-index --disable-pip-version-check placectl-"$version"-py3-*_"$(uname -m)".whl
	brings "$work/venv/bin/placectl"
	"$work/venv/bin/python" -c 'import placectl; assert placectl.find_program().startswith("'"$work"'")'
fi

# The other architecture, emulated: Debian's qemu-user-static.
if command -v qemu-aarch64-static >/dev/null && [ -f "placectl-$version-linux-arm64.tar.gz" ]; then
	tar -xzf "placectl-$version-linux-arm64.tar.gz" -C "$work"
	arm() { qemu-aarch64-static "$work/placectl-$version-linux-arm64/placectl" --db "$work/arm.db" "$@"; }
	[ "$(arm version -o id)" = "$version" ]
	arm init -q >/dev/null && arm node add n1 ncpus=4 -q >/dev/null
	[ "$(arm place 1:ncpus=2 -t 1m -o id)" = 1 ]
	arm check --in-process -q
	echo "ok: arm64, emulated"
fi
