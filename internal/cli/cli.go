// Package cli is the command line: a tree of verbs over the packages that do the work.
//
// Results go to standard output, everything else to standard error. The exit status is 0 when the verb is done, 1 when
// it failed, 2 when the command line is wrong and 130 when it was interrupted. An error is one line. If the runtime itself crashes, it
// says so in many lines, and SIGABRT ends the process: a shell's status is 134.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/internal/nearest"
	"halfspace/internal/say"
	"halfspace/kernel"
)

// The exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs the command line args, without the program's name, and returns the exit status. An interrupt or a request to
// terminate cancels the work; a second one ends the process.
func Main(args []string, stdout, stderr io.Writer) int {
	debug.SetTraceback("crash") // a crash of the runtime ends by SIGABRT: its own status 2 is that of wrong usage
	collectLater()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, args, stdout, stderr)
}

// An app is one run of the program.
type app struct {
	stdout  *output
	stderr  *patient
	kept    string // what an interrupt leaves, as the end of a sentence; "" where the verb has nothing to say
	started bool   // a verb was found, its options parsed, and it has begun: errors are not wrong usage by themselves
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "halfspace: internal error: %s: this is a bug, please report it with the command line\n",
				say.Line(fmt.Sprint(r)))
			status = exitFailed
		}
	}()
	defer kernel.Use(kernel.Active()) // --isa holds for this run
	a := &app{stdout: &output{to: &patient{ctx: ctx, w: stdout}}, stderr: &patient{ctx: ctx, w: stderr}}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	checkNames(root)
	cmd, err := root.ExecuteContextC(ctx)
	if a.stdout.err != nil { // of help and completion cobra forgets it
		err, a.started = a.stdout.err, true
	}
	return a.report(ctx, cmd, err)
}

// report prints err as one line and returns the exit status that it stands for.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		fmt.Fprintf(a.stderr, "halfspace: interrupted%s\n", say.Line(a.kept))
		return exitInterrupted
	case errors.Is(err, errStdoutGone):
		return exitFailed
	case errors.As(err, &usage) || !a.started:
		fmt.Fprintf(a.stderr, "halfspace: %s (see %s --help)\n", say.Line(err.Error()), cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(a.stderr, "halfspace: %s\n", say.Line(err.Error()))
	return exitFailed
}

// usageError is an error of the command line, not of what it names.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// note tells the user about something that isn't an error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.stderr, "note: %s\n", say.Line(fmt.Sprintf(format, args...)))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:                   "halfspace",
		DisableFlagsInUseLine: true,
		Short:                 "Train linear classifiers on millions of Parquet rows",
		Long: `Halfspace trains linear classifiers on millions of rows straight from Parquet
files, and from CSV, svmlight and Arrow IPC files. The same data, options and
seed give the same model, byte for byte, on every CPU and with any number of
workers.`,
		Example: `  halfspace gen --rows 1000000 --features 28 --noise 0.1 --out train.parquet
  halfspace train train.parquet --label label --out m.json
  halfspace eval --model m.json train.parquet
  halfspace predict --model m.json train.parquet --out predictions.parquet`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(writeUsage)
	root.AddCommand(a.train(), a.compare(), a.predict(), a.eval(), a.online(), a.check(), a.inspect(), a.convert(), a.gen(), a.cpu())
	return root
}

// version says what was built, and by which compiler.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel), " + runtime.Version()
	}
	return info.Main.Version + ", " + info.GoVersion
}

// verb finishes a sub-command: it marks when its work begins, so that errors before are known as wrong usage.
func (a *app) verb(cmd *cobra.Command, work func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.Flags().SortFlags = false
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.started = true
		if err := checkPaths(cmd, args); err != nil {
			return err
		}
		return explain(cmd, args, work(cmd, args))
	}
	return cmd
}

// checkNames makes cobra's own commands, help and completion, refuse unknown names, for which they would print a help
// text and succeed. Root must have its output, where completion will write.
func checkNames(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				topic, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return unknownCommand(topic, rest)
			}
		case "completion":
			cmd.Args, cmd.RunE = unknownCommand, root.RunE // without work of its own its arguments would go unchecked
			cmd.DisableFlagsInUseLine = true
		}
	}
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	advice := didYouMean(args[0], names, "")
	if advice == "" && !cmd.HasParent() {
		advice = adviseVerb(args[0])
	}
	return usagef("unknown command %q%s", args[0], advice)
}

// didYouMean returns the rest of a sentence about an unknown name: the nearest known one, if any is near.
func didYouMean(name string, known []string, prefix string) string {
	if near := nearest.Name(name, known); near != "" {
		return fmt.Sprintf(": did you mean %s%s?", prefix, near)
	}
	return ""
}

// flagError says in our words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return unknownOption(cmd.Flags(), "--", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		return unknownOption(cmd.Flags(), "-", unknown.GetSpecifiedShortnames())
	case errors.As(err, &invalid):
		return usagef("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid))
	case errors.As(err, &missing):
		return usagef("--%s needs a value", missing.GetSpecifiedName())
	}
	return usageError{err}
}

// wanted says which values a flag takes.
func wanted(invalid *pflag.InvalidValueError) error {
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		return errors.New("use a whole number")
	case "uint64":
		return errors.New("use a whole number from 0 to 18446744073709551615")
	case "float64":
		return errors.New("use a number")
	case "bool":
		return errors.New("use true or false")
	case "stringSlice":
		return errors.New(`put quotes around each item with a comma, such as "a,b",c`)
	}
	return invalid.Unwrap()
}
