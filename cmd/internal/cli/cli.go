// Package cli is the command line: a tree of verbs over the packages that do the work.
//
// Results go to standard output, all other text to standard error. An error is one line. The exit status is 0 if the
// verb is done and 1 if it failed. It is 2 if the command line is wrong, 130 after an interrupt, and 129 after a hangup. If the runtime
// crashes, it prints many lines and SIGABRT ends the process: a shell's status is 134.
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
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/engine"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/predict"
	"halfspace/cmd/internal/report"
	"halfspace/cmd/internal/train"
	"halfspace/dataset"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/kernel"
)

const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitHungUp      = 129
	exitInterrupted = 130
)

// sameInterruptTime is the time within which further signals count as the first one: a program such as timeout sends one
// signal to the process and one to its group.
const sameInterruptTime = 200 * time.Millisecond

// endingSignals returns the signals that cancel the work: an interrupt, a request to terminate, and a hangup, which a terminal
// sends when it closes, unless the process began with hangups ignored, as nohup does.
func endingSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// Main runs the command line args, without the program's name, and returns the exit status. One of endingSignals cancels the
// work; a second one ends the process at once. An adapter that started this process has the cluster, if any.
func Main(args []string, stdout, stderr io.Writer) int {
	return MainOn(engine.FromEnvironment, args, stdout, stderr)
}

// MainOn is Main with a function that returns an engine, which opens rows in other processes, or nil; see console.App. The context ends
// when the work is cancelled.
func MainOn(engine func(context.Context) dataset.Engine, args []string, stdout, stderr io.Writer) int {
	debug.SetTraceback("crash") // a crash ends by SIGABRT: the runtime's status 2 means wrong usage here
	collectLater(args)
	ending, hangup := endingSignals(), make(chan os.Signal, 1)
	if slices.Contains(ending, os.Signal(syscall.SIGHUP)) {
		signal.Notify(hangup, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(withLifeline(context.Background()), ending...)
	// earlier, a signal would end the exiting process
	context.AfterFunc(ctx, func() { time.AfterFunc(sameInterruptTime, func() { endAtSignal(stop, ending) }) })
	status := runOn(ctx, engine(ctx), args, stdout, stderr)
	if status == exitInterrupted && len(hangup) > 0 {
		return exitHungUp
	}
	return status
}

const parentCheck = time.Second

// lifeline is the variable of the environment that makes standard input a lifeline, if it is "stdin".
const lifeline = "HALFSPACE_LIFELINE"

// withLifeline returns a context that ends with parent. If the environment asks for a lifeline, the context also ends
// when standard input does: a program that starts this one holds the other end of the pipe, and a kill closes it. A fork
// of that program may hold it longer. So the context ends too when the process gets another parent.
func withLifeline(parent context.Context) context.Context {
	if os.Getenv(lifeline) != "stdin" {
		return parent
	}
	ctx, cancel := context.WithCancel(parent)
	var watch errgroup.Group
	watch.Go(func() error {
		defer cancel()
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
	first := os.Getppid()
	watch.Go(func() error {
		for range time.Tick(parentCheck) {
			if os.Getppid() != first {
				cancel()
				return nil
			}
		}
		return nil
	})
	return ctx
}

// endAtSignal waits for a signal and ends the process. It first removes the process's lock files and temporary files,
// unless that takes longer than sameInterruptTime.
func endAtSignal(stop func(), ending []os.Signal) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, ending...)
	stop()
	<-again
	time.AfterFunc(sameInterruptTime, func() { os.Exit(exitInterrupted) })
	files.RemoveAllOwned()
	os.Exit(exitInterrupted)
}

// A call is one run of the program with the verb that the command line names.
type call struct {
	*console.App
	hasStarted bool // the verb's work has begun; an error before that means wrong usage
}

func runOn(ctx context.Context, engine dataset.Engine, args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "halfspace: internal error: %s: this is a bug, please report it with the command line\n",
				humanize.Line(fmt.Sprint(r)))
			status = exitFailed
		}
	}()
	defer kernel.Use(kernel.Active()) // --isa holds for this run
	c := &call{App: console.New(ctx, stdout, stderr)}
	c.Engine = engine
	defer c.End()
	root := c.root()
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		flags.Complete(root)
	}
	root.SetArgs(args)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	checkNames(root)
	cmd, err := root.ExecuteContextC(ctx)
	if c.Stdout.Err != nil { // cobra drops the write error of help and completion
		err, c.hasStarted = c.Stdout.Err, true
	}
	return c.report(ctx, cmd, err)
}

// report prints err as one line and returns its exit status.
func (c *call) report(ctx context.Context, cmd *cobra.Command, err error) int {
	status, more := exitFailed, ""
	c.ReleaseNotes()
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		fmt.Fprintf(c.Stderr, "halfspace: interrupted%s\n", humanize.Line(c.KeptFiles))
		return exitInterrupted
	case errors.Is(err, console.ErrStdoutGone):
		return exitFailed
	case errors.As(err, new(console.UsageError)) || errors.As(err, new(*message.OptionError)) || !c.hasStarted:
		status, more = exitUsage, fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	}
	if console.ForPython {
		more = ""
	}
	fmt.Fprintf(c.Stderr, "halfspace: %s%s\n", humanize.Line(err.Error()), more)
	return status
}

// verbs are the commands under the titles of their groups in the help.
var verbs = []struct {
	title string
	verbs []func(*console.App) *cobra.Command
}{
	{"Use", []func(*console.App) *cobra.Command{train.Train, train.Compare, predict.Eval, predict.Predict, predict.Online}},
	{"Data", []func(*console.App) *cobra.Command{Inspect, Convert, Gen}},
	{"Explain", []func(*console.App) *cobra.Command{report.Plot, Check}},
	{"Ship", []func(*console.App) *cobra.Command{Export, train.Verify}},
	{"Machine", []func(*console.App) *cobra.Command{Bench, Version, engine.Worker}},
}

func init() { cobra.EnableCommandSorting = false } // the help lists them in the order of verbs

func (c *call) root() *cobra.Command {
	root := &cobra.Command{
		Use:                   "halfspace",
		DisableFlagsInUseLine: true,
		Short:                 "Train linear classifiers on millions of Parquet rows",
		Long: flags.Wrapped("Halfspace trains linear classifiers on millions of rows of "+humanize.OneOf(dataset.FormatNames())+
			" files. The same data, options and seed give the same model, byte for byte, on every CPU and with any number of workers.", 0),
		Example: `  halfspace train train.csv --label y --validation 0.2 --out m.json
  halfspace eval --model m.json train.csv
  halfspace predict --model m.json train.csv --out predictions.csv`,
		Version:       console.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(flags.WriteUsage)
	quiet := root.PersistentFlags().Bool("quiet", false, "Print results and errors alone: no notes, no progress.")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		if *quiet {
			c.Hush()
		}
	}
	for _, of := range verbs {
		root.AddGroup(&cobra.Group{ID: of.title, Title: of.title})
		for _, verb := range of.verbs {
			cmd := c.finish(verb(c.App))
			cmd.GroupID = of.title
			root.AddCommand(cmd)
		}
	}
	machine := verbs[len(verbs)-1].title
	root.SetHelpCommandGroupID(machine)
	root.SetCompletionCommandGroupID(machine)
	return root
}

// Command returns the command with its verbs, for man pages and completions.
func Command() *cobra.Command {
	root := (&call{App: console.New(context.Background(), io.Discard, io.Discard)}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// finish completes the command of a verb and its subcommands: it notes when the work begins, checks numbers and paths,
// and explains errors.
func (c *call) finish(cmd *cobra.Command) *cobra.Command {
	for _, sub := range cmd.Commands() {
		c.finish(sub)
	}
	work := cmd.RunE
	flags.PlainNumbers(cmd)
	cmd.Flags().SortFlags = false
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.hasStarted = true
		if console.IsReader(cmd) {
			var err error
			if args, err = console.PipeAsStdin(cmd.Context(), args); err != nil {
				return err
			}
		}
		if err := console.CheckPaths(cmd, args); err != nil {
			return err
		}
		return console.Explain(cmd, args, work(cmd, args))
	}
	return cmd
}

// checkNames makes cobra's commands help and completion refuse unknown names; without it they print a help text and
// succeed. Set the output of root before.
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
			cmd.Args, cmd.RunE = unknownCommand, root.RunE // without RunE, cobra doesn't check arguments
			cmd.DisableFlagsInUseLine = true
		}
	}
}

// flagError returns an error about a flag that cmd can't parse. If an unknown verb stands before the flag, the error is
// about the verb: its options are unknown too.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && (!cmd.HasParent() || !cmd.Runnable()) {
		if wrong := unknownCommand(cmd, cmd.Flags().Args()); wrong != nil {
			return wrong
		}
	}
	return console.FlagError(cmd, err)
}

// unknownCommand returns an error about the first argument, which isn't a verb below cmd. If other programs use this
// name, the error says the halfspace verb for it; otherwise it suggests a similar name.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	advice := ""
	if !cmd.HasParent() {
		advice = console.AdviseVerb(args[0])
	}
	if advice == "" {
		advice = console.DidYouMean(args[0], names)
	}
	return console.Usagef("unknown command %q%s", args[0], advice)
}

// leastHeap is the size of the heap in bytes at which the garbage collector aims at least: a short run then needs no
// collection, and reading makes much garbage beside few live bytes. A memory limit makes it collect earlier.
const leastHeap = 64 << 20

// With usualPercent, GOGC's default, the collector aims at usualHeap bytes at least.
const (
	usualPercent = 100
	usualHeap    = 4 << 20
)

// collectLater makes the garbage collector aim at a heap of leastHeap or more, unless GOGC is set.
func collectLater(args []string) {
	const first = leastHeap / usualHeap * usualPercent
	if percent := debug.SetGCPercent(first); percent != usualPercent {
		debug.SetGCPercent(percent)
		return
	}
	keepHeapGoal(first, strings.Join(args[:min(len(args), 1)], "") == "inspect")
}

// manyColumnsHeap is a live heap in bytes that inspect reaches only for tables of tens of thousands of columns. inspect
// keeps counts of columns and no rows: from manyColumnsHeap on it sets GOGC to inspectPercent, since garbage would take as
// much memory again.
const (
	manyColumnsHeap = 96 << 20
	inspectPercent  = 25
)

// keepHeapGoal sets GOGC after each collection, so that the next heap is leastHeap, or twice the live heap if that is more.
// percent is the present GOGC. keepHeapGoal ends when somebody else sets GOGC.
func keepHeapGoal(percent int, inspects bool) {
	runtime.AddCleanup(new(*int), func(percent int) {
		samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
		metrics.Read(samples)
		live := max(usualHeap, samples[0].Value.Uint64())
		switch {
		case samples[1].Value.Uint64() != uint64(percent):
		case inspects && live >= manyColumnsHeap:
			debug.SetGCPercent(inspectPercent)
		default:
			next := max(usualPercent, int(100*leastHeap/live)-100)
			debug.SetGCPercent(next)
			keepHeapGoal(next, inspects)
		}
	}, percent)
}
