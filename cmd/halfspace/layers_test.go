// The tests beside the program are tests of the whole: its imports, words, documents, example files.

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

const module = "halfspace/"

// layers are the module's packages from the lowest up; a package imports only from layers below its own. A name that
// ends in a slash stands for every package below that folder.
var layers = [][]string{
	{"internal/humanize", "internal/message", "internal/require"},
	{"asm/ref", "asm/avx2", "asm/avx512", "asm/neon", "internal/parallel",
		"schema"},
	{"kernel", "internal/memory", "internal/files"},
	{"kernel/f64"},
	{"internal/checkpoint", "internal/objects", "internal/words"},
	{"internal/microkernel", "internal/stats", "internal/objects/servers"},
	{"internal/block", "internal/kerneltest"},
	{"block", "metrics", "store", "store/buckets", "internal/linalg", "internal/passes"},
	{"internal/cache", "gram", "internal/distributed", "dataset/internal/column"},
	{"internal/testproblems", "dataset/internal/source"},
	{"dataset/internal/npy", "dataset/internal/plan", "dataset/internal/where"},
	{"internal/model", "dataset/internal/parquet", "dataset/internal/transform", "dataset/internal/writer", "dataset/internal/datatest"},
	{"dataset/internal/text", "dataset/internal/ipc", "dataset/internal/lake"}, // they know each other as little as parquet
	{"model", "pocket", "dataset", "predict", "export", "gram/gonumblas"},
	{"train/learner", "dataset/records", "internal/worker"},
	{"train/internal/online", "train/internal/optimize"},
	{"train/internal/dualdescent"},
	{"train/"},
	{"internal/train", "plot"},
	{"train"},
	{"separability"},
	{"bench"},
	{"cmd/internal/console"},
	{"cmd/internal/flags"},
	{"cmd/internal/report"},
	{"cmd/internal/train", "cmd/internal/predict", "cmd/internal/engine"},
	{"cmd/internal/cli"},
	{"cmd/", "examples/"},
}

// only says which packages may import a dependency, or a package of this module, directly. A test may import anything.
var only = map[string][]string{
	"github.com/klauspost/cpuid":    {"kernel"},
	module + "asm/":                 {"kernel", "kernel/f64", "internal/microkernel", "internal/kerneltest"},
	"github.com/apache/arrow":       {"dataset", "dataset/records", "dataset/internal/", "bench", "cmd/internal/predict", "cmd/internal/report", "examples/"},
	"github.com/spf13/cobra":        {"cmd/internal/"},
	"github.com/klauspost/compress": {"dataset/internal/ipc", "dataset/internal/lake", "dataset/internal/parquet", "dataset/internal/source", "dataset/internal/datatest"},
	"github.com/ulikunitz/xz":       {"dataset/internal/source", "dataset/internal/datatest"},
	"github.com/andybalholm/brotli": {"dataset/internal/parquet"},
	"github.com/pierrec/lz4":        {"dataset/internal/parquet"},
	"gonum.org/v1/gonum":            {"gram/gonumblas"},
	// Errors have their place and their options as values: no package above dataset reads them from the text.
	"regexp":                     {"dataset/internal/", "internal/files", "internal/message", "internal/require"},
	"google.golang.org/protobuf": {"export"},
	// These link gRPC and tables of functions, megabytes that each start of the command pays for.
	"github.com/apache/arrow/go/v17/parquet/pqarrow": {},
	"github.com/apache/arrow/go/v17/arrow/compute":   {},
	"github.com/apache/arrow/go/v17/arrow/flight":    {},
}

// lean packages are for programs that bring their own data: they must not link Arrow, nor the command line.
var lean = []string{"schema", "kernel", "block", "internal/block", "internal/cache", "gram", "gram/", "pocket", "model", "internal/model", "internal/train", "internal/checkpoint", "predict", "export", "metrics", "train", "train/", "plot", "separability"}

type pkg struct {
	ImportPath    string
	Imports, Deps []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

func matches(path string, patterns []string) bool {
	for _, p := range patterns {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

func layerOf(path string) int {
	for i, names := range layers {
		if matches(path, names) {
			return i
		}
	}
	return -1
}

func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		own := layerOf(name)
		if own < 0 {
			t.Errorf("package %s stands in no layer", name)
		}
		for _, imported := range p.Imports {
			if below, ok := strings.CutPrefix(imported, module); ok && layerOf(below) >= own {
				t.Errorf("%s imports %s, which doesn't stand below it", name, below)
			}
			for dep, users := range only {
				if strings.HasPrefix(imported, dep) && !matches(name, users) {
					t.Errorf("%s imports %s, which is for %v alone", name, imported, users)
				}
			}
			if strings.HasPrefix(name, "asm/") && name != "asm/ref" && imported != "unsafe" {
				t.Errorf("%s imports %s: a package of kernels imports nothing", name, imported)
			}
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "google.golang.org/grpc") {
				t.Errorf("%s links %s", name, dep)
			}
			if name == "dataset/records" && (strings.Contains(dep, "parquet") || strings.Contains(dep, "arrow/ipc")) {
				t.Errorf("%s links %s: it is for programs that read no files", name, dep)
			}
			if matches(name, lean) && (strings.Contains(dep, "apache/arrow") || strings.Contains(dep, "spf13/")) {
				t.Errorf("%s links %s", name, dep)
			}
		}
	}
}
