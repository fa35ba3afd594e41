// Halfspace-beam trains and applies the models of halfspace on Apache Beam. See docs/distributed.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"halfspace/cmd/halfspace-beam/internal/cluster"
	"halfspace/cmd/internal/cli"
	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/objects"
	"halfspace/internal/worker"
)

const help = `Halfspace-beam makes the passes of halfspace over rows on Apache Beam.

Usage:
  halfspace-beam train DATA... --label COLUMN --out m.json [options] [Beam's flags]
  halfspace-beam eval --model m.json DATA... [options] [Beam's flags]
  halfspace-beam predict --model m.json DATA... --out 'FOLDER/*.csv' [options] [Beam's flags]
  halfspace-beam worker --port PORT      works for a runner on this host
  halfspace-beam prism --port PORT       is a runner for one host

The options of train, eval and predict are those of halfspace. The model is the
same, byte for byte. predict writes a file for each file of DATA: * in --out
stands for its name. DATA and --out of predict may be URLs of object stores:
gs://BUCKET/FOLDER and s3://BUCKET/FOLDER.

Beam's flags, some of them:
  --runner NAME            prism, in this process (default), or universal, flink,
                           spark, dataflow
  --endpoint HOST:PORT     of the runner
  --pools HOST:PORT,...    workers that were started by halfspace-beam worker
  --staging FOLDER         a folder that all processes share (default that of
                           temporary files); or gs://BUCKET/FOLDER, s3://...
`

var (
	staging   = flag.String("staging", "", "Folder that all processes share.")
	pools     = flag.String("pools", "", "Addresses of workers.")
	port      = flag.Int("port", 0, "Port to listen at.")
	oneServer = flag.Bool("once", false, "Don't start Prism again when it ends.")
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command line and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	beamArgs, verbArgs := splitFlags(args)
	if err := flag.CommandLine.Parse(beamArgs); err != nil {
		return 2
	}
	objects.Use(context.Background(), 0)
	log.SetupLogging("error", "text")
	beam.Init() // does not return in a worker that a runner has started
	if len(verbArgs) == 0 || verbArgs[0] == "help" || asksHelp(verbArgs) && !strings.Contains(" train eval predict ", " "+verbArgs[0]+" ") {
		fmt.Fprint(stdout, help)
		return 0
	}
	if verbArgs[0] == "--version" || verbArgs[0] == "version" {
		fmt.Fprintln(stdout, "halfspace-beam", console.Version())
		return 0
	}
	if err := checkFlags(verbArgs[0]); err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	objects.Use(ctx, 0)
	var err error
	switch verbArgs[0] {
	case "train", "eval", "predict":
		defer makeTempFolder()()
		if verbArgs[0] == "predict" {
			return predict(ctx, verbArgs[1:], stdout, stderr)
		}
		return onCluster(ctx, verbArgs, stdout, stderr)
	case "worker":
		fmt.Fprintf(stderr, "works for a runner at port %d; end with Ctrl-C\n", *port)
		err = cluster.Serve(ctx, *port)
	case "prism":
		if !*oneServer {
			fmt.Fprintf(stderr, "Prism runs at port %d; end with Ctrl-C\n", *port)
		}
		err = servePrism(ctx, *port, *oneServer, stderr)
	default:
		fmt.Fprintf(stderr, "halfspace-beam: no verb is called %q: use train, eval, predict, worker or prism\n", verbArgs[0])
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "halfspace-beam: %v\n", err)
		return 1
	}
	return 0
}

