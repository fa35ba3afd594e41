package distributed

import (
	"context"
	"fmt"
	"reflect"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
)

// A view turns a source into a changed source.
type view struct {
	argsType reflect.Type
	change   func(src block.Source, args any, workers int) block.Source
}

// NewView registers a change of rows under a name, like New for a task.
func NewView[A any](name string, of func(src block.Source, args A, workers int) block.Source) {
	if views[name] != nil {
		panic("distributed: two views of one name")
	}
	views[name] = &view{reflect.TypeFor[A](), func(src block.Source, args any, workers int) block.Source {
		return block.AssumeValid(of(src, args.(A), workers))
	}}
}

// ChangedCluster returns the cluster of src, and the views of its rows followed by one more view. A source that changes
// src returns this from its method Remote.
func ChangedCluster(src block.Source, name string, args any) (block.Cluster, []block.View) {
	cluster, before := block.RemoteOf(src)
	if cluster == nil {
		return nil, nil
	}
	return cluster, append(before[:len(before):len(before)], block.View{Name: name, Args: args})
}

// lookup returns the task or view of a name among all.
func lookup[T any](all map[string]*T, kind, name string) (*T, error) {
	if t := all[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("no %s is called %q: %w", kind, name, errDiffer)
}

func taskOf(p block.Pass) (*task, error) { return lookup(tasks, "task", p.Task) }
func viewOf(v block.View) (*view, error) { return lookup(views, "view", v.Name) }

// EncodePass returns the bytes of a pass without its pieces.
func EncodePass(p block.Pass) ([]byte, error) {
	return checkpoint.Write(func(w *checkpoint.Walk) { pass(w, &p) })
}

// DecodePass is the inverse of EncodePass.
func DecodePass(b []byte) (p block.Pass, err error) {
	err = read(b, func(w *checkpoint.Walk) { pass(w, &p) })
	return p, err
}

func pass(w *checkpoint.Walk, p *block.Pass) {
	w.Text(&p.Task)
	t, err := taskOf(*p)
	if err != nil {
		w.Fail(err)
		return
	}
	typedValue(w, &p.Args, t.argsType)
	checkpoint.List(w, &p.Views, func(v *block.View) {
		w.Text(&v.Name)
		if known, err := viewOf(*v); err != nil {
			w.Fail(err)
		} else {
			typedValue(w, &v.Args, known.argsType)
		}
	})
}

// EncodeOwn returns the bytes of a piece's own arguments, or nil if it has none.
func EncodeOwn(p block.Pass, piece int) ([]byte, error) {
	if p.OwnArgs == nil {
		return nil, nil
	}
	return Encode(p.OwnArgs(piece))
}

// Run computes the piece of that number of a pass, from the piece's rows. own are the bytes of EncodeOwn. Run returns
// the bytes of the result. Up to workers goroutines compute.
func Run(ctx context.Context, p block.Pass, own []byte, rows block.Source, number, workers int) ([]byte, error) {
	t, err := taskOf(p)
	if err != nil {
		return nil, err
	}
	for _, v := range p.Views {
		known, err := viewOf(v)
		if err != nil {
			return nil, err
		}
		rows = known.change(rows, v.Args, workers)
	}
	piece := Piece{Source: rows, Number: number, Workers: workers}
	if t.ownType != nil {
		if piece.ownArgs, err = decodeValue(own, t.ownType); err != nil {
			return nil, err
		}
	}
	result, err := t.do(ctx, piece, p.Args)
	if err != nil {
		return nil, err
	}
	return Encode(result)
}

// DecodeResult returns the result of a piece, in the result type of the pass's task.
func DecodeResult(p block.Pass, b []byte) (any, error) {
	t, err := taskOf(p)
	if err != nil {
		return nil, err
	}
	return decodeValue(b, t.resultType)
}
