// Package source lists the files of a table.
package source

import (
	"context"
	"slices"

	"halfspace/internal/files"
)

// A Source is the files of a table in the order of their rows, and the columns that their folders name.
type Source struct {
	Files     []*File
	Named     []string // paths that name the files, and the versions of lake tables: List gives the same files for them
	Constants Constants
	Notes     []string        // about files that are left out, or count twice
	Expected  []files.Version // of the files once they are opened; nil: any
}

// List returns the files that paths name; see Expand. It reads no file.
//
// A version of a lake table is a file with a Pin: package lake puts the table's files in its place.
func List(ctx context.Context, paths []string, rank Rank, choice Choice) (*Source, error) {
	paths, notes, err := Expand(ctx, paths, rank, choice)
	if err != nil {
		return nil, err
	}
	s := Of(paths)
	for _, f := range s.Files {
		if f.Path != "-" && !choice.Raw {
			f.Pin = PinOf(f.Path)
		}
	}
	s.Notes = append(notes, repeated(paths)...)
	return s, nil
}

// Of returns the source of files.
func Of(paths []string) *Source {
	s := &Source{Constants: ConstantsOf(paths), Named: paths}
	for _, p := range paths {
		s.Files = append(s.Files, &File{Path: p})
	}
	return s
}

// Versions returns the versions of the files that are objects of a store, or nil if all files are local.
func (s *Source) Versions() (all []files.Version) {
	for _, f := range s.Files {
		v := files.Version("")
		if f.Info != nil {
			v = files.VersionOf(f.Info)
		}
		all = append(all, v)
	}
	if !slices.ContainsFunc(all, func(v files.Version) bool { return v != "" }) {
		return nil
	}
	return all
}
