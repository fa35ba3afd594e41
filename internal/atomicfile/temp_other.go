//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
)

// unnamed fails: a file without a name can't get one.
func unnamed(string, fs.FileMode) (*tempFile, error) { return nil, errors.ErrUnsupported }

func linkName(*tempFile, string) error { return errors.ErrUnsupported }

func bootID() string { return "" }
