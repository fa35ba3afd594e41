package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"halfspace/internal/files"
	"halfspace/internal/objects"
)

// A folder is where the processes of a training leave files for each other. Each training has a folder of its own.
type folder struct {
	root     string
	hasFiles atomic.Bool // a file was written, or the folder itself
}

// newFolder makes a folder in parent, or in the folder of temporary files if parent is "".
func newFolder(parent string) (*folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if !isURL(parent) {
		if err := os.MkdirAll(parent, 0o777); err != nil {
			return nil, err
		}
		root, err := os.MkdirTemp(parent, "halfspace-beam-")
		if err == nil {
			root, err = filepath.Abs(root)
		}
		f := &folder{root: root}
		f.hasFiles.Store(true)
		return f, err
	}
	return &folder{root: strings.TrimSuffix(parent, "/") + "/halfspace-beam-" + strings.ToLower(rand.Text())}, nil
}

// isURL tells whether a path is a URL.
func isURL(path string) bool { return files.Scheme(path) != "" }

// path returns the path of a file of the folder.
func (f *folder) path(name string) string { return f.root + "/" + name }

// write writes a sealed file, which appears whole or not at all.
func (f *folder) write(ctx context.Context, name string, text []byte) error {
	err := writeSealed(ctx, f.path(name), text)
	if err == nil {
		f.hasFiles.Store(true)
	}
	return err
}

func writeFile(ctx context.Context, path string, text []byte) (err error) {
	if isURL(path) {
		return objects.Put(ctx, path, bytes.NewReader(text))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	w, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err == nil {
		err = os.Rename(w.Name(), path)
	}
	if err != nil {
		os.Remove(w.Name())
	}
	return err
}

func readFile(ctx context.Context, path string) ([]byte, error) {
	if isURL(path) {
		return objects.Get(ctx, path)
	}
	return os.ReadFile(path)
}

// remove removes a file or a folder, "" for all. Where no file could be written, the error of that write has told why, and nothing
// is there to remove.
func (f *folder) remove(ctx context.Context, name string) error {
	if !f.hasFiles.Load() {
		return nil
	}
	folder := strings.TrimSuffix(f.path(name), "/")
	if isURL(folder) {
		return objects.RemoveAll(ctx, folder)
	}
	return os.RemoveAll(folder)
}

// A sealed file begins with the SHA-256 of the rest, the name of the file and a line feed. So a file that is damaged, or of another
// pass, is as good as none. All files of a folder are sealed.

// writeSealed writes a sealed file.
func writeSealed(ctx context.Context, path string, text []byte) error {
	text = append([]byte(path+"\n"), text...)
	sum := sha256.Sum256(text)
	return writeFile(ctx, path, append(sum[:], text...))
}

// readSealed returns the text of a sealed file.
func readSealed(ctx context.Context, path string) ([]byte, error) {
	text, err := readFile(ctx, path)
	if err != nil {
		return nil, err
	}
	head := []byte(path + "\n")
	if len(text) < sha256.Size+len(head) || !bytes.HasPrefix(text[sha256.Size:], head) ||
		sha256.Sum256(text[sha256.Size:]) != [sha256.Size]byte(text) {
		return nil, fmt.Errorf("%s is damaged", path)
	}
	return text[sha256.Size+len(head):], nil
}

// The text of a result is "ok" and the bytes of the result, or "no" and the text of an error.

// A taskError is the error of a task in a process. Another process may not have the same error: the error may come from a disk.
type taskError struct{ error }

// resultName returns the name of the result of a piece in the folder of its pass.
func resultName(piece int64) string { return fmt.Sprintf("piece-%06d", piece) }

// ownArgsName returns the name of a piece's own arguments there.
func ownArgsName(piece int64) string { return fmt.Sprintf("args-%06d", piece) }

// writeResult writes the result of a piece to the folder of a pass, or the error of its task.
func writeResult(ctx context.Context, pass string, piece int64, result []byte, taskErr error) error {
	text := []byte("ok")
	if taskErr != nil {
		text, result = []byte("no"), []byte(taskErr.Error())
	}
	return writeSealed(ctx, pass+"/"+resultName(piece), append(text, result...))
}

// result returns the result of a piece. The error is a taskError if the task has an error.
func (f *folder) result(ctx context.Context, pass string, piece int64) ([]byte, error) {
	path := f.path(pass) + "/" + resultName(piece)
	text, err := readSealed(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case len(text) < 2:
		return nil, fmt.Errorf("%s is damaged", path)
	case string(text[:2]) == "no":
		return nil, taskError{errors.New(string(text[2:]))}
	}
	return text[2:], nil
}
