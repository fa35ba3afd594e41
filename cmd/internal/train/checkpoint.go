package train

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/internal/checkpoint"
)

// A savingOptions says where and when a training saves its state.
type savingOptions struct {
	checkpoint.Options
	every string      // as the user typed it
	same  [][2]string // options that must have the same values when a training resumes
}

func (o *savingOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Dir, "checkpoint", "", "`FOLDER` Save the state of the training in this folder from time to time, and when it is interrupted.")
	f.StringVar(&o.every, "checkpoint-every", "60s", "`TIME|EPOCHS` Time between two checkpoints, such as 10m, or a number of epochs.")
	f.BoolVar(&o.Resume, "resume", false, "Go on from the last checkpoint. The model is the same as without a stop.")
}

// check returns an error if an option can't be used. It also records the options that must have the same values on
// --resume.
func (o *savingOptions) check(cmd *cobra.Command) error {
	f := cmd.Flags()
	for _, name := range []string{"checkpoint-every", "resume"} {
		if o.Dir == "" && f.Changed(name) {
			return console.Usagef("--%s without --checkpoint FOLDER: name the folder of the checkpoints", name)
		}
	}
	if n, err := strconv.ParseInt(o.every, 10, 64); err == nil && n > 0 {
		o.Epochs = n
	} else if t, err := time.ParseDuration(o.every); err == nil && t >= time.Second {
		o.Every = t
	} else {
		return console.Usagef("--checkpoint-every is %q: use a time such as 60s, 10m or 1h, a second at least, or a number of epochs", o.every)
	}
	o.same = append(o.same, [2]string{"the version of halfspace", console.Version()})
	f.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unrecorded, f.Name) {
			o.same = append(o.same, [2]string{"--" + f.Name, f.Value.String()})
		}
	})
	return nil
}

// open opens the folder, and compares the options with the options of the run before. Without a folder it returns nil.
func (o *savingOptions) open(a *console.App) (*checkpoint.Run, error) {
	if o.Dir == "" {
		return nil, nil
	}
	o.Note = func(text string) { a.Note("%s", text) }
	run, err := checkpoint.Open(o.Options)
	if errors.Is(err, checkpoint.ErrUnfinished) {
		return nil, fmt.Errorf("%s has checkpoints of %w: add --resume, or name an empty folder", o.Dir, checkpoint.ErrUnfinished)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range o.same {
		if err := run.Same(s[0], s[1]); err != nil {
			run.Close()
			return nil, err
		}
	}
	return run, nil
}
