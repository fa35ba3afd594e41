package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"halfspace/internal/files"
)

// ToStdout tells whether path is standard output, where reports go.
func ToStdout(path string) bool { return path == "-" || files.IsStdout(path) }

// Claim returns an error if path can't be written, is one of the input files, or is locked by another run that will
// write it. It locks path until a ends. An empty path is no error.
func Claim(a *App, path string, inputs []string) error {
	if err := check(path, inputs); err != nil || path == "" || ToStdout(path) {
		return err
	}
	held, err := files.LockFor(path)
	if err != nil {
		return err
	}
	a.AtEnd(held.Release)
	return nil
}

func check(path string, inputs []string) error {
	if path == "" || ToStdout(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil {
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
				return fmt.Errorf("%s is to be read and to be written: name another file to write", path)
			}
		}
		if !info.Mode().IsRegular() && !info.IsDir() {
			return nil // opening a pipe and closing it again would end its reader
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		return fmt.Errorf("%s can't be written: %w: choose another path", path, err)
	}
	f, err := files.Create(path)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}

// WriteText writes a text to a file atomically: readers see the whole text or nothing.
func WriteText(ctx context.Context, path, text string) error {
	f, err := files.CreateContext(ctx, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := io.WriteString(f, text); err != nil {
		return err
	}
	return f.Commit()
}
