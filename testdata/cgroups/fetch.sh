#!/usr/bin/env bash
# usage: testdata/cgroups/fetch.sh FOLDER
# Fetches Debian's kernel, busybox and, where there is no qemu, qemu into FOLDER and unpacks
# them. Where that cannot be it says why, on standard output, and fails.
set -euo pipefail
folder=$1
[ -e "$folder/complete" ] && exit 0
for program in apt-get apt-cache dpkg-deb; do
	command -v $program >/dev/null || { echo "packages cannot be fetched without $program, which Debian has"; exit 1; }
done
mkdir -p "$folder/packages"
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image/ {print $2; exit}')
[ -n "$kernel" ] || { echo "no package linux-image-cloud-amd64 is known here (apt-get update?)"; exit 1; }
list=(busybox-static "$kernel")
if ! command -v qemu-system-x86_64 >/dev/null; then
	mapfile -t more < <(apt-get install -s --no-install-recommends qemu-system-x86 2>/dev/null | awk '$1 == "Inst" {print $2}')
	[ ${#more[@]} -gt 0 ] || { echo "no package qemu-system-x86 is known here (apt-get update?)"; exit 1; }
	list+=("${more[@]}")
fi
(cd "$folder/packages" && apt-get download "${list[@]}" >log 2>&1) || { echo "packages could not be fetched: $(tail -1 "$folder/packages/log")"; exit 1; }
for package in "$folder"/packages/*.deb; do
	dpkg-deb -x "$package" "$folder/unpacked"
done
touch "$folder/complete"
