package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"halfspace/dataset/internal/column"
)

// directory returns the files of the least rank in and below dir. It follows
// links to files, but not links to directories, which may lead in a circle.
func directory(dir string, rank Rank) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return column.PathError(p, err)
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
		if rank(p) == 0 || d.IsDir() {
			return nil
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return nil
		}
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return inDirectory(dir, all, rank)
}

// inDirectory returns the files of the least rank among the files of a directory, sorted.
func inDirectory(dir string, all []string, rank Rank) ([]string, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no *.parquet file in this directory, nor one of another format: check the path", dir)
	}
	least := rank(slices.MinFunc(all, func(a, b string) int { return rank(a) - rank(b) }))
	all = slices.DeleteFunc(all, func(p string) bool { return rank(p) > least })
	slices.Sort(all)
	return all, nil
}
