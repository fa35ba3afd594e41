package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"halfspace/internal/atomicfile"
)

// toStdout tells whether results go where a report would go.
func toStdout(path string) bool { return path == "-" || atomicfile.IsStdout(path) }

// checkOut finds out, before hours of work, whether the result can be written to path in the end, and that it would not
// take the place of one of the files read. No path is fine.
func checkOut(path string, inputs []string) error {
	if path == "" || toStdout(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil {
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
				return fmt.Errorf("%s is to be read and to be written: name another file to write", path)
			}
		}
		if !info.Mode().IsRegular() && !info.IsDir() {
			return nil // to open a pipe and close it again would end its reader
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		return fmt.Errorf("%s can't be written: %w: choose another path", path, err)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}
