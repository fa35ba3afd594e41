package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"halfspace/dataset/internal/column"
)

// directory adds the files of the least rank in and below dir.
func (l *lister) directory(dir string) error {
	var all []string
	err := l.walk(dir, false, func(path string) {
		if l.rank(path) > 0 {
			all = append(all, path)
		}
	})
	if err != nil {
		return err
	}
	found, err := inDirectory(dir, all, l.rank)
	if err != nil && len(l.links) > 0 {
		err = fmt.Errorf("%w, or name %s: links to folders are not followed", err, l.links[0])
	}
	l.files = append(l.files, found...)
	return err
}

// readDir reads a folder. Tests replace it by a function that denies some folders.
var readDir = os.ReadDir

// walk calls visit with the files in and below a folder. It leaves out names that begin with a dot or an underscore
// unless all is true. It follows links to files, but not links to folders, which may lead in a circle.
func (l *lister) walk(dir string, all bool, visit func(path string)) error {
	entries, err := readDir(dir)
	if err != nil {
		return column.PathError(dir, err)
	}
	for _, e := range entries {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		switch p := filepath.Join(dir, e.Name()); {
		case hidden(e.Name()) && !all:
		case e.IsDir():
			if err := l.walk(p, all, visit); err != nil {
				return err
			}
		case e.Type()&fs.ModeSymlink == 0:
			visit(p)
		case isFolder(p):
			l.links = append(l.links, p)
		default:
			l.linked = append(l.linked, p)
			visit(p)
		}
	}
	return nil
}

// isFolder returns true if a path, or a link there, leads to a folder.
func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// inDirectory returns the files of the least rank among the files of a directory, sorted.
func inDirectory(dir string, all []string, rank Rank) ([]string, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no *.parquet file in this directory, nor one of another format: check the path", dir)
	}
	ranks := make([]int, len(all))
	for i, p := range all {
		ranks[i] = rank(p)
	}
	least, files := slices.Min(ranks), all[:0]
	for i, p := range all {
		if ranks[i] == least {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	return files, nil
}
