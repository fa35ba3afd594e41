package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/require"
)

// TestCheckUnchanged: a file of rows, of labels or of --init that was changed, replaced or removed since its state was recorded is
// an error that names it.
func TestCheckUnchanged(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rows, labels, model := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy"), filepath.Join(dir, "m.json")
	other := filepath.Join(dir, "copy")
	for _, c := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"unchanged", func() error { return nil }, ""},
		{"more rows", func() error { return os.WriteFile(rows, []byte("longer"), 0o600) }, rows + " changed while"},
		{"other labels", func() error { return os.WriteFile(labels, []byte("more"), 0o600) }, labels + " changed while"},
		{"another model", func() error { return os.WriteFile(model, []byte("more"), 0o600) }, model + " changed while"},
		{"replaced by the same bytes", func() error { return os.Rename(other, rows) }, rows},
		{"removed", func() error { return os.Remove(rows) }, rows},
		{"a folder", func() error { return errors.Join(os.Remove(labels), os.Mkdir(labels, 0o700)) }, "the list of its files changed"},
	} {
		require.NoError(t, os.RemoveAll(labels))
		for _, name := range []string{rows, labels, model, other} {
			require.NoError(t, os.WriteFile(name, []byte("some"), 0o600))
		}
		one := &trainer{trainOptions: &trainOptions{receipt: filepath.Join(dir, "receipt"), init: model}}
		one.Data.Labels = labels
		one.initState = require.Value(dataset.SourcesOf([]string{model}))(t)
		require.NoError(t, one.recordFileStates(ctx, []string{rows}))
		require.NoError(t, c.change())
		summed, err := one.summedFiles(ctx, []string{rows})
		if err == nil {
			err = one.checkUnchanged(summed)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}
