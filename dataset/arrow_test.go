package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"halfspace/dataset/internal/writer"
)

// TestArrowFiles reads files and streams, of dictionaries and compressed ones too, and finds every cut.
func TestArrowFiles(t *testing.T) {
	words := record(t, field("x", arrow.PrimitiveTypes.Int16, "[1, 2, 3]"),
		field("w", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["b", "a", "b"]`))
	path := filepath.Join(t.TempDir(), "a.arrow")
	for _, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		opts = append(opts, ipc.WithSchema(words.Schema()))
		var stream, file bytes.Buffer
		w := ipc.NewWriter(&stream, opts...)
		f, err := ipc.NewFileWriter(&writer.Counted{Writer: &file}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := errors.Join(w.Write(words), f.Write(words)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{stream.Bytes(), file.Bytes()} {
			for _, n := range append(cuts(len(data)), len(data)) {
				if err := os.WriteFile(path, data[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := table(t, Options{}, path)
				switch {
				case n < len(data) && (err == nil || !strings.HasPrefix(err.Error(), path+": ")):
					t.Errorf("%d of %d bytes: %v", n, len(data), err)
				case n == len(data) && (err != nil || show(got) != "x int16 1 2 3 1 2 3; w string b a b b a b"):
					t.Errorf("%v (%v)", got, err)
				}
			}
			to := filepath.Join(filepath.Dir(path), "a.csv")
			convertFile(t, 6, path, to, WriterOptions{})
			if text, err := os.ReadFile(to); err != nil || string(text) != "x,w\n1,b\n2,a\n3,b\n1,b\n2,a\n3,b\n" {
				t.Errorf("converted: %q (%v)", text, err)
			}
			convertFile(t, 6, path, filepath.Join(filepath.Dir(path), "b.arrow"), WriterOptions{})
		}
	}
}

// TestArrowOffsets checks that values that end before they begin are an error of the file that has them, not of
// the file written from it.
func TestArrowOffsets(t *testing.T) {
	const texts, bytes64, lists = `["aa", "bb", "cc"]`, `["YWE=", "YmI=", "Y2M="]`, "[[1, 2], [3, 4], [5, 6]]"
	for _, f := range []testField{
		field("v", arrow.BinaryTypes.String, texts),
		field("v", arrow.BinaryTypes.LargeString, texts),
		field("v", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, texts),
		field("v", arrow.BinaryTypes.Binary, bytes64),
		field("v", arrow.BinaryTypes.LargeBinary, bytes64),
		field("v", arrow.ListOf(arrow.PrimitiveTypes.Int8), lists),
		field("v", arrow.LargeListOf(arrow.PrimitiveTypes.Int8), lists),
	} {
		rec := record(t, f)
		var file bytes.Buffer
		w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		offsets := []byte("\x02\x00\x00\x00\x04\x00\x00\x00\x06")
		if strings.HasPrefix(f.Type.Name(), "large") {
			offsets = []byte("\x02\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x06")
		}
		at := bytes.LastIndex(file.Bytes(), offsets)
		if at < 0 {
			t.Fatalf("%s: no offsets", f.Type)
		}
		file.Bytes()[at] = 5
		path := filepath.Join(t.TempDir(), "a.arrow")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(context.Background(), []string{path}, filepath.Join(t.TempDir(), "b.arrow"), Options{}, WriterOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": a record can't be read (column \"v\" has values that end before they begin)") {
			t.Errorf("%s: %v", f.Type, err)
		}
	}
}
