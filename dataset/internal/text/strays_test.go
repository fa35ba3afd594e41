package text_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// TestStrays: text in UTF-16 without a mark that isn't known by its first characters, text in UTF-32, NUL bytes, and a byte order mark at
// the beginning of a later line are errors that name the first such line. With rejects, such lines are left out.
func TestStrays(t *testing.T) {
	const nul = "a NUL byte: save the file as UTF-8 if it is UTF-16 or UTF-32, otherwise mend the line"
	const mark = "a byte order mark, which belongs to the beginning of a file: remove its three bytes, EF BB BF"
	const wide = "the text is UTF-32: save it as UTF-8"
	const bom = "\xef\xbb\xbf"
	rows := strings.Repeat("1,b\n", 1<<20) // of several chunks
	objects := strings.Repeat("{\"x\":1}\n", 1<<18)
	for _, c := range []struct {
		name, text, want string
		left             int64 // number of rows that are left if rejects are left out; 0: an error
	}{
		{"a.csv", utf16Text("ä,y\n1,b\n", false), "line 1: " + nul, 0},
		{"a.csv", utf16Text("値,y\n1,b\n", true), "line 1: " + nul, 0},
		{"a.csv", utf32Text("x,y\n1,b\n", false), "line 1: " + wide, 0},
		{"a.csv", utf32Text("x,y\n1,b\n", true), "line 1: " + wide, 0},
		{"a.csv", utf32Text("\ufeffx,y\n1,b\n", false), "line 1: " + wide, 0},
		{"a.csv", utf32Text("\ufeffx,y\n1,b\n", true), "line 1: " + wide, 0},
		{"a.jsonl", utf32Text("{\"x\":1}\n", false), "line 1: " + wide, 0},
		{"a.svm", utf32Text("1 1:2\n", true), "line 1: " + wide, 0},
		{"a.csv", "x,\x00y\n1,b\n", "line 1: " + nul, 0},
		{"a.csv", "x,y\n1,b\n1,\x00b\n1,c\n", "line 3: " + nul, 2},
		{"a.csv", "x,y\n" + rows + "1,\"b\x00\"\n" + rows, "line 1048578: " + nul, 2 << 20},
		{"a.csv", "x,y\n" + rows + bom + "1,b\n" + rows, "line 1048578: " + mark, 2 << 20},
		{"a.csv", bom + bom + "x,y\n1,b\n", "line 1: " + mark, 0},
		{"a.csv", "x,y\n1,b\n" + bom + "1,c\n1,\x00b\n1,d\n", "line 3: " + mark, 2},
		{"a.csv", "x,y\n1,b\n1,\x00b\n" + bom + "x,y\n1,c\n", "line 3: " + nul, 2},
		{"a.jsonl", objects + "{\"x\":\x001}\n" + objects, "line 262145: " + nul, 2 << 18},
		{"a.jsonl", objects + bom + objects, "line 262145: " + mark, 2<<18 - 1},
		{"a.svm", "1 1:2\n0 1\x00:2\n", "line 2: \"1\\x00:2\" is no pair of an index and a number, like 7:0.5: mend it", 1},
		{"a.svm", "1 1:2\n" + bom + "0 1:2\n", "line 2: the label \"\\ufeff0\" is not a number: write one label in front of each line", 1},
		{"a.csv", bom + "x,y\n1,a" + bom + "b\n", "", 1}, // within a text it is a character
	} {
		path := filepath.Join(t.TempDir(), c.name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		out := filepath.Join(t.TempDir(), "out.csv")
		rows, err := dataset.Convert(context.Background(), []string{path}, out, dataset.Options{}, dataset.WriterOptions{})
		if c.want == "" && err == nil && rows == c.left {
			continue
		}
		datatest.WantError(t, err, filepath.Dir(path), "DIR/"+c.name+": "+c.want)
		rows, err = dataset.Convert(context.Background(), []string{path}, out, dataset.Options{Rejects: dataset.NewRejects(filepath.Join(t.TempDir(), "bad.csv"))},
			dataset.WriterOptions{})
		if rows != c.left || (err == nil) != (c.left > 0) {
			t.Errorf("%.20q, %q: %d rows without the rejects, error %v", c.text, c.want, rows, err)
		}
	}
}

// utf16Text returns s in UTF-16 without a byte order mark.
func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) {
		unit := []byte{byte(c), byte(c >> 8)}
		if big {
			unit[0], unit[1] = unit[1], unit[0]
		}
		b.Write(unit)
	}
	return b.String()
}

// utf32Text returns s in UTF-32.
func utf32Text(s string, big bool) string {
	var b strings.Builder
	for _, c := range s {
		unit := []byte{byte(c), byte(c >> 8), byte(c >> 16), 0}
		if big {
			unit = []byte{0, byte(c >> 16), byte(c >> 8), byte(c)}
		}
		b.Write(unit)
	}
	return b.String()
}
