package source

import (
	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
)

// An Input is the files of a column.Input that are read from their beginning, and the columns that are read. It has the
// methods that the formats share.
type Input struct {
	Files  []*File
	Roles  *column.Roles
	Memory int64 // maximum bytes of memory of a pass; 0: no limit
}

// Paths returns the paths of the files.
func (in *Input) Paths() []string { return Paths(in.Files) }

// Paths returns the paths of files.
func Paths(files []*File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}

// Name returns the name of all files together, for messages.
func (in *Input) Name() string { return humanize.Files(in.Paths()) }

// ReadColumns returns the columns that are read.
func (in *Input) ReadColumns() *column.Roles { return in.Roles }

// Limit limits the memory of later passes.
func (in *Input) Limit(memory int64) { in.Memory = memory }

// LastPass announces that the next pass is the last.
func (in *Input) LastPass() {
	for _, f := range in.Files {
		if f.Stdin != nil {
			f.Stdin.last = true
		}
	}
}
