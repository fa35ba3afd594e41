package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"halfspace/internal/parallel"
	"halfspace/model"
)

// OpenError returns the error of opening path, with advice. It leaves out the name of the system call.
func OpenError(path string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return advised(fmt.Errorf("%s: %w", path, err))
}

// advised adds advice to the error of a file that can't be read.
func advised(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: check the path", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: check the file's mode", err)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%w: name a file in it", err)
	case errors.Is(err, model.ErrNoModel):
		return fmt.Errorf("%w: name what train --out wrote", err)
	}
	return err
}

// SaveModel writes a model. After an interrupt it still has a grace time.
func SaveModel(ctx context.Context, m *model.Model, path string) error {
	grace, end := parallel.Grace(ctx)
	defer end()
	return m.SaveContext(grace, path)
}

// LoadModel reads a model. memory is the limit in bytes; 0 means the available memory. An interrupt ends LoadModel even
// if path is a pipe that sends nothing.
func LoadModel(ctx context.Context, path string, memory int64) (*model.Model, error) {
	m, err := parallel.DetachValue(ctx, func() (*model.Model, error) { return model.LoadWithin(path, memory) })
	return m, advised(err)
}
