package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func createUnnamed(target string, mode fs.FileMode) (*tempFile, error) {
	fd, err := unix.Open(filepath.Dir(target), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(mode))
	if err != nil {
		return nil, err
	}
	f := &tempFile{os.NewFile(uintptr(fd), target), target, ""}
	if _, err = os.Stat(f.link()); err != nil { // the file could get no name
		f.Close()
	}
	return f, err
}

// link returns the path by which the system knows the open file.
func (f *tempFile) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

func linkName(f *tempFile, name string) error {
	return linkat(unix.AT_FDCWD, f.link(), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

var linkat = unix.Linkat // a variable for tests

// bootID returns the kernel's random identifier of its current start, or "" if there is none.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(id)
}
