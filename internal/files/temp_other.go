//go:build !linux

package files

import (
	"errors"
	"io/fs"
)

// createUnnamed fails, since a file without a name couldn't get one here.
func createUnnamed(string, fs.FileMode) (*tempFile, error) { return nil, errors.ErrUnsupported }

func linkName(*tempFile, string) error { return errors.ErrUnsupported }

func bootID() string { return "" }
