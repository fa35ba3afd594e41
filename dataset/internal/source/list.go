package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/files"
)

// A Rank returns the rank of a file by its name: a folder stands for its files of the least rank. The rank of files
// that are no data is 0.
type Rank func(name string) int

// Expand returns the files that paths name, in the order of paths, and notes about folders that were left out. A path
// may be
//
//   - a file; "-" is standard input;
//   - a glob: the result is its matches, sorted; ** stands for folders at any depth;
//   - a directory: the result is the files of the least rank in and below it, sorted by path;
//   - the folder of a Delta or Iceberg table, also with a version, as in sales@v41, or the file of an Iceberg table's metadata: the
//     result is a path that names the version that is read, the newest one unless the path or the choice names another;
//   - a URL whose scheme the program has registered: an object, a glob for objects, or a folder of a bucket.
//
// Expand leaves out names that begin with a dot or an underscore, unless a path spells them out. Files of lake tables, and tables
// of other kinds, are an error unless the choice is raw.
func Expand(ctx context.Context, paths []string, rank Rank, choice Choice) (all, notes []string, err error) {
	if len(paths) == 0 {
		return nil, nil, errors.New("no data: name a file, a directory or a glob")
	}
	pool := column.NewPool(1)
	if slices.ContainsFunc(paths, func(p string) bool { return files.Scheme(p) != "" }) {
		pool = column.NewPool(files.ParallelRequests)
	}
	found, bad := make([]lister, len(paths)), make([]error, len(paths))
	err = pool.Each(ctx, len(paths), func(i int) error {
		found[i] = lister{ctx: ctx, rank: rank, choice: choice}
		bad[i] = found[i].expand(paths[i])
		return ctx.Err()
	})
	finder := newLakeFinder()
	for i, p := range paths {
		if l := &found[i]; files.Scheme(p) == "" && !choice.Raw {
			if l.pinned {
				l = &lister{folders: l.folders, linked: l.linked,
					files: slices.DeleteFunc(slices.Clone(l.files), func(p string) bool { return PinOf(p) != nil })}
			}
			bad[i] = cmp.Or(finder.refuse(p, l), bad[i])
		}
	}
	if err = cmp.Or(err, column.JoinErrors(bad...)); err != nil {
		return nil, nil, err
	}
	var links, denied []string
	for _, l := range found {
		all, links, denied = append(all, l.files...), append(links, l.links...), append(denied, l.denied...)
	}
	return all, notesOf(links, denied), nil
}

// notesOf returns lines about links to folders that were not followed, and about folders that may not be read.
func notesOf(links, denied []string) (lines []string) {
	if len(denied) > 0 {
		lines = append(lines, column.Listed(denied, "folder")+": permission denied, so files there are left out")
	}
	if len(links) > 0 {
		lines = append(lines, column.Listed(links, "link")+
			": links to folders are not followed (name the folder to read its files)")
	}
	return lines
}

// A Choice says how lake tables are read.
type Choice struct {
	Raw     bool   // the files as they are, without the logs of the tables
	Version string // of the tables; "": the newest
}

// A lister finds the files of a path.
type lister struct {
	ctx    context.Context
	rank   Rank
	choice Choice
	files  []string
	pinned bool     // some of the files are versions of lake tables
	links  []string // links to folders that were not followed
	denied []string // folders that may not be read

	folders []string // folders that the path names
	linked  []string // files that are links
}

// expand finds the files of a path.
func (l *lister) expand(p string) (err error) {
	if p == "-" {
		l.files = []string{p}
		return nil
	}
	switch s, err := files.StoreOf(p); {
	case err != nil:
		return column.PathError(p, err)
	case s != nil:
		if l.files, err = objects(s, p, l.rank); err == nil {
			err = refuseObjects(l.ctx, s, p, l.files)
		}
		return err
	}
	if is, err := l.table(p); is || err != nil {
		return err
	}
	info, err := os.Lstat(p)
	switch {
	case err == nil || !strings.ContainsAny(p, "*?["):
		return l.named(p, info)
	case strings.Contains(p, "**"):
		err = l.deepGlob(p)
	default:
		err = l.glob(p)
	}
	switch {
	case errors.Is(err, filepath.ErrBadPattern):
		return badGlob(p)
	case err == nil && len(l.files) == 0 && len(l.denied) > 0:
		return column.PathError(l.denied[0], fs.ErrPermission)
	case err == nil:
		_, err = matched(p, l.files)
	}
	return err
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

// named adds the files of a path that isn't a glob. info is the result of os.Lstat, or nil.
func (l *lister) named(p string, info fs.FileInfo) (err error) {
	link := info != nil && info.Mode()&fs.ModeSymlink != 0
	if info == nil || link {
		if info, err = os.Stat(p); err != nil {
			return column.PathError(p, err)
		}
	}
	switch {
	case info.IsDir():
		if is, err := l.table(p); is || err != nil {
			return err
		}
		l.folders = append(l.folders, p)
		return l.directory(p)
	case link:
		l.linked = append(l.linked, p)
	}
	l.files = append(l.files, p)
	return nil
}
