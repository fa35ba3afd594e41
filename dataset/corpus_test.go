package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/require"
	"halfspace/schema"
)

const childFile = "HALFSPACE_TEST_CHILD_FILE"

// TestMain makes the test binary a child that reads one file where a test asks for it. TestMain registers the store of test:// before
// all tests, because files.Register must not run beside a test that opens files.
func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		readEverything(path)
		return
	}
	files.Register("test", mirror{})
	os.Exit(m.Run())
}

// readEverything reads a file in every way, each column as a feature, as a label and unchanged, and prints the outcome
// of each.
func readEverything(path string) {
	report := func(what string, err error) {
		if err == nil {
			fmt.Printf("%s: OK\n", what)
		} else {
			fmt.Printf("%s: error: %s\n", what, strings.ReplaceAll(err.Error(), "\n", "\\n"))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), childSeconds*time.Second)
	defer cancel()
	defer func() { fmt.Printf("peak: %d MiB\n", peakMemory()>>20) }()
	info, err := inspectParquet(path)
	report("inspect", err)
	in, err := openColumns(path)
	if err == nil {
		err = readColumns(in, 2, memory.DefaultAllocator, func(int, arrow.Array) {})
	}
	report("all columns, lists too", err)
	_, err = Load(ctx, path, Options{Workers: 2})
	report("load", err)
	if info == nil {
		return
	}
	for _, c := range info.Columns {
		if strings.Contains(c.Name, ".") {
			continue
		}
		err := Scan(ctx, []string{path}, Options{Spec: &schema.Spec{Bias: true}, Keep: []string{c.Name}},
			func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
				if int64(b.Len()) != rec.NumRows() {
					return errors.New("rows are missing")
				}
				return nil
			})
		report(fmt.Sprintf("keep %q", c.Name), err)
		_, err = Load(ctx, path, Options{Label: c.Name})
		report(fmt.Sprintf("label %q", c.Name), err)
	}
}

// childSeconds is how long reading a file in every way may take, memoryMiB how much memory.
const (
	childSeconds = 5
	memoryMiB    = 256
)

// peakMemory returns the most bytes that the process had resident, 0 where that isn't known.
func peakMemory() (bytes int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(rest, &bytes)
	return bytes << 10
}

// loadable are files of the corpus that must be read: each is sound and has columns that can be features without nulls.
var loadable = []string{"alltypes_dictionary", "alltypes_plain", "alltypes_plain.snappy", "alltypes_tiny_pages",
	"alltypes_tiny_pages_plain", "concatenated_gzip_members", "datapage_v1-snappy-compressed-checksum",
	"datapage_v1-uncompressed-checksum", "delta_binary_packed", "delta_encoding_required_column",
	"dict-page-offset-zero", "nested_lists.snappy", "nonnullable.impala", "overflow_i16_page_cnt",
	"plain-dict-uncompressed-checksum", "rle-dict-snappy-checksum", "byte_stream_split.zstd", "byte_stream_split_extended.gzip",
	"hadoop_lz4_compressed", "lz4_raw_compressed", "non_hadoop_lz4_compressed", "nation.dict-malformed",
	"nested_maps.snappy"}

// TestCorpus reads conformance files, damaged files and crashers of other readers, each in a process of its own: none
// may panic, hang, take much memory or say more than a line.
func TestCorpus(t *testing.T) {
	if require.Small() {
		t.Skip("reads some hundred files, each in a process of its own")
	}
	root := filepath.Join("..", "..", "shared", "data", "parquet")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no corpus: %s is absent", root)
	}
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "README.md" {
			files = append(files, p)
		}
		return err
	})
	require.NoError(t, err)
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(2)
	for _, p := range files {
		g.Go(func() error {
			out, err := readInChild(t.Context(), p)
			if dir, name := filepath.Split(p); err == nil && filepath.Base(dir) == "valid" &&
				slices.Contains(loadable, strings.TrimSuffix(name, ".parquet")) && !strings.Contains(out, "load: OK\n") {
				err = errors.New("it must be read")
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				t.Errorf("%s: %v\n%s", p, err, out)
			}
			return nil
		})
	}
	g.Wait()
}

func readInChild(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*childSeconds*time.Second) // the child ends after childSeconds if it can
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), err
	}
	if strings.Contains(out.String(), `\n`) {
		return out.String(), errors.New("an error of several lines")
	}
	if strings.Contains(out.String(), context.DeadlineExceeded.Error()) {
		return out.String(), fmt.Errorf("more than %d s", childSeconds)
	}
	_, peak, found := strings.Cut(out.String(), "peak: ")
	mib := 0
	if fmt.Sscan(peak, &mib); !found || mib > memoryMiB {
		return out.String(), fmt.Errorf("%d MiB of memory, more than %d", mib, memoryMiB)
	}
	return out.String(), nil
}
