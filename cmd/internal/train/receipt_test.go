package train

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestReceiptOfChangedFile: no receipt names a file that changed after the training began, whether its rows were still read then or lay
// in memory or in a temporary cache.
func TestReceiptOfChangedFile(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows, labels := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	for _, c := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"unchanged", func() error { return nil }, ""},
		{"more rows", func() error { return os.WriteFile(rows, []byte("longer"), 0o600) }, rows},
		{"other labels", func() error { return os.WriteFile(labels, []byte("more"), 0o600) }, labels},
		{"replaced by the same bytes", func() error { return os.Rename(filepath.Join(dir, "copy"), rows) }, rows},
		{"removed", func() error { return os.Remove(rows) }, rows},
	} {
		for _, name := range []string{rows, labels, filepath.Join(dir, "copy")} {
			require.NoError(t, os.WriteFile(name, []byte("some"), 0o600))
		}
		one := &trainer{trainOptions: &trainOptions{receipt: filepath.Join(dir, "receipt")}}
		one.Data.Labels = labels
		require.NoError(t, one.seeFiles(ctx, []string{rows}))
		require.NoError(t, c.change())
		err := one.checkUnchanged(ctx, []string{rows})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}
