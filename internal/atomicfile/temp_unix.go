//go:build !windows && !linux

package atomicfile

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

type tempFile = *renameio.PendingFile

func createTemp(target string) (tempFile, error) {
	return renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
		renameio.WithPermissions(perm), renameio.WithExistingPermissions())
}

// Unnamed opens a temporary file without a name in TempDir, for reading and writing. It is gone once it is closed or the process
// ends.
func Unnamed() (*os.File, error) {
	f, err := os.CreateTemp(TempDir(), ".halfspace-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
