package distributed

import (
	"context"
	"fmt"
	"reflect"

	"halfspace/block"
)

// A view turns a source into a changed source.
type view struct {
	args reflect.Type
	of   func(src block.Source, args any, workers int) block.Source
}

// NewView registers a change of rows under a name, like New for a task.
func NewView[A any](name string, of func(src block.Source, args A, workers int) block.Source) {
	if views[name].of != nil {
		panic("passes: two views of one name")
	}
	views[name] = view{reflect.TypeFor[A](), func(src block.Source, args any, workers int) block.Source {
		return block.AssumeValid(of(src, args.(A), workers))
	}}
}

// Changed returns the cluster of src, and the views of its rows followed by one more view. A source that changes src
// returns this from its method Remote.
func Changed(src block.Source, name string, args any) (block.Cluster, []block.View) {
	cluster, before := block.RemoteOf(src)
	if cluster == nil {
		return nil, nil
	}
	return cluster, append(before[:len(before):len(before)], block.View{Name: name, Args: args})
}

// EncodePass returns the bytes of a pass without its pieces.
func EncodePass(p block.Pass) ([]byte, error) {
	var e encoder
	e.text(p.Task)
	if err := e.value(reflect.ValueOf(p.Args)); err != nil {
		return nil, err
	}
	e.number(uint64(len(p.Views)))
	for _, v := range p.Views {
		e.text(v.Name)
		if err := e.value(reflect.ValueOf(v.Args)); err != nil {
			return nil, err
		}
	}
	return e.b, nil
}

// DecodePass is the inverse of EncodePass.
func DecodePass(b []byte) (p block.Pass, err error) {
	d := decoder{b: b}
	p.Task = d.text()
	t := tasks[p.Task]
	if t == nil {
		return p, fmt.Errorf("no task is called %q: the programs of the cluster differ: use the same version everywhere", p.Task)
	}
	if p.Args, err = d.any(t.args); err != nil {
		return p, err
	}
	for range d.length(1) {
		v := block.View{Name: d.text()}
		known := views[v.Name]
		if known.of == nil {
			return p, fmt.Errorf("no view is called %q: the programs of the cluster differ: use the same version everywhere", v.Name)
		}
		if v.Args, err = d.any(known.args); err != nil {
			return p, err
		}
		p.Views = append(p.Views, v)
	}
	return p, d.end()
}

// EncodeOwn returns the bytes of a piece's own arguments, or nil if it has none.
func EncodeOwn(p block.Pass, piece int) ([]byte, error) {
	if p.Own == nil {
		return nil, nil
	}
	return Encode(p.Own(piece))
}

// Run computes the piece of that number of a pass, from the piece's rows. own are the bytes of EncodeOwn. Run returns
// the bytes of the result. Up to workers goroutines compute.
func Run(ctx context.Context, p block.Pass, own []byte, rows block.Source, number, workers int) ([]byte, error) {
	t := tasks[p.Task]
	if t == nil {
		return nil, fmt.Errorf("no task is called %q: the programs of the cluster differ: use the same version everywhere", p.Task)
	}
	var err error
	for _, v := range p.Views {
		known := views[v.Name]
		if known.of == nil {
			return nil, fmt.Errorf("no view is called %q: the programs of the cluster differ: use the same version everywhere", v.Name)
		}
		rows = known.of(rows, v.Args, workers)
	}
	var ownArgs any
	if of := t.own; of != nil {
		d := decoder{b: own}
		if ownArgs, err = d.any(of); err == nil {
			err = d.end()
		}
		if err != nil {
			return nil, err
		}
	}
	result, err := t.do(ctx, Piece{rows, number, workers, ownArgs}, p.Args)
	if err != nil {
		return nil, err
	}
	var e encoder
	err = e.value(reflect.ValueOf(&result).Elem().Elem())
	return e.b, err
}

// DecodeResult returns the result of a piece, in the result type of the pass's task.
func DecodeResult(p block.Pass, b []byte) (any, error) {
	t := tasks[p.Task]
	if t == nil {
		return nil, fmt.Errorf("no task is called %q", p.Task)
	}
	d := decoder{b: b}
	result, err := d.any(t.result)
	if err != nil {
		return nil, err
	}
	return result, d.end()
}
