package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/worker"
)

// pipes is the variable of the environment that an adapter sets for the command in the driver. Its value has three numbers: the
// descriptors from which the command reads and to which it writes messages, and the goroutines of a worker.
const pipes = "HALFSPACE_CLUSTER"

// FromEnvironment returns the clusters of the adapter that started this process, or nil if no adapter did.
func FromEnvironment() func(worker.Files) (block.Cluster, error) {
	value := os.Getenv(pipes)
	if value == "" {
		return nil
	}
	var n [3]int
	texts := strings.Split(value, ",")
	err := fmt.Errorf("%s=%s: write three numbers with commas", pipes, value)
	if len(texts) == len(n) {
		err = nil
		for i, text := range texts {
			var wrong error
			n[i], wrong = strconv.Atoi(text)
			err = errors.Join(err, wrong)
		}
	}
	if err != nil {
		return func(worker.Files) (block.Cluster, error) { return nil, err }
	}
	a := &adapter{from: os.NewFile(uintptr(n[0]), "from the adapter"), to: os.NewFile(uintptr(n[1]), "to the adapter")}
	return func(f worker.Files) (block.Cluster, error) { return newCluster(a, f, n[2]) }
}

// An adapter is the program of an engine, at the other end of two pipes.
type adapter struct {
	mu   sync.Mutex // held from a message to its answer
	from io.ReadCloser
	to   io.WriteCloser
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
		return nil, errors.New(string(answer[1]))
	case string(answer[0]) != "ok":
		return nil, errGarbled
	}
	return answer[1:], nil
}

// A cluster makes passes by an adapter. It is a block.Cluster.
type cluster struct {
	adapter  *adapter
	rows     int64
	training []byte // a worker.Training
}

func newCluster(a *adapter, files worker.Files, workers int) (*cluster, error) {
	t, err := worker.NewTraining(files, workers)
	if err != nil {
		return nil, err
	}
	coded, err := distributed.Encode(*t)
	return &cluster{a, files.Rows, coded}, err
}

// Pass makes a pass; see block.Cluster.
func (c *cluster) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	if len(p.Pieces) == 0 {
		return nil
	}
	m, err := c.message(ctx, p)
	if err != nil {
		return err
	}
	results, err := c.adapter.ask(ctx, m)
	if err != nil {
		return err
	}
	if len(results) != len(p.Pieces) {
		return errGarbled
	}
	for i := range results {
		r, err := distributed.DecodeResult(p, results[i])
		if err == nil {
			err = merge(r)
		}
		if err != nil {
			return err
		}
		results[i] = nil
	}
	return nil
}

// message returns the message of a pass.
func (c *cluster) message(ctx context.Context, p block.Pass) (message, error) {
	pass, err := distributed.EncodePass(p)
	if err != nil {
		return nil, err
	}
	chunks := float64((c.rows + block.ChunkRows - 1) / block.ChunkRows)
	positions, pieces := make([]float64, len(p.Pieces)), make(message, len(p.Pieces))
	var all errgroup.Group
	all.SetLimit(8)
	for i := range pieces {
		if positions[i] = float64(i) / float64(len(pieces)); len(p.Pieces[i]) > 0 {
			positions[i] = float64(p.Pieces[i][0]) / chunks
		}
		all.Go(func() error {
			piece, err := worker.PieceOf(p, i)
			if err == nil {
				pieces[i], err = distributed.Encode(piece)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	placed, err := json.Marshal(positions)
	return append(message{[]byte("pass"), placed, []byte(Identity()), c.training, pass}, pieces...), err
}
