package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"halfspace/internal/files"
	"halfspace/internal/parallel"
)

// A StandardInput is a stream. It is read only as far as its readers request. The bytes read are buffered, so that
// the stream can be read from its beginning again, until the last pass.
type StandardInput struct {
	Ctx  context.Context
	End  <-chan struct{} // see Options
	R    io.Reader
	Most int64 // maximum number of bytes that are buffered in memory
	Live bool  // pass on rows as soon as they arrive

	Data    []byte   // the first bytes that were read before the last pass; in the last pass, the bytes read last
	rest    *os.File // temporary file with the bytes after Data; nil: none
	written int64    // number of bytes in rest
	err     error    // the error that ended the stream
	last    bool     // the next reader is the last
}

// An inputError is an error of standard input, with the text for the user.
type inputError struct{ error }

// ErrCutShort is the error if standard input ends because StandardInput.End was closed.
var ErrCutShort = errors.New("-: standard input was cut short")

// held = 8: standard input is buffered in at most 1/8 of the memory. The decoded rows take most of the memory.
const held = 8

// read reads up to most bytes of the stream. It returns early when the context ends; the goroutine that waits for the
// stream then stays, with its buffer.
func (s *StandardInput) read(most int) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	var piece []byte
	var err error
	if !parallel.Detach(s.Ctx, s.End, func() {
		buf := make([]byte, most)
		n := 0
		for n == 0 && err == nil {
			n, err = s.R.Read(buf)
		}
		piece = buf[:n]
	}) {
		s.err = inputError{cmp.Or(s.Ctx.Err(), ErrCutShort)}
		return nil, s.err
	}
	if err != nil && err != io.EOF {
		err = inputError{fmt.Errorf("-: standard input can't be read (%w): check the command before the pipe", err)}
	}
	s.err = err
	if len(piece) > 0 {
		err = nil
	}
	return piece, err
}

// A standardReader reads standard input from its beginning.
type standardReader struct {
	*StandardInput
	at int64 // number of bytes returned
}

func (r *standardReader) Read(p []byte) (n int, err error) {
	if r.at == int64(len(r.Data))+r.written {
		piece, err := r.read(max(len(p), 64<<10))
		if err == nil {
			err = r.hold(piece)
			r.err = cmp.Or(err, r.err)
		}
		if err != nil {
			return 0, err
		}
		if r.last {
			r.at = 0
		}
	}
	if beyond := r.at - int64(len(r.Data)); beyond < 0 {
		n = copy(p, r.Data[r.at:])
	} else if n, err = r.rest.ReadAt(p[:min(int64(len(p)), r.written-beyond)], beyond); err != nil {
		err = unheld(err)
	}
	r.at += int64(n)
	return n, err
}

// hold appends a piece to the buffered bytes. In the last pass, the piece replaces them.
func (s *StandardInput) hold(piece []byte) (err error) {
	switch {
	case s.last:
		if s.Data = piece; s.rest != nil {
			s.rest.Close()
			s.rest, s.written = nil, 0
		}
		return nil
	case s.rest == nil && int64(len(s.Data)+len(piece)) <= s.Most:
		s.Data = append(s.Data, piece...)
		return nil
	case s.rest == nil:
		if s.rest, err = files.CreateUnnamed(); err != nil {
			return unheld(err)
		}
	}
	if _, err := s.rest.WriteAt(piece, s.written); err != nil {
		return unheld(err)
	}
	s.written += int64(len(piece))
	return nil
}

func unheld(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return inputError{fmt.Errorf("-: standard input can't be held in %s (%w): free some space there, set TMPDIR to "+
		"another folder, or save it and name the file", files.TempDir(), err)}
}
