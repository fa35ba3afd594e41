package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/internal/files"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
)

// OpenError returns the error of opening path, with advice. It leaves out the name of the system call.
func OpenError(path string, err error) error {
	return withAdvice(fmt.Errorf("%s: %w", path, files.Cause(err)))
}

// ReadsData are the annotations of the command of a verb that reads DATA.
var ReadsData = map[string]string{"reads": "data"}

// IsReader returns true if a command has the annotations ReadsData.
func IsReader(cmd *cobra.Command) bool { return cmd.Annotations["reads"] == "data" }

// PipeAsStdin makes the pipe that one of the paths of data names, as <(command) in a shell does, standard input, and
// returns the paths with - in its place. Several pipes stay: their readers refuse them.
func PipeAsStdin(ctx context.Context, paths []string) ([]string, error) {
	at := -1
	for i, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil || info.Mode()&fs.ModeNamedPipe == 0:
		case at >= 0:
			return paths, nil
		default:
			at = i
		}
	}
	if at < 0 || slices.Contains(paths, "-") {
		return paths, nil
	}
	// opening a named pipe waits for a writer
	pipe, err := parallel.DetachValue(ctx, func() (*os.File, error) { return os.Open(paths[at]) })
	if err != nil {
		return nil, OpenError(paths[at], err)
	}
	os.Stdin = pipe
	paths = slices.Clone(paths)
	paths[at] = "-"
	return paths, nil
}

// withAdvice adds advice to the error of a file that can't be read.
func withAdvice(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: check the path", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: check the file's mode", err)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%w: name a file in it", err)
	case errors.Is(err, model.ErrNoModel):
		return message.Errorf("%w: name what train --out wrote", err)
	}
	return err
}

// SaveModel writes a model. After an interrupt it still has a grace time. If the file at path can't be replaced, SaveModel
// writes the model beside it, or to the folder of temporary files, and the error says where.
func SaveModel(ctx context.Context, m *model.Model, path string) error {
	grace, end := parallel.Grace(ctx)
	defer end()
	err := m.SaveContext(grace, path)
	if info, bad := os.Stat(path); err == nil || bad == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return err
	}
	for _, dir := range []string{filepath.Dir(path), files.TempDir()} {
		for n := 1; n <= 100; n++ {
			kept := filepath.Join(dir, fmt.Sprintf("%s.kept-%d", filepath.Base(path), n))
			if _, bad := os.Lstat(kept); bad == nil {
				continue
			}
			if m.SaveContext(grace, kept) == nil {
				return fmt.Errorf("%w; the model is in %s", err, kept)
			}
			break
		}
	}
	return err
}

// LoadModel reads a model. memory is the limit in bytes; 0 means the available memory. An interrupt ends LoadModel even
// if path is a pipe that sends nothing.
func LoadModel(ctx context.Context, path string, memory int64) (*model.Model, error) {
	m, err := parallel.DetachValue(ctx, func() (*model.Model, error) { return model.LoadWithin(path, memory) })
	return m, withAdvice(err)
}

// ToStdout tells whether path is standard output, where reports go.
func ToStdout(path string) bool { return path == "-" || files.IsStdout(path) }

// Claim returns an error if path can't be written, is one of the input files, or is locked by another run that will
// write it. It locks path until a ends. An empty path is no error.
func Claim(a *App, path string, inputs []string) error {
	if path == "" || ToStdout(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s can't be written: %w: choose another path", path, files.Cause(err))
	}
	for _, in := range inputs {
		if other, bad := os.Stat(in); err == nil && bad == nil && os.SameFile(info, other) {
			return fmt.Errorf("%s is to be read and to be written: name another file to write", path)
		}
	}
	if err != nil || info.Mode().IsRegular() || info.IsDir() { // opening a pipe and closing it again would end its reader
		f, err := files.Create(path)
		if err != nil {
			return err
		}
		f.Abort()
	}
	held, err := files.LockFor(path)
	if err != nil {
		return err
	}
	a.AtEnd(held.Release)
	return nil
}

