package dataset

import (
	"bufio"
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

// A source is a file that is read from its beginning, or standard input. Either may be compressed by gzip.
type source struct {
	path  string
	info  os.FileInfo    // of a file, when it was first seen
	stdin *standardInput // or nil
}

func newSource(ctx context.Context, path string, end <-chan struct{}) (*source, error) {
	if path == "-" {
		return &source{path: path, stdin: &standardInput{ctx: ctx, end: end, r: os.Stdin, most: maxStandardInput()}}, nil
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

// live tells whether what comes of the source is to be handed on at once.
func (s *source) live() bool { return s.stdin != nil && s.stdin.live }

// ahead returns the memory for jobs that are begun before an earlier one's rows are handed on: of a live source there are none, since to look for the
// next one is to wait for its text.
func (s *source) ahead(memory int64) int64 {
	if s.live() {
		return 1
	}
	return memory
}

// lastPass has the sources held no longer than it takes to read them once more.
func lastPass(sources []*source) {
	for _, s := range sources {
		if s.stdin != nil {
			s.stdin.last = true
		}
	}
}

// A standardInput is a stream, of which as much is read as somebody asks for. That is held, so that it can be read from its
// beginning again, until the last pass.
type standardInput struct {
	ctx  context.Context
	end  <-chan struct{} // see Options
	r    io.Reader
	most int64 // bytes that may be held
	live bool  // what comes is handed on at once

	data []byte // what was read before the last pass
	err  error  // after which there is nothing more
	last bool   // the reader that is opened next is the last
}

// An inputError is an error of standard input, in words for the user.
type inputError struct{ error }

// errCutShort is what standard input ends with where that isn't its own end.
var errCutShort = errors.New("-: standard input was cut short")

// maxStandardInput is how many bytes of standard input are held: half of the memory that is available, since what is made
// of them takes room too.
func maxStandardInput() int64 { return availableMemory() / 2 }

// read reads what comes next of the stream. It returns when the context ends: a read that waits for a terminal or a pipe can't be
// ended, and is left behind with its buffer.
func (s *standardInput) read(most int) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	var piece []byte
	var err error
	var reading errgroup.Group
	done := make(chan struct{})
	reading.Go(func() error {
		defer close(done)
		buf := make([]byte, most)
		n := 0
		for n == 0 && err == nil {
			n, err = s.r.Read(buf)
		}
		piece = buf[:n]
		return nil
	})
	select {
	case <-done:
	case <-s.ctx.Done():
		s.err = inputError{s.ctx.Err()}
		return nil, s.err
	case <-s.end:
		select {
		case <-done: // that too
		default:
			s.err = inputError{errCutShort}
			return nil, s.err
		}
	}
	if err != nil && err != io.EOF {
		err = inputError{fmt.Errorf("-: standard input can't be read (%w)", err)}
	}
	s.err = err
	if len(piece) > 0 {
		err = nil
	}
	return piece, err
}

// A standardReader reads standard input from its beginning.
type standardReader struct {
	*standardInput
	at int // bytes of data that were handed on
}

func (r *standardReader) Read(p []byte) (int, error) {
	if r.at == len(r.data) {
		piece, err := r.read(max(len(p), 64<<10))
		switch {
		case err != nil:
			return 0, err
		case r.last:
			r.data, r.at = piece, 0
		case int64(len(r.data)+len(piece)) > r.most:
			return 0, inputError{fmt.Errorf("-: more than %s on standard input, half of the memory that is available: save it and name the file",
				bytesText(r.most))}
		default:
			r.data = append(r.data, piece...)
		}
	}
	n := copy(p, r.data[r.at:])
	r.at += n
	return n, nil
}

// availableMemory returns how many bytes of memory there are to use, or a guess where the system doesn't tell.
func availableMemory() int64 {
	if bytes := memory.Available(); bytes > 0 {
		return bytes
	}
	return 8 << 30
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
	var raw io.Reader = &standardReader{standardInput: s.stdin}
	if s.stdin == nil {
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
	var said inputError
	switch {
	case errors.As(err, &said):
		return said.error
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
