package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	notation "halfspace/internal/message"
	"halfspace/internal/worker"
)

// pipes is the variable of the environment that an adapter sets for the command in the driver. Its value has four numbers: the
// descriptors from which the command reads and to which it writes messages, the goroutines of a worker,
// and the number of parts of tables.
const pipes = "HALFSPACE_CLUSTER"

// FromEnvironment returns the engine of the adapter that started this process, or nil if no adapter did. The end of ctx ends requests.
func FromEnvironment(ctx context.Context) dataset.Engine {
	value := os.Getenv(pipes)
	if value == "" {
		return nil
	}
	a, err := newAdapter(ctx, value)
	if err != nil {
		return func(dataset.SharedPlan, int64, int64) (block.Cluster, error) { return nil, err }
	}
	return a.cluster
}

// newAdapter returns the adapter at the ends of the pipes, with the parts of its tables.
func newAdapter(ctx context.Context, value string) (*adapter, error) {
	var from, to, workers, parts int
	if _, err := fmt.Sscanf(value, "%d,%d,%d,%d", &from, &to, &workers, &parts); err != nil {
		return nil, fmt.Errorf("%s=%s: write four numbers with commas", pipes, value)
	}
	readEnd, err := pipe(from, "the pipe from the adapter")
	if err != nil {
		return nil, err
	}
	writeEnd, err := pipe(to, "the pipe to the adapter")
	if err != nil {
		return nil, err
	}
	a := &adapter{ctx: ctx, from: readEnd, to: writeEnd, workers: workers}
	a.parts.Read = a.read
	files.Register(worker.PartScheme, &a.parts)
	if parts == 0 {
		return a, nil
	}
	return a, a.askForParts()
}

// An adapter is the program of an engine, at the other end of two pipes.
type adapter struct {
	ctx  context.Context // of requests for parts
	mu   sync.Mutex      // held from a message to its answer
	from io.ReadCloser
	to   io.WriteCloser

	workers int            // goroutines of a worker
	parts   worker.Parts   // of the adapter's tables
	here    *worker.Worker // computes the pieces that no other host can; nil before the first cluster
	blocks  blocks         // of parts
}

// ask sends a message, and returns the texts of the answer after "ok", or the sentence of "no" as an error.
func (a *adapter) ask(ctx context.Context, m message) ([][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { // the adapter may take long, and the training has ended
		a.from.Close()
		a.to.Close()
	})
	defer stop()
	var answer message
	err := writeMessage(a.to, m)
	if err == nil {
		answer, err = readMessage(a.from)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the program that has the cluster has ended: %w", err)
	case string(answer[0]) == "no" && len(answer) == 2:
		return nil, errors.New(notation.Translate(string(answer[1]))) // a worker writes options as the command names them
	case string(answer[0]) != "ok":
		return nil, errGarbled
	}
	return answer[1:], nil
}

// askForParts asks the adapter for the parts of its tables.
func (a *adapter) askForParts() error {
	texts, err := a.ask(a.ctx, message{[]byte("parts")})
	var parts []worker.Part
	for ; err == nil && len(texts) >= partTexts; texts = texts[partTexts:] {
		var p worker.Part
		err = json.Unmarshal(texts[0], &p)
		p.Head, p.Tail = texts[1], texts[2]
		parts = append(parts, p)
	}
	a.parts.Add(parts)
	return err
}

// partTexts is the number of texts of a part in a message.
const partTexts = 3

// A cluster makes passes by an adapter. It is a block.Cluster.
type cluster struct {
	adapter  *adapter
	training *worker.Training
	coded    []byte // the training
	here     *worker.Worker
}

