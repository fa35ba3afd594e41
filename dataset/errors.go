package dataset

import "halfspace/dataset/internal/frame"

// Errors of this package wrap one of these where a program may want to act on it. Test with errors.Is.
var (
	// ErrFormat: the files have no format that is known, or several.
	ErrFormat = frame.ErrFormat
	// ErrColumn: a column is absent, or its type doesn't suit what it is named for.
	ErrColumn = frame.ErrColumn
	// ErrNulls: a value is missing, and Options.Nulls doesn't say what becomes of it.
	ErrNulls = frame.ErrNulls
	// ErrDamaged: a file is damaged or truncated.
	ErrDamaged = frame.ErrDamaged
	// ErrMemory: reading takes more memory than Options.Memory allows, or than there is.
	ErrMemory = frame.ErrMemory
)
