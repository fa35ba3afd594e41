#!/usr/bin/env bash
# asm-check.sh: fails unless the committed assembly is exactly what the generator writes.
set -euo pipefail
cd "$(dirname "$0")/.."
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
go -C asm/gen run . "$new"
list() { (cd "$1" && find . -name '*_amd64.s' -o -name '*_amd64.go' -o -name '*_arm64.s' -o -name '*_arm64.go' | grep -v '^./gen/' | sort); }
if ! diff <(list "$new") <(list asm); then
	echo "asm holds other generated files than the generator writes: run make asm" >&2
	exit 1
fi
for f in $(list "$new"); do
	cmp "$new/$f" "asm/$f" || { echo "asm/$f is not what the generator writes: run make asm" >&2; exit 1; }
done