// cluster returns a cluster for the rows of a plan; see dataset.Engine.
func (a *adapter) cluster(plan dataset.SharedPlan, rows, memory int64) (block.Cluster, error) {
	t, err := worker.NewTraining(worker.Files{Plan: plan, Rows: rows}, a.workers)
	if err != nil {
		return nil, err
	}
	t.Parts = a.parts.All()
	if stored := rowsOf(t.Parts); len(t.Parts) > 0 && rows > 0 && rows != stored {
		return nil, fmt.Errorf("the DataFrame has %s, of which the training takes %s (--where, --limit, --sample, --nulls drop, "+
			"or no label): leave the others out of the DataFrame, as filter and dropna do", humanize.Plural(stored, "row"),
			humanize.Count(rows))
	}
	coded, err := distributed.Encode(*t)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.here == nil {
		a.here = worker.New(memory, "--memory")
	}
	return &cluster{a, t, coded, a.here}, err
}

// rowsOf returns the number of rows of parts.
func rowsOf(parts []worker.Part) (rows int64) {
	for _, p := range parts {
		rows += p.Rows
	}
	return rows
}

// Pass makes a pass; see block.Cluster. This process computes the pieces with rows of several parts: no host has them all.
func (c *cluster) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	here, there := c.split(p)
	results := make([][]byte, len(p.Pieces))
	if len(there) > 0 {
		m, err := c.message(ctx, p, there)
		if err != nil {
			return err
		}
		from, err := c.adapter.ask(ctx, m)
		if err != nil {
			return err
		}
		if len(from) != len(there) {
			return errGarbled
		}
		for k, i := range there {
			results[i] = from[k]
		}
	}
	if err := c.compute(ctx, p, here, results); err != nil {
		return err
	}
	return distributed.MergeResults(p, results, merge)
}

// split returns the numbers of the pieces that this process computes, and of the others.
func (c *cluster) split(p block.Pass) (here, there []int) {
	for i, chunks := range p.Pieces {
		parts := c.training.Parts
		if n := len(chunks); n > 0 && len(parts) > 0 && worker.PartOf(parts, chunks[0]) != worker.PartOf(parts, chunks[n-1]) {
			here = append(here, i)
		} else {
			there = append(there, i)
		}
	}
	return here, there
}

// compute computes pieces in this process.
func (c *cluster) compute(ctx context.Context, p block.Pass, numbers []int, results [][]byte) error {
	if len(numbers) == 0 {
		return nil
	}
	coded, err := distributed.EncodePass(p)
	if err != nil {
		return err
	}
	pass, err := distributed.DecodePass(coded) // as in a worker: a task may change its arguments
	if err != nil {
		return err
	}
	pieces := make([]worker.Piece, len(numbers))
	for k, i := range numbers {
		if pieces[k], err = worker.PieceOf(p, i); err != nil {
			return err
		}
	}
	computed, err := c.here.ComputeAll(ctx, c.training, pass, pieces)
	if err != nil {
		return err
	}
	for k, i := range numbers {
		results[i] = computed[k]
	}
	return nil
}

// message returns the message of pieces of a pass.
func (c *cluster) message(ctx context.Context, p block.Pass, numbers []int) (message, error) {
	pass, err := distributed.EncodePass(p)
	if err != nil {
		return nil, err
	}
	positions, pieces := make([]float64, len(numbers)), make(message, len(numbers))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(mostEncoders)
	for k, i := range numbers {
		positions[k] = c.position(p, i)
		all.Go(func() error {
			piece, err := worker.PieceOf(p, i)
			if err == nil {
				pieces[k], err = distributed.Encode(piece)
			}
			return errors.Join(err, ctx.Err())
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	placed, err := json.Marshal(positions)
	return append(message{[]byte("pass"), placed, []byte(Identity()), c.coded, pass}, pieces...), err
}

// mostEncoders is the number of pieces that are encoded at once.
const mostEncoders = 8

// position returns the share of the rows before a piece.
func (c *cluster) position(p block.Pass, piece int) float64 {
	switch {
	case len(p.Pieces[piece]) > 0:
		return float64(p.Pieces[piece][0]*block.ChunkRows) / float64(c.training.Files.Rows)
	case p.Positions != nil:
		return p.Positions[piece]
	}
	return float64(piece) / float64(len(p.Pieces))
}
