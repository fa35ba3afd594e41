package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/source"
)

// Expand returns the files that paths name, in the order of paths:
//
//   - a file as it is; "-" is standard input;
//   - the matches of a glob, sorted;
//   - the *.parquet files in and below a directory, sorted by path; if there are none, its files with the extension of
//     another format.
//
// It leaves out names that begin with a dot or an underscore, unless a path spells them out.
func Expand(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("no data: name a file, a directory or a glob")
	}
	var files []string
	for _, p := range paths {
		found, err := expandOne(p)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func expandOne(p string) ([]string, error) {
	if p == "-" {
		return []string{p}, nil
	}
	if _, err := os.Stat(p); err == nil || !strings.ContainsAny(p, "*?[") {
		return named(p)
	}
	matches, err := filepath.Glob(p)
	if err != nil {
		return nil, fmt.Errorf("%s: not a valid glob: close every [ or put \\ before it", p)
	}
	var files []string
	for _, m := range matches {
		if hides(m, p) {
			continue
		}
		found, err := named(m)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file matches: check the path", p)
	}
	return files, nil
}

// named returns the files of a path that is no glob.
func named(p string) ([]string, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, frame.PathError(p, err)
	}
	if info.IsDir() {
		return directory(p)
	}
	return []string{p}, nil
}

// directory returns the Parquet files in and below dir; if there are none, the files of other formats. It follows links to
// files, but not links to directories: these may lead in a circle.
func directory(dir string) ([]string, error) {
	var files, others []string
	err := filepath.WalkDir(dir+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return frame.PathError(p, err)
		}
		if filepath.Clean(p) == filepath.Clean(dir) {
			return nil
		}
		if hidden(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		f, ok := extensions[source.Extension(p)]
		if !ok || d.IsDir() {
			return nil
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return nil
		}
		if f == formatParquet {
			files = append(files, p)
		} else {
			others = append(others, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		files = others
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.parquet file in this directory, nor one of another format: check the path", dir)
	}
	slices.Sort(files)
	return files, nil
}

// hides tells whether an element of a match is hidden and the element of the pattern isn't.
func hides(match, pattern string) bool {
	const sep = string(filepath.Separator)
	m, p := strings.Split(filepath.Clean(match), sep), strings.Split(filepath.Clean(pattern), sep)
	for i := range min(len(m), len(p)) {
		if hidden(m[i]) && !hidden(p[i]) {
			return true
		}
	}
	return false
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// Name names files in a message about all of them.
func Name(paths []string) string { return frame.NameFiles(paths) }
