//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// TempDir returns the directory for temporary files: TMPDIR, else /var/tmp, else /tmp, which may lie in memory.
func TempDir() string {
	const disk = "/var/tmp"
	if os.Getenv("TMPDIR") == "" && unix.Access(disk, unix.W_OK|unix.X_OK) == nil {
		return disk
	}
	return os.TempDir()
}

// syncDir makes a rename in dir last through a power failure. The file is in its place already, so a directory that
// can't be opened for reading, or a file system that can't sync directories, is no failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
