package files

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
	"runtime"
	"strings"
)

// A tempFile has no name until it is complete, so that no file is left however the process ends. If the system doesn't
// support that, the file has a name from the start, and the process owns it.
type tempFile struct {
	*os.File
	target string
	name   string // "": it has no name yet
}

// createTemp starts a temporary file for target. It also removes the temporary files that killed processes left beside
// target.
func createTemp(target string) (*tempFile, error) {
	sweep(target)
	mode := fs.FileMode(perm)
	existing, err := os.Lstat(target)
	switch {
	case err == nil && existing.Mode().IsRegular():
		mode = existing.Mode().Perm()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := createUnnamed(target, mode)
	if err != nil {
		f, err = createNamed(target, mode)
	}
	if err != nil {
		return nil, err
	}
	// the umask may have removed some permissions; Windows has no modes of open files
	if existing != nil && existing.Mode().IsRegular() && runtime.GOOS != "windows" {
		if err := f.Chmod(mode); err != nil {
			f.abort()
			return nil, err
		}
	}
	return f, nil
}

func createNamed(target string, mode fs.FileMode) (*tempFile, error) {
	file, err := createOwned(func() string { return newName(target) }, mode)
	if err != nil {
		return nil, err
	}
	return &tempFile{file, target, file.Name()}, nil
}

// commit syncs the file, gives it a name, renames it to its target, and closes it.
func (f *tempFile) commit() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if f.name == "" && f.giveName() != nil {
		if err := f.copyNamed(); err != nil {
			return err
		}
	}
	if runtime.GOOS == "windows" { // Windows renames no open file
		f.Close()
	}
	if err := os.Rename(f.name, f.target); err != nil {
		return err
	}
	release(f.File)
	f.name = ""
	f.Close() // it is synced: no error
	return syncDir(filepath.Dir(f.target))
}

// giveName gives the file a temporary name: a link can't replace an existing file.
func (f *tempFile) giveName() error {
	for {
		name := newName(f.target)
		ownNamed(f.File, name)
		err := linkName(f, name)
		if err == nil {
			f.name = name
			return nil
		}
		release(f.File)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// copyNamed copies the file to a file with a name, and continues with that one: not every file system can link a file
// without a name.
func (f *tempFile) copyNamed() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := createNamed(f.target, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to.File, f.File)
	if err = cmp.Or(err, to.Chmod(info.Mode().Perm()), to.Sync()); err != nil {
		to.abort()
		return err
	}
	f.Close()
	*f = *to
	return nil
}

// abort closes the file, and removes it if it has a name.
func (f *tempFile) abort() {
	if f.name == "" {
		f.Close()
		return
	}
	removeOwned(f.File)
}

// prefix returns the start of the names of temporary files beside target. It has at most 200 bytes of the target's
// name, since a name has at most 255. It contains a number of the running kernel, since this computer may not see the
// locks of another one.
func prefix(target string) string {
	const most = 200
	base := filepath.Base(target)
	return fmt.Sprintf(".%s.halfspace-%08x-", base[:min(len(base), most)], computer())
}

// computer returns a number for this start of the kernel, or for the computer's name. It returns 0 if both are unknown.
func computer() uint32 {
	id := bootID()
	if id == "" {
		id, _ = os.Hostname()
	}
	if id == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()
}

func newName(target string) string {
	return filepath.Join(filepath.Dir(target), fmt.Sprintf("%s%016x", prefix(target), rand.Uint64()))
}

// sweep removes the temporary files beside target whose processes have ended, and the locks in its folder whose
// processes have ended.
func sweep(target string) {
	if computer() == 0 {
		return
	}
	prefix := prefix(target)
	sweepFolder(filepath.Dir(target), func(name string) bool { return strings.HasPrefix(name, prefix) && len(name) == len(prefix)+16 })
}
