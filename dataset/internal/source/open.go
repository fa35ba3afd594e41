package source

import (
	"io/fs"

	"halfspace/internal/files"
)

// Open opens a data file. Tests replace it by a function that returns files whose reads fail.
var Open = files.Open

// Reopen opens a file that was examined before. For an object of a store, it doesn't ask for the object's state
// again, which would be a request.
func Reopen(path string, seen fs.FileInfo) (files.ReadableFile, error) {
	if s, err := files.StoreOf(path); err == nil && s != nil {
		return s.Open(path, seen)
	}
	return Open(path)
}
