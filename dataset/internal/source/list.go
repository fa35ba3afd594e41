package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
)

// A Rank returns the rank of a file by its name: a folder stands for its files of the least rank. The rank of files that are no data is 0.
type Rank func(name string) int

// Expand returns the files that paths name, in the order of paths. A path may be
//
//   - a file; "-" is standard input;
//   - a glob: the result is its matches, sorted; ** stands for folders at any depth;
//   - a directory: the result is the files of the least rank in and below it, sorted by path;
//   - a URL whose scheme the program has registered: an object, a glob for objects, or a folder of a bucket.
//
// Expand leaves out names that begin with a dot or an underscore, unless a path spells them out.
func Expand(ctx context.Context, paths []string, rank Rank) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("no data: name a file, a directory or a glob")
	}
	pool := column.NewPool(1)
	if slices.ContainsFunc(paths, func(p string) bool { return files.Scheme(p) != "" }) {
		pool = column.NewPool(files.Requests)
	}
	found, bad := make([][]string, len(paths)), make([]error, len(paths))
	err := pool.Each(ctx, len(paths), func(i int) error {
		found[i], bad[i] = expandOne(paths[i], rank)
		return nil
	})
	if err = cmp.Or(err, column.JoinErrors(bad...)); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

func expandOne(p string, rank Rank) ([]string, error) {
	if p == "-" {
		return []string{p}, nil
	}
	switch s, err := files.StoreOf(p); {
	case err != nil:
		return nil, column.PathError(p, err)
	case s != nil:
		return objects(s, p, rank)
	}
	if _, err := os.Stat(p); err == nil || !strings.ContainsAny(p, "*?[") {
		return named(p, rank)
	}
	glob := filepath.Glob
	if strings.Contains(p, "**") { // folders at any depth
		glob = func(p string) ([]string, error) {
			all, err := doublestar.FilepathGlob(p, doublestar.WithFilesOnly())
			slices.Sort(all)
			return all, err
		}
	}
	matches, err := glob(p)
	if err != nil {
		return nil, badGlob(p)
	}
	var all []string
	for _, m := range matches {
		if hides(split(m), split(p)) {
			continue
		}
		found, err := named(m, rank)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return matched(p, all)
}

func badGlob(p string) error {
	return fmt.Errorf("%s: not a valid glob: close every [ or put \\ before it", p)
}

// matched returns the files of a glob, or an error if there are none.
func matched(p string, all []string) ([]string, error) {
	if len(all) == 0 {
		return nil, column.NoFile("%s: no file matches: check the path", p)
	}
	return all, nil
}

// named returns the files of a path that isn't a glob.
func named(p string, rank Rank) ([]string, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, column.PathError(p, err)
	}
	if info.IsDir() {
		return directory(p, rank)
	}
	return []string{p}, nil
}

func split(p string) []string { return strings.Split(filepath.Clean(p), string(filepath.Separator)) }

// hides returns true if an element of a match is hidden and the same element of the pattern isn't. From ** on, any element of the pattern
// may be the same.
func hides(match, pattern []string) bool {
	for i := range min(len(match), len(pattern)) {
		if pattern[i] == "**" {
			return slices.ContainsFunc(match[i:], hidden) && !slices.ContainsFunc(pattern[i:], hidden)
		}
		if hidden(match[i]) && !hidden(pattern[i]) {
			return true
		}
	}
	return false
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }
