package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"io/fs"
	"time"
)

// A file is a file of an archive.
type file struct {
	name      string
	text      []byte
	isProgram bool
}

func (f *file) mode() fs.FileMode {
	if f.isProgram {
		return 0o755
	}
	return 0o644
}

// tarGz returns a .tar.gz archive of files in a folder, with the owner root and the given time.
func tarGz(folder string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode()), Size: int64(len(f.text)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.text); err != nil {
			return nil, err
		}
	}
	err = cmp.Or(t.Close(), z.Close())
	return b.Bytes(), err
}

// zipped returns a .zip archive of files in a folder, with the given time.
func zipped(folder string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
