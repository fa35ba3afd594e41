package cluster

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	// The runners, and the file systems of folders.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

// A pieceFn computes pieces of a pass.
type pieceFn struct {
	Pass string `json:"pass"` // the folder of the pass
}

// ProcessElement computes a piece and writes its result.
func (f *pieceFn) ProcessElement(ctx context.Context, piece int64) error {
	return computePiece(ctx, f.Pass, piece)
}

func init() { register.DoFn2x1[context.Context, int64, error](&pieceFn{}) }

// pipeline returns the pipeline that computes pieces of the pass in a folder.
func pipeline(folder string, pieces []int64) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	beam.ParDo0(root, &pieceFn{folder}, beam.Reshuffle(root, beam.CreateList(root, pieces)))
	return p
}

// runPipeline runs a pipeline on a runner by Beam's own flags.
func runPipeline(ctx context.Context, runner, folder string, pieces []int64) error {
	_, err := beam.Run(ctx, runner, pipeline(folder, pieces))
	return err
}

// runOnPool runs a pipeline on the runner of --endpoint, which has the process at an address do the work; see Serve. It ends
// with an error if that process ends.
func runOnPool(ctx context.Context, pool, folder string, pieces []int64) error {
	endpoint, err := jobopts.GetEndpoint()
	if err != nil {
		return fmt.Errorf("--pools needs --endpoint: %w", err)
	}
	edges, _, err := pipeline(folder, pieces).Build()
	if err != nil {
		return err
	}
	env, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, func(context.Context) string { return pool })
	if err != nil {
		return err
	}
	env.Dependencies = nil // the process has this program; Prism v2.77 also ends at times when two pipelines bring files at once
	p, err := graphx.Marshal(edges, &graphx.Options{Environment: env})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go watch(ctx, pool, func(err error) { cancel(lostWorkerError{fmt.Errorf("the worker at %s has gone: %w", pool, err)}) })
	go watch(ctx, endpoint, func(err error) { cancel(fmt.Errorf("the runner at %s has gone: %w", endpoint, err)) })
	err = execute(ctx, p, endpoint)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// execute runs a pipeline, whose environments need no files, on the runner at an address.
func execute(ctx context.Context, p *pipepb.Pipeline, endpoint string) error {
	conn, err := grpcx.Dial(ctx, endpoint, 2*time.Minute)
	if err != nil {
		return fmt.Errorf("the runner at %s: %w", endpoint, err)
	}
	defer conn.Close()
	client := jobpb.NewJobServiceClient(conn)
	id, artifacts, token, err := runnerlib.Prepare(ctx, client, p, &runnerlib.JobOptions{Name: jobopts.GetJobName()})
	if err != nil {
		return err
	}
	if token, err = runnerlib.Stage(ctx, id, artifacts, "", token); err != nil {
		return err
	}
	job, err := runnerlib.Submit(ctx, client, id, token)
	if err != nil {
		return err
	}
	return runnerlib.WaitForCompletion(ctx, client, job)
}

// watchEvery is the time between two looks at a worker.
const watchEvery = 500 * time.Millisecond

// A lostWorkerError is the error of a worker that has ended.
type lostWorkerError struct{ error }

// watch cancels when nobody listens at an address any more. Beam waits for minutes then, or without end.
func watch(ctx context.Context, address string, cancel func(error)) {
	for ctx.Err() == nil {
		c, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err != nil {
			cancel(err)
			return
		}
		c.Close()
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
		}
	}
}

// Serve works for runners at a port of this host, until ctx ends. It keeps rows from one pass to the next.
func Serve(ctx context.Context, port int) error {
	s, err := extworker.StartLoopback(ctx, port)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return s.Stop(context.WithoutCancel(ctx))
}
