package source_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// read returns the text of a file with the given bytes.
func read(t *testing.T, name string, data []byte, memory int64) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s := require.Value(source.NewFile(context.Background(), path, nil, memory))(t)
	r, err := s.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

// TestCompressions: each form of compressed data is read as the text, whatever the file's name is, several forms one
// after the other too, and a file that ends early is an error that names it.
func TestCompressions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 150_000)
	for i := range text {
		text[i] = "0123456789,\n"[r.IntN(12)]
	}
	for _, ext := range datatest.Compressions() {
		for _, text := range []string{"", "x,y\n1,2\n", string(text)} {
			data := datatest.Compressed(t, "a.csv"+ext, text)
			for _, name := range []string{"a.csv" + ext, "a", "a.csv"} {
				if got, err := read(t, name, data, 0); err != nil || got != text {
					t.Errorf("%s, %d bytes as %s: %d bytes, %v", ext, len(text), name, len(got), err)
				}
			}
			if got, err := read(t, "a"+ext, append(bytes.Clone(data), data...), 1<<30); ext != ".zip" && (err != nil || got != text+text) {
				t.Errorf("%s, %d bytes, twice: %d bytes, %v", ext, len(text), len(got), err)
			}
			step := 1 + len(data)/50
			for cut := len(data) - 1; cut > 0; cut -= step {
				if got, err := read(t, "a.csv"+ext, data[:cut], 0); err == nil || !strings.Contains(err.Error(), "a.csv"+ext+": ") {
					t.Fatalf("%s, the first %d of %d bytes: %d bytes, %v", ext, cut, len(data), len(got), err)
				}
			}
		}
	}
}

// TestXZBlocks: xz data that end between two blocks are an error.
func TestXZBlocks(t *testing.T) {
	var buf bytes.Buffer
	w := require.Value(xz.WriterConfig{BlockSize: 1000}.NewWriter(&buf))(t)
	text := strings.Repeat("1,2,3\n", 1000)
	require.Value(io.WriteString(w, text))(t)
	require.NoError(t, w.Close())
	if got, err := read(t, "a.xz", buf.Bytes(), 0); err != nil || got != text {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	step := 1
	if require.Small() {
		step = 7
	}
	for cut := 1; cut < buf.Len(); cut += step {
		if _, err := read(t, "a.xz", buf.Bytes()[:cut], 0); err == nil {
			t.Fatalf("the first %d of %d bytes are no error", cut, buf.Len())
		}
	}
}

// archive returns a zip archive of empty files.
func archive(t *testing.T, names ...string) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range names {
		require.Value(z.Create(name))(t)
	}
	require.NoError(t, z.Close())
	return buf.Bytes()
}

// TestCompressionErrors: archives of several files, workbooks and windows beyond the memory are errors that say what to
// do.
func TestCompressionErrors(t *testing.T) {
	var large bytes.Buffer
	w := require.Value(zstd.NewWriter(&large, zstd.WithWindowSize(256<<20)))(t)
	require.Value(io.CopyN(w, rand.NewChaCha8([32]byte{}), 2<<20))(t)
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	wide := datatest.Compressed(t, "a.xz", "x")
	wide[12+2+2] = 40 // a dictionary of 4 GiB, with its checksum
	binary.LittleEndian.PutUint32(wide[12+8:], crc32.ChecksumIEEE(wide[12:12+8]))
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.zip", archive(t, "x/", "x/a.csv", "b.csv"), "the zip archive has 2 files (x/a.csv, b.csv), and one is read: unpack it and name the files"},
		{"a.zip", archive(t, "x/", ".DS_Store", "__MACOSX/a.csv"), "the zip archive has no file: write it again"},
		{"a.xlsx", archive(t, "[Content_Types].xml", "xl/workbook.xml"), "a workbook of Excel: save its sheet as CSV, or type: libreoffice Headless ConvertTo csv "},
		{"a.csv.zst", []byte("x,y\n"), "not compressed by Zstandard, though its name says so"},
		{"a.zst", large.Bytes(), "decompressing the Zstandard data takes more memory than there is for it"},
		{"a.xz", wide, "decompressing the xz data takes more memory than there is for it"},
		{"a.zst", append(datatest.Compressed(t, "a.zst", "x"), "more"...), "the Zstandard data ends, and something else stands behind it"},
	} {
		if _, err := read(t, c.name, c.data, 0); err == nil || !strings.Contains(err.Error(), c.name+": "+c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if got, err := read(t, "a.zip", archive(t, "a/", "a/b.csv", "__MACOSX/a/._b.csv"), 0); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}
