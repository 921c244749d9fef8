#!/bin/sh
# Builds what is released into dist/: static programs for Linux, amd64 and arm64, with and
# without etcd, and their hashes. The same commit and the same Go make the same bytes,
# wherever the clone lies: --check builds twice, in two places, and compares.
#
# usage: release/build.sh [--check] [VERSION]    (VERSION: what git describe says)
set -eu
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = --check ]; then
	check=yes
	shift
fi
version=${1:-$(git describe --tags --always --dirty)}
commit=$(git rev-parse HEAD)
if [ -n "$(git status --porcelain)" ]; then
	commit=$commit+changes
fi

# build DIRECTORY: everything, into it.
build() {
	mkdir -p "$1"
	for arch in amd64 arm64; do
		for tags in urfave_cli_no_docs urfave_cli_no_docs,etcd; do
			case $tags in
			*etcd) name=placectl-etcd ;;
			*) name=placectl ;;
			esac
			CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS= go build -trimpath -buildvcs=false -tags "$tags" \
				-ldflags "-s -w -buildid= -X main.stampedVersion=$version -X main.stampedCommit=$commit" \
				-o "$1/$name-$version-linux-$arch" ./cmd/placectl
		done
	done
	(cd "$1" && sha256sum placectl* >SHA256SUMS)
}

rm -rf dist
build dist
if [ -n "$check" ]; then
	again=$(mktemp -d)
	trap 'rm -rf "$again"' EXIT
	git worktree list >/dev/null
	cp -R . "$again/elsewhere"
	(cd "$again/elsewhere" && rm -rf dist && build "$again/dist")
	diff dist/SHA256SUMS "$again/dist/SHA256SUMS" && echo "the same bytes from two places"
fi
cat dist/SHA256SUMS
