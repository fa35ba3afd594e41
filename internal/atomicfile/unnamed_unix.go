//go:build !windows

package atomicfile

import "os"

// Unnamed opens a temporary file without a name in dir, for reading and writing. It is gone once it is closed or the process
// ends. An empty dir is the system's place for temporary files.
func Unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".halfspace-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
