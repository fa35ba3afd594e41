package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"halfspace/internal/beside"
)

// errStdoutGone says that whoever read standard output has ended, as head does. There is nobody to tell.
var errStdoutGone = errors.New("standard output was closed")

// output is standard output. It remembers the first error.
type output struct {
	to  *patient
	err error
}

// A patient writer waits for a pipe's reader, until some time after an interrupt.
type patient struct {
	ctx  context.Context
	w    io.Writer
	gone atomic.Bool // the reader wasn't there in time
}

func (p *patient) Write(b []byte) (int, error) {
	ctx, end := beside.After(p.ctx, graceTime)
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

// graceTime is how long a pipe's reader may take for what an interrupt leaves.
const graceTime = time.Second

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.err = errStdoutGone
	case err != nil:
		o.err = fmt.Errorf("standard output can't be written: %w", err)
	}
	return n, o.err
}
