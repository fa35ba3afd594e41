package npy

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"halfspace/internal/require"
)

// TestIsArchive: a file is an archive of arrays by its content, not by its name.
func TestIsArchive(t *testing.T) {
	for _, c := range []struct {
		member string
		want   bool
	}{{"indices.npy", true}, {"rows.csv", false}, {"x.npy.csv", false}, {"", false}} {
		path := filepath.Join(t.TempDir(), "7")
		f := require.Value(os.Create(path))(t)
		if c.member != "" {
			w := zip.NewWriter(f)
			require.Value(w.Create(c.member))(t)
			require.NoError(t, w.Close())
		}
		require.NoError(t, f.Close())
		if got := IsArchive(path, require.Value(os.Stat(path))(t)); got != c.want {
			t.Errorf("an archive with %q: %t, not %t", c.member, got, c.want)
		}
	}
}
