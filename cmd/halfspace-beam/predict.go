package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"halfspace/cmd/halfspace-beam/internal/cluster"
	"halfspace/cmd/internal/cli"
	"halfspace/cmd/internal/console"
	scoring "halfspace/cmd/internal/predict"
	"halfspace/dataset"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/objects"
	"halfspace/internal/passes"
	"halfspace/internal/worker"
)

// predictArgs are files and, for each, the file of its predictions. The options are the options of halfspace predict
// without --model: workers get the bytes of the model, as they may not see the file.
type predictArgs struct {
	options, files, outputs []string
	model                   string // the name of its file; "" if there is none
	modelText               []byte // of the model
}

func (p *predictArgs) Fields() []any {
	return []any{&p.options, &p.files, &p.outputs, &p.model, &p.modelText}
}

// predictTask predicts the rows of a file. A piece is a file, and has no rows of its own.
var predictTask = passes.NewTask("beam.predict", func(ctx context.Context, piece passes.Piece, a predictArgs) (string, error) {
	predictLock.Lock()
	defer predictLock.Unlock()
	defer objects.Keep() // each file is read once
	dir, err := os.MkdirTemp("", "halfspace-beam-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	to := a.outputs[piece.Number]
	out := to
	if files.Scheme(to) != "" {
		out = filepath.Join(dir, "out", path.Base(to))
		if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
			return "", err
		}
	}
	args := append([]string{"predict", a.files[piece.Number], "--out", out}, a.options...)
	if a.model != "" {
		m := filepath.Join(dir, filepath.Base(a.model))
		if err := os.WriteFile(m, a.modelText, 0o600); err != nil {
			return "", err
		}
		args = append(args, "--model", m)
	}
	var text bytes.Buffer
	status := cli.Main(args, io.Discard, &text)
	messages := strings.NewReplacer(out, to, dir+string(filepath.Separator), "").Replace(text.String())
	if status != 0 {
		return "", errors.New(strings.TrimPrefix(strings.TrimSpace(messages), "halfspace: "))
	}
	if out == to {
		return messages, nil
	}
	f, err := os.Open(out)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return messages, objects.Put(ctx, to, f)
})

// predictLock lets one file be predicted at a time: a file keeps all cores busy.
var predictLock sync.Mutex

// predict predicts the rows of files, each to a file of its own, and returns the exit status.
func predict(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if asksHelp(args) {
		return cli.Main(append([]string{"predict"}, args...), stdout, stderr)
	}
	a, err := predictArgsOf(ctx, args)
	if err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 2
	}
	c, err := cluster.New(options(), worker.Files{})
	if err == nil {
		defer c.Close(context.WithoutCancel(ctx))
		err = predictTask.EachWithoutRows(ctx, c, *a, len(a.files), func(messages string) error {
			fmt.Fprint(stderr, messages)
			return nil
		})
	}
	if err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "predictions of %s: %s\n", humanize.Plural(int64(len(a.outputs)), "file"),
		strings.Join(a.outputs[:min(3, len(a.outputs))], ", "))
	return 0
}

// outputPattern returns --out as the name of a file of predictions, in which * stands for the name of a file of DATA.
func outputPattern(out string, files int) (string, error) {
	extension := filepath.Ext(out)
	switch {
	case strings.Contains(out, "*") || extension != "" && files == 1:
		return out, nil
	case extension != "":
		return "", fmt.Errorf("--out %s is one file, and DATA is %d files: write '*%s', where * stands for the "+
			"name of each", out, files, extension)
	}
	return strings.TrimRight(out, "/") + "/*.parquet", nil
}

// predictArgsOf returns the files that a command line names.
func predictArgsOf(ctx context.Context, args []string) (*predictArgs, error) {
	cmd := scoring.Predict(console.New(ctx, io.Discard, io.Discard))
	if err := cmd.ParseFlags(args); err != nil {
		return nil, err
	}
	a, out := new(predictArgs), ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch {
			case f.Name == "out":
				out = v
			case f.Name == "model" && a.model == "":
				a.model = v
			default:
				a.options = append(a.options, "--"+f.Name+"="+v)
			}
		}
	})
	if out == "" || out == "-" {
		return nil, errors.New("--out is missing: name a folder, or files by a pattern such as 'predictions/*.csv'")
	}
	var err error
	if a.model != "" {
		if a.modelText, err = os.ReadFile(a.model); err != nil {
			return nil, console.OpenError(a.model, err)
		}
	}
	if a.files, err = dataset.Expand(ctx, cmd.Flags().Args(), nil); err != nil {
		return nil, err
	}
	if len(a.files) == 0 {
		return nil, errors.New("no data: name a file, a glob or a directory")
	}
	if out, err = outputPattern(out, len(a.files)); err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for i, file := range a.files {
		if a.files[i], err = files.Abs(file); err != nil {
			return nil, err
		}
		base := filepath.Base(file)
		to, err := files.Abs(strings.Replace(out, "*", strings.TrimSuffix(base, filepath.Ext(base)), 1))
		if err != nil {
			return nil, err
		}
		if taken[to] {
			return nil, fmt.Errorf("two files of the data are called %s: their predictions would be one file", base)
		}
		taken[to] = true
		a.outputs = append(a.outputs, to)
	}
	return a, nil
}
