//go:build !windows

package files

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// TempDir returns the directory for temporary files: TMPDIR, otherwise /var/tmp, otherwise /tmp, which may lie in
// memory.
func TempDir() string {
	const disk = "/var/tmp"
	if os.Getenv("TMPDIR") == "" && unix.Access(disk, unix.W_OK|unix.X_OK) == nil {
		return disk
	}
	return os.TempDir()
}

// CreateUnnamed opens a temporary file without a name in TempDir, for reading and writing. The file is gone once it is
// closed or the process ends.
func CreateUnnamed() (*os.File, error) {
	const mode = 0o600
	target := filepath.Join(TempDir(), "temporary")
	f, err := createUnnamed(target, mode)
	if err == nil {
		return f.File, nil
	}
	sweep(target)
	if f, err = createNamed(target, mode); err != nil {
		return nil, err
	}
	if err := os.Remove(release(f.File)); err != nil {
		f.Close()
		return nil, err
	}
	return f.File, nil
}

// syncDir makes a rename in dir survive a power failure. The file is in its place already, so it is no failure if the
// directory can't be opened for reading, or if the file system can't sync directories.
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
