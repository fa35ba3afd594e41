package dataset

import (
	"context"

	"halfspace/dataset/internal/source"
)

// Expand returns the files that paths name, in the order of paths. A path may be
//
//   - a file; "-" is standard input;
//
//   - a glob: the result is its matches, sorted; ** stands for folders at any depth;
//
//   - a directory: the result is the *.parquet files in and below it, sorted by path; if there are none, its files with
//     the extension of another format; if there are none, its *.json files;
//
//   - a URL whose scheme the program has registered: an object, a glob for objects, or a folder of a bucket.
//
//   - the folder of a Delta or Iceberg table, also with a version as in sales@v41, or the file of an Iceberg table's metadata: the
//     result is a path that names the version, the newest one unless the path or Options.Version names another.
//
// Expand leaves out names that begin with a dot or an underscore, unless a path spells them out.
//
// It doesn't follow links to folders in a directory, nor for **. If warn isn't nil, it gets a line about such links,
// and about folders that may not be read.
func Expand(ctx context.Context, paths []string, warn func(text string)) ([]string, error) {
	return Options{}.Expand(ctx, paths, warn)
}

// Expand is the function Expand, with the options Raw and Version.
func (opt Options) Expand(ctx context.Context, paths []string, warn func(text string)) ([]string, error) {
	all, notes, err := source.Expand(ctx, paths, rank, opt.choice())
	for _, n := range notes {
		if warn != nil {
			warn(n)
		}
	}
	return all, err
}

// choice returns how lake tables are read.
func (opt Options) choice() source.Choice { return source.Choice{Raw: opt.Raw, Version: opt.Version} }

// Partitions returns the names of the columns that the folders of files name, as in
// country=de/day=2026-01-31/a.parquet.
func Partitions(paths []string) []string {
	return append([]string{}, source.ConstantsOf(paths).Names...)
}

// rank returns 1 for the name of a Parquet file, 2 for a name with the extension of another format, 3 for .json, which
// is often the name of a file beside data, and 0 for other names.
func rank(name string) int {
	switch extension := source.Extension(name); extensions[extension] {
	case formatParquet:
		return 1
	case "":
		if extension == ".json" {
			return 3
		}
		return 0
	}
	return 2
}