// checkLocal returns an error if one of the paths is an address, such as s3://..., that can't be used. verb is "written" for files
// that are always local; objects of a store can be "put" or "fetched".
func checkLocal(verb string, paths ...string) error {
	for _, p := range paths {
		scheme := files.Scheme(p)
		switch {
		case scheme == "":
		case strings.EqualFold(scheme, "file"):
			return Usagef("%s is an address, not a path: leave out %s://", p, scheme)
		case verb == "written" || verb == "put" && !files.AnyStore():
			return Usagef("%s: only local files are written: write one, and copy it there", p)
		default:
			if _, err := files.StoreOf(p); err != nil {
				return Usagef("%s: %w", p, err)
			}
		}
	}
	return nil
}

// CheckPaths returns an error if a path is an address, or if the data is a model.
func CheckPaths(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(checkNames(cmd), checkData(cmd, args)); err != nil {
		return err
	}
	for _, f := range []struct{ name, verb string }{{"model", "fetched"}, {"init", "fetched"}, {"out", "put"},
		{"cache", "written"}, {"roc", "written"},
		{"c", "written"}, {"go", "written"}, {"liblinear", "written"}, {"onnx", "written"}, {"onnx-columns", "written"}} {
		flag := cmd.Flags().Lookup(f.name)
		if flag == nil {
			continue
		}
		paths, err := cmd.Flags().GetStringArray(f.name)
		if err != nil { // the flag takes one path
			paths = []string{flag.Value.String()}
		}
		if err := checkLocal(f.verb, paths...); err != nil {
			return err
		}
	}
	if cmd.Name() == "inspect" || cmd.Name() == "export" {
		return nil
	}
	applies := cmd.Flags().Lookup("model") != nil
	for _, p := range args {
		switch kind := jsonKind(p); {
		case kind == "":
		case kind == "a model" && applies:
			return Usagef("%s is a model: use --model %s, and name the data", p, p)
		case kind == "a model":
			return Usagef("%s is a model: name the data, or use predict --model %s DATA", p, p)
		default:
			return Usagef("%s is %s: name the data, or use inspect %s", p, kind, p)
		}
	}
	return nil
}

// checkNames returns an error if the user gave an empty name of a file or of a folder.
func checkNames(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		of, _ := pflag.UnquoteUsage(f)
		if !strings.HasPrefix(of, "FILE") && !strings.HasPrefix(of, "FOLDER") {
			return
		}
		paths := []string{f.Value.String()}
		if s, several := f.Value.(pflag.SliceValue); several {
			paths = s.GetSlice()
		}
		if slices.Contains(paths, "") && err == nil {
			err = Usagef("--%s is empty: name a file, or leave the option out", f.Name)
		}
	})
	return err
}

// checkData returns an error if the data is an address that can't be read.
func checkData(cmd *cobra.Command, args []string) error {
	if f := cmd.Flags().Lookup("validation"); f != nil {
		args = append(slices.Clone(args), f.Value.String())
	}
	return checkLocal("fetched", args...)
}

// IsProof tells whether a file looks like the output of check --json.
func IsProof(path string) bool { return jsonKind(path) == proofSource }

// IsOwn tells whether a file looks like a model or the output of check --json.
func IsOwn(path string) bool { return jsonKind(path) != "" }

const proofSource = "what check --json printed"

// jsonKind returns which JSON of halfspace a file holds: "a model"; proof, whose first key is "separable"; or "" for any
// other file.
func jsonKind(path string) string {
	if info, err := files.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // opening a pipe and closing it again would end its writer
	}
	f, err := files.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	keys := json.NewDecoder(bytes.NewReader(head[:n]))
	open, _ := keys.Token()
	first, _ := keys.Token()
	switch {
	case open != json.Delim('{'):
		return ""
	case bytes.Contains(head, []byte(`"halfspace-model/`)):
		return "a model"
	case first == "separable":
		return proofSource
	}
	return ""
}
