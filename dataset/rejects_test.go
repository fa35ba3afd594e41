package dataset

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// brokenLines are lines that are no rows, for each format.
var brokenLines = map[string][]string{
	".csv":   {"1,2,rome", "1,2,rome,1,5", "1,x,rome,1", "1,2,\"rome,1", "1,2,ro\"me,0", "1,2,\"ro\"me,0", "1,2,r\xffme,0", "1,2,rome,\"1\n0\""},
	".jsonl": {`{"a": 1, "b": 2, "c": "rome"`, `{"a": 1, "b": "x", "c": "rome", "y": 1}`, `[1, 2, "rome", 1]`, `{"a": 1, "a": 2, "b": 2, "c": "rome", "y": 1}`, `rome`, `{"a": 1, "b": [2], "c": "rome", "y": 1}`},
	".svm":   {"x 1:2 2:3", "1 1:2 2:x", "1 2:3 1:2", "1 1:2 99999999:1", "1 1", "1 1:2 3:1000000000x"},
}

// brokenFile writes n rows to two files, one of which has lines in between that are no rows. It returns the paths, and each of these
// lines with its number.
func brokenFile(t *testing.T, ext string, n int) (clean, broken string, rejects [][2]string) {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	var rows, all strings.Builder
	line := int64(1)
	write := func(text string, good bool) {
		fmt.Fprintln(&all, text)
		if good {
			fmt.Fprintln(&rows, text)
		} else {
			rejects = append(rejects, [2]string{strconv.FormatInt(line, 10), text})
		}
		line += 1 + int64(strings.Count(text, "\n"))
	}
	if ext == ".csv" {
		write("a,b,c,y", true)
	}
	for i := range n {
		if i > 5 && r.IntN(50) == 0 {
			lines := brokenLines[ext]
			write(lines[r.IntN(len(lines))], false)
		}
		a, b, c, y := r.IntN(100), r.NormFloat64(), []string{"rome", "oslo", "new\nyork"}[r.IntN(3)], r.IntN(2)
		switch ext {
		case ".csv":
			write(fmt.Sprintf("%d,%.3f,\"%s\",%d", a, b, c, y), true)
		case ".jsonl":
			write(fmt.Sprintf(`{"a": %d, "b": %.3f, "c": %q, "y": %d}`, a, b, c, y), true)
		default:
			write(fmt.Sprintf("%d 1:%d 2:%.3f", y, a, b), true)
		}
	}
	dir := t.TempDir()
	clean, broken = filepath.Join(dir, "clean"+ext), filepath.Join(dir, "broken"+ext)
	require.NoError(t, os.WriteFile(clean, []byte(rows.String()), 0o600))
	require.NoError(t, os.WriteFile(broken, []byte(all.String()), 0o600))
	return clean, broken, rejects
}

// rejectsIn reads a file of rejects, and returns the lines and the texts of all of them.
func rejectsIn(t *testing.T, path, of string) (rejects [][2]string) {
	t.Helper()
	f := require.Value(os.Open(path))(t)
	defer f.Close()
	all := require.Value(csv.NewReader(f).ReadAll())(t)
	if !slices.Equal(all[0], []string{"file", "line", "reason", "text"}) {
		t.Errorf("the header is %q", all[0])
	}
	for _, r := range all[1:] {
		if r[0] != of || r[2] == "" {
			t.Errorf("reject %q of %s", r, of)
		}
		rejects = append(rejects, [2]string{r[1], r[3]})
	}
	return rejects
}

// TestRejects: lines that can't be read are left out in every pass, and written once. The rows are those of the file without these
// lines, whatever reads them.
func TestRejects(t *testing.T) {
	for _, ext := range []string{".csv", ".jsonl", ".svm"} {
		for _, n := range []int{40, 60_000} {
			clean, broken, want := brokenFile(t, ext, n)
			label := map[string]string{".svm": "label"}[ext]
			if label == "" {
				label = "y"
			}
			for i, opt := range []Options{{Prepare: true}, {Standardize: true, Prepare: true, Workers: 1}, {Categorical: "onehot", Workers: 3}, {Prepare: true, Workers: 2}} {
				if ext == ".svm" {
					opt.Categorical = ""
				}
				opt.Label = label
				good := require.Value(Load(t.Context(), clean, opt))(t)
				list := filepath.Join(t.TempDir(), "rejects.csv")
				opt.Rejects = NewRejects(list)
				var notes []string
				opt.Warn = func(text string) { notes = append(notes, text) }
				in := require.Value(planOf(t.Context(), []string{broken}, opt, memory.DefaultAllocator))(t)
				data := require.Value(in.Load(t.Context()))(t)
				if err := sameBlocks(blocksOf(t, data), blocksOf(t, good)); err != nil {
					t.Errorf("%s, %d rows, options %d: %v", ext, n, i, err)
				}
				stream := require.Value(in.Stream(t.Context()))(t)
				for range 2 {
					got := require.Value(block.Collect(t.Context(), stream))(t)
					if err := sameBlocks(blocksOf(t, got), blocksOf(t, good)); err != nil {
						t.Errorf("%s, %d rows, options %d, streamed: %v", ext, n, i, err)
					}
				}
				if got := rejectsIn(t, list, broken); !slices.Equal(got, want) {
					t.Errorf("%s, %d rows, options %d: rejects %q, want %q", ext, n, i, got, want)
				}
				if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "left out that can't be read") }) {
					t.Errorf("%s: notes %q", ext, notes)
				}
			}
		}
	}
}
