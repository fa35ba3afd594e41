package dataset

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/schema"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestFewWideRows: blocks of a few rows with many features take memory for these rows, and not for a run of them.
func TestFewWideRows(t *testing.T) {
	ctx := context.Background()
	opt := Options{Label: "label", Categorical: "hash:14", Memory: 256 << 20}
	csv := func(rows int) string {
		var text strings.Builder
		text.WriteString("a,b,label\n")
		for r := range rows {
			fmt.Fprintf(&text, "t%d,u%d,%d\n", r%60, r%7, r%2)
		}
		return textFile(t, fmt.Sprint(rows, ".csv"), text.String())
	}
	few, many := csv(60), csv(5000)
	const features, most = 2 << 14, 200 << 20
	var spec *schema.Spec
	for name, read := range map[string]func(path string) error{
		"load": func(path string) error {
			data, err := Load(ctx, []string{path}, opt)
			if err == nil && data.Rows() != 60 {
				t.Errorf("load: %d rows", data.Rows())
			}
			return err
		},
		"stream": func(path string) error {
			in, err := Open(ctx, []string{path}, opt)
			if err != nil {
				return err
			}
			s, err := in.Stream(ctx)
			if err == nil {
				spec = s.Spec()
			}
			return err
		},
		"scan": func(path string) error {
			of := opt
			of.Label = ""
			of.Features = []string{"a", "b"}
			return Scan(ctx, []string{path}, of, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
				if b.Len() != 60 || b.Cols != features+1 {
					t.Errorf("scan: a block of %d rows and %d columns", b.Len(), b.Cols)
				}
				return nil
			})
		},
	} {
		if bytes := allocated(func() {
			if err := read(few); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}); bytes > most {
			t.Errorf("%s: 60 rows take %d MiB", name, bytes>>20)
		}
		if bytes := allocated(func() {
			if err := read(many); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "--memory") {
				t.Errorf("%s: 5,000 rows of 128 KiB: error %v", name, err)
			}
		}); bytes > 3*most {
			t.Errorf("%s: 5,000 rows that are refused take %d MiB", name, bytes>>20)
		}
	}
	if spec == nil || spec.Cols() != features+1 {
		t.Errorf("the stream has %v", spec)
	}
}
