package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestManyColumns: what columns take beside their values is within the memory, whoever reads them.
func TestManyColumns(t *testing.T) {
	const columns = 40_000
	var text strings.Builder
	for i := range columns {
		fmt.Fprintf(&text, "c%d,", i)
	}
	text.WriteString("label\n" + strings.Repeat("0,", columns) + "1\n" + strings.Repeat("1,", columns) + "0\n")
	path, ctx := textFile(t, "a.csv", text.String()), context.Background()
	opt := Options{Label: "label", Memory: 64 << 20}
	want := path + ": reading 40,001 columns takes 117.2 MiB of memory, and the limit is 64 MiB: give more with --memory, or leave columns out"
	_, err := Open(ctx, []string{path}, opt)
	if err == nil || err.Error() != want || !errors.Is(err, ErrMemory) {
		t.Errorf("open: %v", err)
	}
	if _, err = Convert(ctx, []string{path}, filepath.Join(t.TempDir(), "b.csv"), opt, WriterOptions{}); err == nil || err.Error() != want {
		t.Errorf("convert: %v", err)
	}
	if opt.Exclude = []string{"c1*", "c2*"}; err != nil {
		if rows, err := Convert(ctx, []string{path}, filepath.Join(t.TempDir(), "b.csv"), opt, WriterOptions{}); err != nil || rows != 2 {
			t.Errorf("convert of fewer columns: %d rows, %v", rows, err)
		}
	}
}
