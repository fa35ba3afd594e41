//go:build !windows && !linux

package atomicfile

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

type tempFile = *renameio.PendingFile

func createTemp(target string) (tempFile, error) {
	return renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
		renameio.WithPermissions(perm), renameio.WithExistingPermissions())
}
