#!/usr/bin/env bash
# usage: testdata/etcd/fetch.sh FOLDER
# Puts two versions of etcd into FOLDER, those that logs of replicas are tested with:
# etcd-3.4, of Debian's package etcd-server, and etcd-3.6, built from its Go modules. It
# installs nothing, and skips what cannot be had. It prints what the tests want to know:
#   export $(testdata/etcd/fetch.sh /tmp/etcd)
#   go test -tags etcd ./store/internal/etcd
# testdata/etcd/test.sh does it all.
set -euo pipefail
module=go.etcd.io/etcd/server/v3@v3.6.16
mkdir -p "$1"
to=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if [ ! -x "$to/etcd-3.4" ]; then
	if apt-get -q download etcd-server >&2 && dpkg -x etcd-server_*.deb . && [ -x usr/bin/etcd ]; then
		mv usr/bin/etcd "$to/etcd-3.4"
	else
		echo "no etcd-server from Debian: apt-get update may help" >&2
	fi
fi
if [ ! -x "$to/etcd-3.6" ]; then
	# Its module replaces others, so that it cannot be had with go install.
	if ! { go mod init fetch && go get "$module" && go build -o "$to/etcd-3.6" "${module%@*}"; } >"$work/log" 2>&1; then
		tail -n 5 "$work/log" >&2
		echo "etcd 3.6 could not be built" >&2
	fi
fi
list=$(ls "$to"/etcd-3.* 2>/dev/null | paste -sd :)
[ -n "$list" ] || { echo "no etcd could be had" >&2; exit 1; }
echo "PLACECTL_ETCD_BINARIES=$list"
