package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	store "halfspace/internal/files"
)

// Expand returns the files that paths name, in the order of paths. A path may be
//
//   - a file; "-" is standard input;
//   - a glob: the result is its matches, sorted; ** stands for folders at any depth;
//   - a directory: the result is the *.parquet files in and below it, sorted by path; if there are none, its files with
//     the extension of another format;
//   - a URL whose scheme the program has registered: an object, a glob for objects, or a folder of a bucket.
//
// Expand leaves out names that begin with a dot or an underscore, unless a path spells them out.
func Expand(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("no data: name a file, a directory or a glob")
	}
	pool := column.NewPool(1)
	if slices.ContainsFunc(paths, func(p string) bool { return store.Scheme(p) != "" }) {
		pool = column.NewPool(store.Requests)
	}
	files, bad := make([][]string, len(paths)), make([]error, len(paths))
	err := pool.Each(context.Background(), len(paths), func(i int) error {
		files[i], bad[i] = expandOne(paths[i])
		return nil
	})
	if err = cmp.Or(err, column.JoinErrors(bad...)); err != nil {
		return nil, err
	}
	return slices.Concat(files...), nil
}

func expandOne(p string) ([]string, error) {
	if p == "-" {
		return []string{p}, nil
	}
	switch s, err := store.StoreOf(p); {
	case err != nil:
		return nil, column.PathError(p, err)
	case s != nil:
		return objects(s, p)
	}
	if _, err := os.Stat(p); err == nil || !strings.ContainsAny(p, "*?[") {
		return named(p)
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
	var files []string
	for _, m := range matches {
		if hides(split(m), split(p)) {
			continue
		}
		found, err := named(m)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return matched(p, files)
}

func badGlob(p string) error {
	return fmt.Errorf("%s: not a valid glob: close every [ or put \\ before it", p)
}

// matched returns the files of a glob, or an error if there are none.
func matched(p string, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, column.NoFile("%s: no file matches: check the path", p)
	}
	return files, nil
}

// named returns the files of a path that isn't a glob.
func named(p string) ([]string, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, column.PathError(p, err)
	}
	if info.IsDir() {
		return directory(p)
	}
	return []string{p}, nil
}

// directory returns the Parquet files in and below dir; if there are none, the files of other formats. It follows
// links to files, but not links to directories, which may lead in a circle.
func directory(dir string) ([]string, error) {
	var files, others []string
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
	return inDirectory(dir, files, others)
}

// inDirectory returns the Parquet files of a directory, sorted. If there are none, it returns its other files.
func inDirectory(dir string, files, others []string) ([]string, error) {
	if len(files) == 0 {
		files = others
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.parquet file in this directory, nor one of another format: check the path", dir)
	}
	slices.Sort(files)
	return files, nil
}

// objects returns the objects of a store that a URL names, by the rules for files.
func objects(s store.Store, p string) ([]string, error) {
	scheme := store.Scheme(p) + "://"
	p = scheme + strings.TrimRight(p[len(scheme):], "/")
	switch _, err := s.Stat(p); {
	case err == nil:
		return []string{p}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, column.PathError(p, err)
	}
	pattern := strings.Split(p[len(scheme):], "/")
	if !strings.ContainsAny(p, "*?[") {
		all, err := s.List(p + "/")
		switch {
		case err != nil:
			return nil, column.PathError(p, err)
		case len(all) == 0:
			return nil, column.PathError(p, fs.ErrNotExist)
		}
		return below(p, all)
	}
	prefix := scheme // a bucket can't be a pattern, and "" is no bucket
	if !strings.ContainsAny(pattern[0], "*?[") {
		prefix = p[:strings.IndexAny(p, `*?[\`)]
	}
	all, err := s.List(prefix)
	if err != nil {
		return nil, column.PathError(p, err)
	}
	if slices.Contains(pattern, "**") {
		return deep(scheme, p, all)
	}
	if slices.ContainsFunc(all, func(object string) bool { return strings.HasPrefix(object, p+"/") }) {
		return below(p, all) // a folder whose name has the characters of a glob
	}
	var files []string
	for _, m := range globbed(scheme, pattern, all) {
		found := []string{m}
		if _, is := slices.BinarySearch(all, m); !is {
			if found, err = below(m, all); err != nil {
				return nil, err
			}
		}
		files = append(files, found...)
	}
	if _, err := path.Match(strings.Join(pattern, "/"), ""); err != nil {
		return nil, badGlob(p)
	}
	return matched(p, files)
}

// deep returns the objects that match a pattern in which ** stands for folders at any depth.
func deep(scheme, p string, all []string) (files []string, err error) {
	pattern := p[len(scheme):]
	if !doublestar.ValidatePattern(pattern) {
		return nil, badGlob(p)
	}
	for _, object := range all {
		if name := object[len(scheme):]; doublestar.MatchUnvalidated(pattern, name) && !hides(strings.Split(name, "/"), strings.Split(pattern, "/")) {
			files = append(files, object)
		}
	}
	return matched(p, files)
}

// globbed returns the objects and folders that match the elements of a pattern, in the order of filepath.Glob.
func globbed(scheme string, pattern, all []string) (matches []string) {
	var found [][]string
	for _, object := range all {
		names := strings.Split(object[len(scheme):], "/")
		if len(names) < len(pattern) {
			continue
		}
		names = names[:len(pattern)]
		for i, name := range names {
			if is, _ := path.Match(pattern[i], name); !is || name == "" || hidden(name) && !hidden(pattern[i]) {
				names = nil
				break
			}
		}
		if names != nil {
			found = append(found, names)
		}
	}
	slices.SortFunc(found, slices.Compare)
	for _, names := range slices.CompactFunc(found, slices.Equal) {
		matches = append(matches, scheme+strings.Join(names, "/"))
	}
	return matches
}

// below returns the objects below a folder, by the rules for the files of a directory.
func below(dir string, all []string) ([]string, error) {
	var files, others []string
	from, _ := slices.BinarySearch(all, dir+"/")
	for _, object := range all[from:] {
		rest, is := strings.CutPrefix(object, dir+"/")
		if !is {
			break
		}
		if slices.ContainsFunc(strings.Split(rest, "/"), hidden) {
			continue
		}
		switch f, ok := extensions[source.Extension(object)]; {
		case !ok:
		case f == formatParquet:
			files = append(files, object)
		default:
			others = append(others, object)
		}
	}
	return inDirectory(dir, files, others)
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
