package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"

	"halfspace/internal/beside"
)

// ErrStdoutGone says that the reader of standard output has ended, as head does. It isn't reported.
var ErrStdoutGone = errors.New("standard output was closed")

// Output is standard output.
type Output struct {
	to  *Patient
	Err error // the first one
}

// A Patient writer waits for a pipe's reader, but only for a grace time after an interrupt.
type Patient struct {
	ctx  context.Context
	w    io.Writer
	gone atomic.Bool // the reader wasn't there in time
}

// Write writes a copy of b. It returns before the reader has taken b if the grace time is over.
func (p *Patient) Write(b []byte) (int, error) {
	ctx, end := beside.After(p.ctx)
	defer end()
	if p.gone.Load() {
		return 0, context.Canceled
	}
	b = bytes.Clone(b)
	n, err := beside.Get(ctx, func() (int, error) { return p.w.Write(b) })
	if ctx.Err() != nil && err != nil {
		p.gone.Store(true)
	}
	return n, err
}

// Write writes p, unless a write failed before. It returns the first error.
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
