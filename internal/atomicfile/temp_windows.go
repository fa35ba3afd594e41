package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// tempFile does what renameio does elsewhere: renameio has no Windows form, because a rename there isn't atomic in
// every case, a power failure for one. os.Rename replaces the target, which is the best that there is.
type tempFile = *windowsFile

type windowsFile struct {
	*os.File
	target string
}

func createTemp(target string) (tempFile, error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target))
	if err != nil {
		return nil, err
	}
	return &windowsFile{f, target}, nil
}

// CloseAtomicallyReplace syncs and closes the file, and renames it to its target.
func (f *windowsFile) CloseAtomicallyReplace() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), f.target)
}

// Cleanup closes and removes the file.
func (f *windowsFile) Cleanup() error {
	f.Close()
	return os.Remove(f.Name())
}

func syncDir(string) error { return nil }

// TempDir returns the directory for temporary files.
func TempDir() string { return os.TempDir() }

// Unnamed opens a temporary file in TempDir, for reading and writing. It is gone once it is closed or the process ends.
func Unnamed() (*os.File, error) {
	for {
		name := filepath.Join(TempDir(), fmt.Sprintf(".halfspace-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
