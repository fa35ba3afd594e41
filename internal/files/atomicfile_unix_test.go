//go:build unix

package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/require"
)

func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	var got []byte
	var g errgroup.Group
	g.Go(func() error {
		reader, err := os.Open(path)
		if err != nil {
			return err
		}
		defer reader.Close()
		got, err = io.ReadAll(reader)
		return err
	})
	replace(t, path, fresh)
	if err := g.Wait(); err != nil || string(got) != fresh {
		t.Errorf("the reader gets %q (%v)", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}

// TestReadOnlyTarget: a read-only file is not replaced.
func TestReadOnlyTarget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o444))
	_, err := Create(path)
	if text, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), "read-only") || string(text) != "old" {
		t.Errorf("error %v, the file has %q", err, text)
	}
}
