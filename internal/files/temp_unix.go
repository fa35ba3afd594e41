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

// isStuck returns true if only the owner of a file, the owner of its folder or root may replace the file: the folder has the sticky
// bit, as /tmp has it, and this process is none of them.
func isStuck(file os.FileInfo, dir string) bool {
	folder, err := os.Stat(dir)
	if err != nil || folder.Mode()&os.ModeSticky == 0 || os.Geteuid() == 0 {
		return false
	}
	owner := func(info os.FileInfo) int {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(s.Uid)
		}
		return os.Geteuid()
	}
	return owner(file) != os.Geteuid() && owner(folder) != os.Geteuid()
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
