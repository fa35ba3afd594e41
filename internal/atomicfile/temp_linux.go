package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A tempFile has no name until it is complete, so that nothing is left of it however the process ends. Where the system
// can't do that, it has a name from the start. Whoever has the lock of a named one owns it.
type tempFile = *linuxFile

type linuxFile struct {
	*os.File
	target string
	name   string // "" for none yet
}

// createTemp also removes what processes that were killed left beside target.
func createTemp(target string) (tempFile, error) {
	sweep(target)
	mode := fs.FileMode(perm)
	existing, err := os.Lstat(target)
	switch {
	case err == nil && existing.Mode().IsRegular():
		mode = existing.Mode().Perm()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := unnamed(target, mode)
	if err != nil {
		f, err = named(target, mode)
	}
	if err != nil {
		return nil, err
	}
	if existing != nil && existing.Mode().IsRegular() { // the umask may have taken some of it
		if err := f.Chmod(mode); err != nil {
			f.Cleanup()
			return nil, err
		}
	}
	return f, nil
}

func unnamed(target string, mode fs.FileMode) (*linuxFile, error) {
	fd, err := unix.Open(filepath.Dir(target), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(mode))
	if err != nil {
		return nil, err
	}
	f := &linuxFile{os.NewFile(uintptr(fd), target), target, ""}
	if _, err = os.Stat(f.link()); err != nil { // it could get no name
		f.Close()
	}
	return f, err
}

// link is what the system knows the open file by.
func (f *linuxFile) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

func named(target string, mode fs.FileMode) (*linuxFile, error) {
	for {
		name := newName(target)
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err != nil {
			continue
		}
		f := &linuxFile{file, target, name}
		if err := f.lock(); err == nil || !errors.Is(err, errSwept) {
			return f, nil // without a lock, where the file system has none
		}
		file.Close()
	}
}

// errSwept tells that another process has removed the file, or is about to.
var errSwept = errors.New("the file belongs to another process")

// lock takes the lock of a file with a name.
func (f *linuxFile) lock() error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return errSwept
	}
	if err != nil {
		return err
	}
	here, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(f.name); err != nil || !os.SameFile(here, there) {
		return errSwept
	}
	return nil
}

// CloseAtomicallyReplace syncs the file, gives it a name, renames that to its target, and closes the file.
func (f *linuxFile) CloseAtomicallyReplace() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if f.name == "" && f.giveName() != nil {
		if err := f.copyNamed(); err != nil {
			return err
		}
	}
	if err := os.Rename(f.name, f.target); err != nil {
		return err
	}
	f.name = ""
	f.Close() // it is synced: no error
	return nil
}

// giveName gives the file a name of its own: a link can't take the place of another file.
func (f *linuxFile) giveName() error {
	unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // nobody else has it yet
	for {
		name := newName(f.target)
		err := linkat(unix.AT_FDCWD, f.link(), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		if err == nil {
			f.name = name
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

var linkat = unix.Linkat // but in tests

// copyNamed copies the file to one that has a name, and becomes that: not every file system can link a file that has none.
func (f *linuxFile) copyNamed() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := named(f.target, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to.File, f.File)
	if err = cmp.Or(err, to.Chmod(info.Mode().Perm()), to.Sync()); err != nil {
		to.Cleanup()
		return err
	}
	f.Close()
	*f = *to
	return nil
}

// Unnamed opens a temporary file without a name in TempDir, for reading and writing. It is gone once it is closed or the process
// ends.
func Unnamed() (*os.File, error) {
	const mode = 0o600
	target := filepath.Join(TempDir(), "temporary")
	f, err := unnamed(target, mode)
	if err != nil {
		sweep(target)
		if f, err = named(target, mode); err != nil {
			return nil, err
		}
		if err := os.Remove(f.name); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f.File, nil
}

// Cleanup closes the file, and removes it where it has a name.
func (f *linuxFile) Cleanup() error {
	var err error
	if f.name != "" {
		err = os.Remove(f.name)
	}
	return errors.Join(err, f.Close())
}

// prefix returns how the names of temporary files beside target begin: with at most 200 bytes of the target's name, since a name has at
// most 255. It has a number of the running kernel: this computer may not see the locks of another one.
func prefix(target string) string {
	const most = 200
	base := filepath.Base(target)
	return fmt.Sprintf(".%s.halfspace-%08x-", base[:min(len(base), most)], boot())
}

// boot returns a number of the kernel since it started, 0 if there is none to be had.
func boot() uint32 {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	h := fnv.New32a()
	h.Write(id)
	return h.Sum32()
}

func newName(target string) string {
	return filepath.Join(filepath.Dir(target), fmt.Sprintf("%s%016x", prefix(target), rand.Uint64()))
}

// sweep removes the temporary files beside target whose processes have ended: nobody has their locks.
func sweep(target string) {
	dir, err := os.Open(filepath.Dir(target))
	if err != nil || boot() == 0 {
		return
	}
	defer dir.Close()
	const most = 1 << 16 // of a folder with more, some stay
	names, _ := dir.Readdirnames(most)
	prefix := prefix(target)
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || len(name) != len(prefix)+16 {
			continue
		}
		path := filepath.Join(filepath.Dir(target), name)
		file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if (&linuxFile{file, target, path}).lock() == nil {
			os.Remove(path)
		}
		file.Close()
	}
}