// asksHelp tells whether arguments ask for help.
func asksHelp(args []string) bool {
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// checkFlags returns an error if flags don't do for a verb. Beam would find that out later, and say it as a failure of a pass.
func checkFlags(verb string) error {
	if verb == "worker" || verb == "prism" {
		if *port < 1 || *port > 65535 {
			return fmt.Errorf("%s needs the port that it listens at, from 1 to 65535: add --port 8073, for example", verb)
		}
		return nil
	}
	runner, endpoint := options().Runner, flag.Lookup("endpoint").Value.String()
	switch strings.TrimSuffix(strings.ToLower(runner), "runner") {
	case "prism", "dataflow":
	case "flink", "spark", "samza", "universal", "portable":
		if endpoint == "" {
			return fmt.Errorf("--runner %s needs the address of its job server: add --endpoint HOST:PORT", runner)
		}
	default:
		return fmt.Errorf("no runner is called %q: use prism, universal, flink, spark or dataflow", runner)
	}
	if *pools != "" && endpoint == "" {
		return errors.New("--pools needs the address of the runner: add --endpoint HOST:PORT")
	}
	return nil
}

// makeTempFolder makes a folder for the temporary files of this process, since Beam leaves one for each pipeline. remove removes the
// folder. A process that is killed leaves it.
func makeTempFolder() (remove func()) {
	dir, err := os.MkdirTemp("", "halfspace-beam-")
	if err == nil && os.Setenv("TMPDIR", dir) == nil {
		return func() { os.RemoveAll(dir) }
	}
	os.Remove(dir) // "" if there is none
	return func() {}
}

// mostQuickEnds is how often in a row Prism may end within a second.
const mostQuickEnds = 5

// servePrism runs Prism in a process of its own, and starts it again when it ends: it panics at times when a worker ends. The
// process ends when its standard input does, as this one's end of the pipe goes with it.
func servePrism(ctx context.Context, port int, oneServer bool, stderr io.Writer) error {
	if oneServer {
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
		_, err := prism.CreateJobServer(ctx, prism.Options{Port: port})
		if err == nil {
			<-ctx.Done()
		}
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port))) // says why the port is of no use
	if err != nil {
		return err
	}
	l.Close()
	self, err := os.Executable()
	for quickEnds := 0; err == nil && ctx.Err() == nil; {
		cmd := exec.CommandContext(ctx, self, "prism", "--once", "--port", strconv.Itoa(port))
		if _, err = cmd.StdinPipe(); err != nil {
			return err
		}
		start := time.Now()
		exitErr := cmd.Run()
		if quickEnds++; time.Since(start) > time.Second {
			quickEnds = 0
		}
		if ctx.Err() == nil && quickEnds == mostQuickEnds {
			return fmt.Errorf("Prism ends at once at port %d: %w", port, exitErr)
		}
	}
	return err
}

// splitFlags separates the flags of Beam and of this program from the other arguments.
func splitFlags(args []string) (beamArgs, verbArgs []string) {
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f := flag.CommandLine.Lookup(name)
		if !strings.HasPrefix(args[i], "-") || f == nil {
			verbArgs = append(verbArgs, args[i])
			continue
		}
		beamArgs = append(beamArgs, args[i])
		boolean, ok := f.Value.(interface{ IsBoolFlag() bool })
		if !hasValue && !(ok && boolean.IsBoolFlag()) && i+1 < len(args) {
			i++
			beamArgs = append(beamArgs, args[i])
		}
	}
	return beamArgs, verbArgs
}

// options returns the options that the flags give.
func options() cluster.Options {
	runner := flag.Lookup("runner").Value.String()
	if runner == "" {
		runner = "prism"
	}
	return cluster.Options{Runner: runner, Staging: *staging, Pools: cluster.List(*pools)}
}

// onCluster runs a verb of halfspace, with its passes on a cluster.
func onCluster(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var clusters []*cluster.Cluster
	defer func() {
		for _, c := range clusters {
			if err := c.Close(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintf(stderr, "note: %v\n", err)
			}
		}
	}()
	engine := func(plan dataset.SharedPlan, rows, _ int64) (block.Cluster, error) {
		c, err := cluster.New(options(), worker.Files{Plan: plan, Rows: rows})
		if err == nil {
			clusters = append(clusters, c)
		}
		return c, err
	}
	return cli.MainOn(func(context.Context) dataset.Engine { return engine }, args, stdout, stderr)
}
