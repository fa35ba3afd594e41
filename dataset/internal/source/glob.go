package source

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// glob adds the files that match a pattern without **, in the order of filepath.Glob, and the files of folders that
// match.
func (l *lister) glob(pattern string) error {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return err
	}
	matches, err := l.matches(pattern)
	if err != nil {
		return err
	}
	for _, m := range matches {
		info, _ := os.Lstat(m)
		if err := l.named(m, info); err != nil {
			return err
		}
	}
	return nil
}

// matches returns the paths that match a pattern without **. An element of a path that begins with a dot or an
// underscore matches an element of the pattern that begins so.
func (l *lister) matches(pattern string) (all []string, err error) {
	if !isPattern(pattern) {
		if _, err := os.Lstat(pattern); err != nil {
			return nil, nil
		}
		return []string{pattern}, nil
	}
	dir, name := filepath.Split(pattern)
	folders := []string{dir}
	if up := strings.TrimRight(dir[len(filepath.VolumeName(dir)):], string(filepath.Separator)); isPattern(up) {
		if folders, err = l.matches(filepath.VolumeName(dir) + up); err != nil {
			return nil, err
		}
	}
	for _, folder := range folders {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		names, err := l.namesIn(folder, name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			all = append(all, filepath.Join(folder, n))
		}
	}
	return all, nil
}

// namesIn returns the names in a folder that match an element of a pattern, sorted.
func (l *lister) namesIn(folder, element string) (names []string, err error) {
	if element == "." || element == ".." { // as in filepath.Glob
		return nil, nil
	}
	if !isPattern(element) {
		if _, err := os.Lstat(filepath.Join(folder, element)); err != nil {
			l.deny(folder, err)
			return nil, nil
		}
		return []string{element}, nil
	}
	entries, err := readDir(cmp.Or(folder, "."))
	if err != nil { // the folder may be a file
		l.deny(folder, err)
		return nil, nil
	}
	for _, e := range entries {
		is, err := filepath.Match(element, e.Name())
		if err != nil {
			return nil, err
		}
		if is && (!hidden(e.Name()) || hidden(element)) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// deny records a folder that may not be read.
func (l *lister) deny(folder string, err error) {
	if errors.Is(err, fs.ErrPermission) {
		l.denied = append(l.denied, filepath.Clean(folder))
	}
}

// isPattern returns true if a path has characters of a pattern.
func isPattern(p string) bool {
	return strings.ContainsAny(p, `*?[`) || runtime.GOOS != "windows" && strings.Contains(p, `\`)
}

// deepGlob adds the files that match a pattern in which ** stands for folders at any depth, sorted. It follows no links
// to folders below the part of the pattern that has no pattern characters.
func (l *lister) deepGlob(p string) error {
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(p))
	if !doublestar.ValidatePattern(pattern) {
		return filepath.ErrBadPattern
	}
	base = filepath.FromSlash(base)
	elements := strings.Split(pattern, "/")
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		l.deny(base, err)
		return nil
	}
	err := l.walk(base, slices.ContainsFunc(elements, hidden), func(path string) {
		name, err := filepath.Rel(base, path)
		if err == nil && matchesDeep(filepath.ToSlash(name), pattern, elements) {
			l.files = append(l.files, path)
		}
	})
	slices.Sort(l.files)
	return err
}

// matchesDeep returns true if the name of a file matches a pattern with **, whose elements are given.
func matchesDeep(name, pattern string, elements []string) bool {
	if strings.HasSuffix(pattern, "/**") { // the element before ** is a folder
		pattern += "/*"
	}
	return doublestar.MatchUnvalidated(pattern, name) && !hides(strings.Split(name, "/"), elements)
}

// hides returns true if an element of a match is hidden and the same element of the pattern isn't. From ** on, any
// element of the pattern may be the same.
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
