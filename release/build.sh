#!/bin/sh
# Builds a release into dist/: for Linux on amd64 and arm64 tarballs, with and without etcd, a deb, an
# rpm and a wheel; for macOS a tarball; a Containerfile, and the hashes of all. The same commit and the same
# Go make the same bytes, wherever the clone lies: --check builds twice, in two places, and compares.
#
# usage: release/build.sh VERSION [--check]
#
# VERSION may begin with v. ARCHS=amd64 builds for one architecture, SYSTEMS=linux not for macOS. README says what
# else it needs.
set -eu
cd "$(dirname "$0")/.."
version= check=
for arg; do
	case $arg in
	--check) check=yes ;;
	-* | *[!0-9A-Za-z.+~-]*) echo "usage: release/build.sh VERSION [--check]" >&2 && exit 2 ;;
	*) version=${arg#v} ;;
	esac
done
[ -n "$version" ] || { echo "usage: release/build.sh VERSION [--check]" >&2 && exit 2; }
commit=$(git rev-parse HEAD)
if [ -n "$(git status --porcelain)" ]; then
	commit=$commit+changes
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH
archs=${ARCHS:-amd64 arm64} systems=${SYSTEMS:-linux darwin}
umask 022

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
GOFLAGS=-mod=readonly go build -modfile=release/tools.mod -o "$tools/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm

# compile OUT SYSTEM ARCH MODULE: the program of a module, "" for the main one.
compile() {
	CGO_ENABLED=0 GOOS=$2 GOARCH=$3 GOFLAGS= go build -C "./$4" -trimpath -buildvcs=false -tags "urfave_cli_no_docs grpcnotrace" \
		-ldflags "-s -w -buildid= -X github.com/placectl/placectl/cmd/placectl/internal/session.stampedVersion=$version -X github.com/placectl/placectl/cmd/placectl/internal/session.stampedCommit=$commit" -o "$1" "./cmd/placectl${4:+-$4}"
}

# pack DIRECTORY: a folder as a tarball beside it.
pack() {
	find "$1" -type d -exec chmod 755 {} + -o -type f -exec chmod a+rX,go-w {} +
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar \
		-C "$(dirname "$1")" -cf - "$(basename "$1")" | gzip -9n >"$1.tar.gz"
}

# tarball SYSTEM ARCH MODULE: the program of a module with its texts, into $out.
tarball() {
	dir=$stage/placectl${3:+-$3}-$version-$1-$2
	cp -R "$stage/texts" "$dir"
	compile "$dir/placectl" "$1" "$2" "$3"
	[ "$1" = linux ] || cp release/NOT-RUN-HERE "$dir"
	pack "$dir"
	mv "$dir.tar.gz" "$out"
}

# build DIRECTORY: everything, into it.
build() {
	out=$1 stage=$(mktemp -d)
	mkdir -p "$out"
	compile "$stage/native" "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" ""
	mkdir "$stage/texts"
	"$stage/native" man >"$stage/texts/placectl.1"
	for shell in bash zsh fish; do
		"$stage/native" completion $shell >"$stage/texts/completion.$shell"
	done
	cp LICENSE README.md "$stage/texts"
	gzip -9n <"$stage/texts/placectl.1" >"$stage/placectl.1.gz"
	for arch in $archs; do
		case $systems in *darwin*) tarball darwin "$arch" "" ;; esac
		tarball linux "$arch" ""
		tarball linux "$arch" etcd
		binary=$stage/placectl-$version-linux-$arch/placectl
		sed "s|@ARCH@|$arch|; s|@VERSION@|$version|; s|@BINARY@|$binary|; s|@STAGE@|$stage|; s|@DATE@|$date|" release/nfpm.yaml >"$stage/nfpm.yaml"
		for kind in deb rpm; do
			"$tools/nfpm" package --config "$stage/nfpm.yaml" --packager $kind --target "$out" >/dev/null
		done
		command -v python3 >/dev/null || { echo "no python3: no wheel" >&2 && continue; }
		python3 release/wheel.py "$version" "$arch" "$binary" python/placectl "$out"
	done
	cp release/Containerfile "$out"
	rm -rf "$stage"
	(cd "$out" && sha256sum Containerfile placectl* >SHA256SUMS)
}

rm -rf dist
build dist
if [ -n "$check" ]; then
	mkdir "$tools/elsewhere"
	git ls-files -z | xargs -0 cp --parents -t "$tools/elsewhere"
	(cd "$tools/elsewhere" && build "$tools/dist")
	diff dist/SHA256SUMS "$tools/dist/SHA256SUMS" && echo "the same bytes from two places"
fi
cat dist/SHA256SUMS
