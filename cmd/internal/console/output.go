package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"

	"halfspace/internal/parallel"
)

// ErrStdoutGone says that the reader of standard output has ended, as head does. The program doesn't report it.
var ErrStdoutGone = errors.New("standard output was closed")

// Output is standard output.
type Output struct {
	to  *Patient
	Err error // the first error of a write
}

// A Patient writer waits for a pipe's reader, but only for a grace time after an interrupt.
type Patient struct {
	ctx  context.Context
	w    io.Writer
	gone atomic.Bool // the reader didn't take a text within the grace time
}

// Write writes a copy of b. Once the grace time is over, it returns even if the reader hasn't taken b.
func (p *Patient) Write(b []byte) (int, error) {
	ctx, end := parallel.Grace(p.ctx)
	defer end()
	if p.gone.Load() {
		return 0, context.Canceled
	}
	b = bytes.Clone(b)
	n, err := parallel.DetachValue(ctx, func() (int, error) { return p.w.Write(b) })
	if ctx.Err() != nil && err != nil {
		p.gone.Store(true)
	}
	return n, err
}

// Write writes p. After a failed write it writes nothing more, and returns the first error.
func (o *Output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.to.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.Err = ErrStdoutGone
	case err != nil:
		o.Err = fmt.Errorf("standard output can't be written: %w", err)
	}
	return n, o.Err
}
