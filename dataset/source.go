package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"halfspace/internal/memory"
)

// A source is a file that is read from its beginning, or standard input, which is held in memory so that it can be read
// as often as a file. Either may be compressed by gzip.
type source struct {
	path string
	info os.FileInfo // of a file, when it was first seen
	data []byte      // of standard input
}

func newSource(ctx context.Context, path string) (*source, error) {
	if path == "-" {
		data, err := readStandardInput(ctx, os.Stdin, maxStandardInput())
		return &source{path: path, data: data}, err
	}
	// Looked at before it is opened: a named pipe would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file: name a file, or - for standard input", path)
	}
	return &source{path: path, info: info}, nil
}

// maxStandardInput is how many bytes of standard input are held: half of the memory that is available, since what is made
// of them takes room too.
func maxStandardInput() int64 { return availableMemory() / 2 }

// availableMemory returns how many bytes of memory there are to use, or a guess where the system doesn't tell.
func availableMemory() int64 {
	if bytes := memory.Available(); bytes > 0 {
		return bytes
	}
	return 8 << 30
}

// readStandardInput returns when the context ends. A read that waits for a terminal or a pipe can't be ended and is left behind.
func readStandardInput(ctx context.Context, r io.Reader, most int64) ([]byte, error) {
	var data []byte
	var err error
	var reading errgroup.Group
	done := make(chan struct{})
	reading.Go(func() error {
		defer close(done)
		data, err = io.ReadAll(io.LimitReader(r, most+1))
		return nil
	})
	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("-: standard input can't be read (%w)", err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("-: more than %s on standard input, half of the memory that is available: save it and name the file",
			bytesText(most))
	}
	return data, nil
}

// bytesText writes a number of bytes in the unit that fits.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// open starts to read, decompressing what gzip compressed. Errors of the reader name the file.
func (s *source) open() (*sourceReader, error) {
	r := &sourceReader{path: s.path}
	var raw io.Reader = bytes.NewReader(s.data)
	if s.info != nil {
		f, err := os.Open(s.path)
		if err != nil {
			return nil, pathError(s.path, err)
		}
		if info, err := f.Stat(); err != nil || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime()) {
			f.Close()
			return nil, fmt.Errorf("%s: the file changed while it was read: try again", s.path)
		}
		raw, r.file = f, f
	}
	buffered := bufio.NewReaderSize(raw, 64<<10)
	r.r = buffered
	magic, err := buffered.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		r.Close()
		return nil, r.explain(err)
	case string(magic) == "\x1f\x8b":
		z, err := gzip.NewReader(buffered)
		if err != nil {
			r.Close()
			return nil, r.explain(err)
		}
		r.r, r.gzip = z, true
	case len(magic) > 0 && strings.HasSuffix(strings.ToLower(s.path), ".gz"):
		r.Close()
		return nil, fmt.Errorf("%s: not compressed by gzip, though its name says so: rename it or copy it again", s.path)
	}
	return r, nil
}

// compressed tells whether gzip compressed the source.
func (s *source) compressed() (bool, error) {
	r, err := s.open()
	if err != nil {
		return false, err
	}
	return r.gzip, r.Close()
}

// A sourceReader reads a source. io.EOF is the only error without the file's name.
type sourceReader struct {
	r    io.Reader
	file io.Closer // nil for standard input
	path string
	gzip bool
}

func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		err = r.explain(err)
	}
	return n, err
}

func (r *sourceReader) explain(err error) error {
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return fmt.Errorf("%s: can't be read (%w): check the disk", r.path, pe.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%s: the gzip data is truncated: copy or write it again", r.path)
	}
	return fmt.Errorf("%s: the gzip data is damaged (%s): copy or write it again", r.path, oneLine(err.Error()))
}

func (r *sourceReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
