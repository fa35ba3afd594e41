package dataset

import (
	"halfspace/dataset/internal/column"
)

// Errors that a program may want to act on. Errors of this package wrap them: test with errors.Is.
var (
	// ErrFormat: the files have an unknown format, or several formats.
	ErrFormat = column.ErrFormat
	// ErrLine: a line of a text file can't be read.
	ErrLine = column.ErrLine
	// ErrColumn: a column is absent, or its type doesn't suit its use.
	ErrColumn = column.ErrColumn
	// ErrNulls: a value is missing, and Options.Nulls doesn't say how to treat it.
	ErrNulls = column.ErrNulls
	// ErrDamaged: a file is damaged or truncated.
	ErrDamaged = column.ErrDamaged
	// ErrMemory: reading takes more memory than Options.Memory allows, or than is available.
	ErrMemory = column.ErrMemory
)
