package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"halfspace/beam/cluster"
	"halfspace/dataset"
	"halfspace/internal/cli"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/scoring"
	"halfspace/internal/passes"
)

// predictArgs are files and, for each, the file of its predictions. The options are those of halfspace predict.
type predictArgs struct{ options, files, outs []string }

// predictTask predicts the rows of a file. A piece is a file, and has no rows of its own.
var predictTask = passes.New("beam.predict", func(_ context.Context, piece passes.Piece[float32], a predictArgs) (string, error) {
	predicting.Lock()
	defer predicting.Unlock()
	args := append([]string{"predict", a.files[piece.Number], "--out", a.outs[piece.Number]}, a.options...)
	var said bytes.Buffer
	if status := cli.Main(args, io.Discard, &said); status != 0 {
		return "", errors.New(strings.TrimPrefix(strings.TrimSpace(said.String()), "halfspace: "))
	}
	return said.String(), nil
})

// predicting lets one file be predicted at a time: a file keeps all cores busy.
var predicting sync.Mutex

// predict predicts the rows of files, each to a file of its own, and returns the exit status.
func predict(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a, err := predictions(ctx, args)
	if err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 2
	}
	c, err := cluster.New(ctx, options(), cluster.Files{})
	if err == nil {
		defer c.Close(context.WithoutCancel(ctx))
		err = passes.Rowless(ctx, c, predictTask, *a, len(a.files), func(said string) error {
			fmt.Fprint(stderr, said)
			return nil
		})
	}
	if err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%d files of predictions, the first is %s\n", len(a.outs), a.outs[0])
	return 0
}

// predictions returns the files that a command line names.
func predictions(ctx context.Context, args []string) (*predictArgs, error) {
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
			if f.Name == "out" {
				out = v
			} else {
				a.options = append(a.options, "--"+f.Name+"="+v)
			}
		}
	})
	if out == "" || out == "-" {
		return nil, errors.New("--out is missing: name a folder, or files by a pattern such as 'predictions/*.csv'")
	}
	if !strings.Contains(out, "*") {
		out = filepath.Join(out, "*.parquet")
	}
	var err error
	if a.files, err = dataset.Expand(cmd.Flags().Args()); err != nil {
		return nil, err
	}
	if len(a.files) == 0 {
		return nil, errors.New("no data: name a file, a glob or a directory")
	}
	seen := map[string]bool{}
	for i, file := range a.files {
		if a.files[i], err = filepath.Abs(file); err != nil {
			return nil, err
		}
		base := filepath.Base(file)
		to, err := filepath.Abs(strings.Replace(out, "*", strings.TrimSuffix(base, filepath.Ext(base)), 1))
		if err != nil {
			return nil, err
		}
		if seen[to] {
			return nil, fmt.Errorf("two files of the data are called %s: their predictions would be one file", base)
		}
		seen[to] = true
		a.outs = append(a.outs, to)
	}
	return a, nil
}
