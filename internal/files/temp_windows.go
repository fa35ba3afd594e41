package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func syncDir(string) error { return nil }

// isStuck returns false: folders have no sticky bit here.
func isStuck(os.FileInfo, string) bool { return false }

// TempDir returns the directory for temporary files.
func TempDir() string { return os.TempDir() }

// CreateUnnamed opens a temporary file in TempDir, for reading and writing. The file is gone once it is closed or the
// process ends.
func CreateUnnamed() (*os.File, error) {
	for {
		name := filepath.Join(TempDir(), fmt.Sprintf(".halfspace-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
