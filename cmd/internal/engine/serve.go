package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/objects"
	"halfspace/internal/worker"
)

// A server answers the adapters of one host.
type server struct {
	worker  *worker.Worker
	parts   worker.Parts
	begin   time.Time
	open    atomic.Int64 // connections
	lastUse atomic.Int64 // time from begin to the end of the last connection
}

// memoryOptions are the options of halfspace.spark that raise the memory of workers.
const memoryOptions = "--worker-memory or spark.executor.memoryOverhead"

// Worker returns the verb that computes pieces of passes for an adapter.
func Worker(a *console.App) *cobra.Command {
	var (
		memory flags.Size
		socket string
		parts  string
		parent int
		idle   time.Duration
	)
	cmd := &cobra.Command{
		Use:    "worker [options]",
		Short:  "Compute pieces of a training for an engine such as Spark",
		Hidden: true,
		Args:   cobra.NoArgs,
		Long: `Worker computes pieces of trainings that run on a cluster, and keeps the rows that
it has read. The Python module halfspace.spark starts it. It ends with its
standard input; with --socket it ends with the process --parent, or after the time
--idle without a request.`,
	}
	f := cmd.Flags()
	f.Var(&memory, "memory", "`SIZE` Most memory to use, half of it for rows. (default 50 % of what is available, for rows)")
	f.StringVar(&socket, "socket", "", "`FILE` Unix socket to listen at. (default standard input and output)")
	f.StringVar(&parts, "parts", "", "`FOLDER` Folder of the files of tables that the engine has.")
	f.IntVar(&parent, "parent", 0, "`PID` Process with which the worker ends.")
	f.DurationVar(&idle, "idle", 10*time.Minute, "`TIME` Time without a request after which the worker ends.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, undo := memory.Hold()
		defer undo()
		objects.Use(cmd.Context(), 0) // each training has its own versions of objects
		s := &server{worker: worker.New(memory.Bytes, memoryOptions), begin: time.Now()}
		s.parts.Read = worker.Local(parts)
		files.Register(worker.PartScheme, &s.parts)
		if socket == "" {
			return s.answer(cmd.Context(), os.Stdin, os.Stdout)
		}
		if parent <= 0 {
			return console.Usagef("--socket needs --parent: the worker ends with that process")
		}
		return s.listen(cmd.Context(), socket, parent, idle)
	}
	return cmd
}

// listen answers at a Unix socket until the process parent ends, or nobody asked for a time. Then it removes the socket, and the file
// beside it to which the adapter sends the worker's standard error.
func (s *server) listen(ctx context.Context, socket string, parent int, idle time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	var all, connections errgroup.Group
	all.Go(func() error {
		defer cancel()
		return waitForEnd(ctx, parent)
	})
	all.Go(func() error {
		defer cancel()
		s.waitForIdle(ctx, idle)
		return nil
	})
	l, err := net.Listen("unix", socket)
	if err != nil {
		cancel()
		return err
	}
	defer os.Remove(socket + ".log")
	stop := context.AfterFunc(ctx, func() { l.Close() }) // which removes the file
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			ended := ctx.Err() != nil
			cancel()
			if ended {
				return all.Wait() // no pass is of use any more: the process ends in the middle of them
			}
			return err
		}
		s.open.Add(1)
		connections.Go(func() error {
			defer func() {
				c.Close()
				s.lastUse.Store(int64(time.Since(s.begin)))
				s.open.Add(-1)
			}()
			_ = s.answer(ctx, c, c) // an error is that the adapter has gone
			return nil
		})
	}
}

// waitForIdle waits until no connection was open for a time.
func (s *server) waitForIdle(ctx context.Context, idle time.Duration) {
	for ctx.Err() == nil {
		left := idle - (time.Since(s.begin) - time.Duration(s.lastUse.Load()))
		if s.open.Load() > 0 {
			left = idle
		}
		if left <= 0 {
			return
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
}

// answer answers messages until from ends.
func (s *server) answer(ctx context.Context, from io.Reader, to io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := writeMessage(to, message{[]byte("worker"), []byte(Identity())}); err != nil {
		return err
	}
	requests := make(chan message)
	var reading errgroup.Group
	reading.Go(func() error {
		defer cancel() // the adapter has gone, also in the middle of a pass
		defer close(requests)
		for {
			m, err := readMessage(from)
			if err != nil {
				return err
			}
			select {
			case requests <- m:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for m := range requests {
		answer := s.answerTo(ctx, m)
		if ctx.Err() != nil { // the worker ends: an adapter tries again where a connection ends
			return ctx.Err()
		}
		if err := writeMessage(to, answer); err != nil {
			return err
		}
	}
	if err := reading.Wait(); err != io.EOF {
		return err
	}
	return nil
}

// answerTo returns the answer to a message.
func (s *server) answerTo(ctx context.Context, m message) message {
	results, err := s.compute(ctx, m)
	if err != nil {
		return message{[]byte("no"), []byte(err.Error())}
	}
	return append(message{[]byte("ok")}, results...)
}

// compute computes the pieces of a message.
func (s *server) compute(ctx context.Context, m message) ([][]byte, error) {
	if string(m[0]) != "compute" || len(m) < 4 {
		return nil, errGarbled
	}
	if driver := string(m[1]); driver != Identity() {
		return nil, fmt.Errorf("the driver runs halfspace %s, and this worker halfspace %s: install one version everywhere",
			driver, Identity())
	}
	t := new(worker.Training)
	if err := distributed.Decode(m[2], t); err != nil {
		return nil, err
	}
	pass, err := distributed.DecodePass(m[3])
	if err != nil {
		return nil, err
	}
	pieces := make([]worker.Piece, len(m)-4)
	for i := range pieces {
		if err := distributed.Decode(m[4+i], &pieces[i]); err != nil {
			return nil, err
		}
	}
	defer s.parts.Add(t.Parts)()
	return s.worker.ComputeAll(ctx, t, pass, pieces)
}
