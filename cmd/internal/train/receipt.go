package train

import (
	"context"
	"crypto/sha256"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/cache"
	"halfspace/internal/files"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/kernel"
)

// typedOptions returns the options that the user gave, for a receipt.
func typedOptions(cmd *cobra.Command) []model.TypedOption {
	all := []model.TypedOption{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(unrecordedOptions, f.Name) {
			return
		}
		all = append(all, model.TypedOption{Option: f.Name, Values: flags.Values(f)})
	})
	return all
}

// setFlag sets an option of a command as if the user had typed it.
func setFlag(cmd *cobra.Command, option string, values []string) error {
	f := cmd.Flags().Lookup(option)
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if err := list.Replace(values); err != nil {
			return message.Errorf("--%s: %w", option, err)
		}
		f.Changed = true
		return nil
	}
	for _, v := range values {
		if err := cmd.Flags().Set(option, v); err != nil {
			return err
		}
	}
	return nil
}

// setFlags sets options of a command as if the user had typed them.
func setFlags(cmd *cobra.Command, options ...model.TypedOption) error {
	for _, o := range options {
		if o.Option == "dtype" && slices.Equal(o.Values, []string{model.Float32}) { // earlier versions wrote this option
			continue
		}
		if cmd.Flags().Lookup(o.Option) == nil || slices.Contains(unrecordedOptions, o.Option) {
			return message.Errorf("it has the option --%s, which this version of train doesn't have: use the version "+
				"that wrote it", o.Option)
		}
		if err := setFlag(cmd, o.Option, o.Values); err != nil {
			return err
		}
	}
	return nil
}

// checkReceipt returns an error if --receipt can't be used. others are the files that the training uses otherwise.
func (o *trainOptions) checkReceipt(a *console.App, others []string) error {
	switch {
	case o.receipt == "":
		return nil
	case o.out == "":
		return console.Usagef("--receipt without --out: name a file for the model with --out")
	case console.ToStdout(o.receipt):
		return console.Usagef("--receipt is %s: name a file", o.receipt)
	case sameFile(o.receipt, o.out):
		return console.Usagef("--receipt and --out are %s: name another file", o.out)
	}
	for _, other := range others {
		if other != "" && sameFile(o.receipt, other) {
			return console.Usagef("--receipt is %s, which the training uses: name another file", o.receipt)
		}
	}
	return console.Claim(a, o.receipt, others)
}

func (t *trainer) saveReceipt(ctx context.Context, r *model.Receipt, paths []string) error {
	all, err := t.summedFiles(ctx, paths)
	if err == nil {
		r.Files, err = t.sumFiles(ctx, all)
	}
	if err == nil {
		err = t.checkUnchanged(all)
	}
	if err != nil {
		return message.Errorf("--receipt: %w", err)
	}
	typed := t.typed
	if len(t.lakeVersions) > 0 && !strings.Contains(t.lakeVersions, ",") && t.Data.Version == "" { // verify reads it again
		typed = append(slices.Clone(typed), model.TypedOption{Option: "version", Values: []string{t.lakeVersions}})
	}
	r.Options, r.Machine = typed, model.Machine{Program: console.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: kernel.DetectedCPU().Brand,
		ISA: kernel.Active().String(), Workers: t.Workers, IsStreamed: !t.inMemory(), Seconds: t.seconds.Training}
	return r.Save(t.receipt)
}

// dataFiles returns the files of rows, of --labels and of --weights. It leaves out standard input and files that aren't
// regular.
func (t *trainer) dataFiles(ctx context.Context, paths []string) (all []string, err error) {
	paths, err = dataset.FilesOf(ctx, t.Data.With(paths))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		info, err := files.Stat(path)
		if path == "-" || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, console.OpenError(path, err)
		}
		all = append(all, path)
	}
	return all, nil
}

// summedFiles returns the files whose checksums a receipt has: dataFiles, and the model of --init.
func (t *trainer) summedFiles(ctx context.Context, paths []string) ([]string, error) {
	all, err := t.dataFiles(ctx, paths)
	if t.init != "" {
		all = append(all, t.init)
	}
	return all, err
}

// recordFileStates records the states of the files of a receipt, before their rows are read.
func (t *trainer) recordFileStates(ctx context.Context, paths []string) error {
	if t.receipt == "" {
		return nil
	}
	all, err := t.dataFiles(ctx, paths)
	if err == nil {
		t.fileStates, err = dataset.SourcesOf(all)
	}
	t.fileStates = append(t.fileStates, t.initState...)
	return err
}

// checkUnchanged returns an error if a file of the receipt, whose files are summed, has another state than before it was
// read: the training may not have read the rows that its checksum stands for.
func (t *trainer) checkUnchanged(summed []string) error {
	now, err := dataset.SourcesOf(summed)
	if err != nil {
		return err
	}
	changed := "the list of its files changed"
	if len(now) == len(t.fileStates) {
		changed = cache.FirstChange(t.fileStates, now)
	}
	if changed != "" {
		return message.Errorf("%s while the training ran, so no receipt was written; %s has the model: train again for "+
			"a receipt", changed, t.out)
	}
	return nil
}

// sumFiles returns the checksums of files.
func (t *trainer) sumFiles(ctx context.Context, paths []string) ([]model.FileSum, error) {
	var all []model.FileSum
	for _, path := range paths {
		sum, err := sumFile(ctx, path)
		if err != nil {
			return nil, console.OpenError(path, err)
		}
		all = append(all, sum)
		t.bar.Show(console.Step{Name: "hashing the files", Done: int64(len(all)), Total: int64(len(paths))})
	}
	t.bar.End()
	return all, nil
}

func sumFile(ctx context.Context, path string) (sum model.FileSum, err error) {
	f, err := files.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	sum.Name = path
	sum.Bytes, err = io.Copy(h, contextReader{ctx, f})
	h.Sum(sum.SHA256[:0])
	return sum, err
}

// A contextReader is a reader that fails once ctx ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
