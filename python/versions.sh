#!/usr/bin/env bash
# versions.sh [VERSION...]: runs the tests of the Python package with versions of scikit-learn from PyPI, each in a virtual environment under
# tmp/python, and scikit-learn's own tests of its linear classifiers.
#
# The newest version runs with pandas, polars, pyarrow and others of its time. If pip can't install a version, a line says SKIPPED; with
# CI=true the script fails.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
newest=1.9.1
table_libraries="pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 narwhals duckdb nanoarrow matplotlib tqdm nbconvert ipykernel pyright"
for version in "${@:-1.4.2 $newest}"; do
	for version in $version; do
		mkdir -p tmp/python
		folder=tmp/python/$version packages="scikit-learn==$version pytest pandas==2.2.3"
		[ "$version" = $newest ] && packages="scikit-learn==$version pytest $table_libraries"
		[[ $version = 1.4.* ]] && packages="$packages numpy<2"
		if ! [ -e "$folder/complete" ]; then
			rm -rf "$folder"
			if ! { "$python" -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: $packages; } >"$folder.log" 2>&1; then
				[ "${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0
				echo "$word: tests with scikit-learn $version: $(grep -i error "$folder.log" | tail -n 1 | cut -c1-200)" >&2
				[ $status = 0 ] || exit 1
				continue
			fi
			touch "$folder/complete"
		fi
		echo "scikit-learn $version"
		(cd python && "../$folder/bin/python" -m pytest -q -p no:cacheprovider -W ignore tests)
		"$folder/bin/python" python/sklearn_tests.py
		if [ -e "$folder/bin/pyright" ]; then
			if "$folder/bin/pyright" --version >"$folder.log" 2>&1; then
				PYTHONPATH=python "$folder/bin/pyright" --pythonpath "$folder/bin/python" --verifytypes halfspace --ignoreexternal | grep "completeness score: 100%"
			else
				echo "SKIPPED: types of the Python package: pyright does not run: $(tail -n 1 "$folder.log" | cut -c1-200)" >&2
			fi
		fi
	done
done
