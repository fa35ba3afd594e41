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

// Unnamed opens a temporary file in dir, for reading and writing. It is gone once it is closed or the process ends. An empty
// dir is the system's place for temporary files.
func Unnamed(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	for {
		name := filepath.Join(dir, fmt.Sprintf(".halfspace-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
