package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"halfspace/internal/beside"
	"halfspace/model"
)

// openError says what is wrong with a file without naming the operation.
func openError(path string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return advised(fmt.Errorf("%s: %w", path, err))
}

// advised says what to do where a file that is to be read isn't there or isn't a readable one.
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

// save writes a model, also the one that an interrupt leaves.
func save(ctx context.Context, m *model.Model, path string) error {
	grace, end := beside.After(ctx)
	defer end()
	return m.SaveContext(grace, path)
}

// loadModel reads a model that is to be applied. An interrupt ends it, also where a pipe sends nothing.
func loadModel(ctx context.Context, path string) (*model.Model, error) {
	m, err := beside.Get(ctx, func() (*model.Model, error) { return model.Load(path) })
	return m, advised(err)
}
