package source

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
)

// objects returns the objects of a store that a URL names, by the rules for files.
func objects(s files.Store, p string, rank Rank) ([]string, error) {
	scheme := files.Scheme(p) + "://"
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
		return below(p, all, rank)
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
		return below(p, all, rank) // a folder whose name has the characters of a glob
	}
	var matches []string
	for _, m := range globbed(scheme, pattern, all) {
		found := []string{m}
		if _, is := slices.BinarySearch(all, m); !is {
			if found, err = below(m, all, rank); err != nil {
				return nil, err
			}
		}
		matches = append(matches, found...)
	}
	if _, err := path.Match(strings.Join(pattern, "/"), ""); err != nil {
		return nil, badGlob(p)
	}
	return matched(p, matches)
}

// deep returns the objects that match a pattern in which ** stands for folders at any depth.
func deep(scheme, p string, all []string) (matches []string, err error) {
	pattern := p[len(scheme):]
	if !doublestar.ValidatePattern(pattern) {
		return nil, badGlob(p)
	}
	elements := strings.Split(pattern, "/")
	for _, object := range all {
		if matchesDeep(object[len(scheme):], pattern, elements) {
			matches = append(matches, object)
		}
	}
	return matched(p, matches)
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
func below(dir string, all []string, rank Rank) ([]string, error) {
	var within []string
	from, _ := slices.BinarySearch(all, dir+"/")
	for _, object := range all[from:] {
		rest, is := strings.CutPrefix(object, dir+"/")
		if !is {
			break
		}
		if rank(object) > 0 && !slices.ContainsFunc(strings.Split(rest, "/"), hidden) {
			within = append(within, object)
		}
	}
	return inDirectory(dir, within, rank)
}
