// Package distributed converts passes to bytes, for the engines that let other processes make them.
//
// An engine, such as Apache Beam, is a block.Cluster of the process that trains. It sends EncodePass and the EncodeOwn of
// each piece to its processes. They call DecodePass, read the rows of the piece, and call Run. DecodeResult decodes
// the result of Run, and MergeResults the results of all pieces. Any process may compute a piece, and more than once.
// Encode and Decode convert other values.
package distributed

import (
	"context"
	"reflect"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/passes"
)

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
	types, err := passes.TypesOf(p.Task)
	if err != nil {
		w.Fail(err)
		return
	}
	typedValue(w, &p.Args, types.Args)
	checkpoint.List(w, &p.Views, func(v *block.View) {
		w.Text(&v.Name)
		if args, err := passes.ArgsOfView(v.Name); err != nil {
			w.Fail(err)
		} else {
			typedValue(w, &v.Args, args)
		}
	})
}

// EncodeOwn returns the bytes of a piece's own arguments, or nil if it has none.
func EncodeOwn(p block.Pass, piece int) ([]byte, error) {
	if p.OwnArgs == nil {
		return nil, nil
	}
	types, err := passes.TypesOf(p.Task)
	if err != nil {
		return nil, err
	}
	own := p.OwnArgs(piece)
	return checkpoint.Write(func(w *checkpoint.Walk) { ownArgs(w, &own, p.Views, types.Own) })
}

// ownArgs writes or reads the own arguments of a piece: the rows that each view picks, and the arguments of type t of the
// task, unless t is nil.
func ownArgs(w *checkpoint.Walk, own *any, views []block.View, t reflect.Type) {
	for i, v := range views {
		if !passes.IsPick(v) {
			continue
		}
		var p passes.Picked
		if !w.IsReading() {
			p = (*own).(passes.Picked)
		}
		checkpoint.Slice(w, &p.Chosen)
		ownArgs(w, &p.Own, views[i+1:], t)
		*own = p
		return
	}
	if t != nil {
		typedValue(w, own, t)
	}
}

// Run computes the piece of that number of a pass, from the piece's rows. own are the bytes of EncodeOwn. Run returns
// the bytes of the result. Up to workers goroutines compute.
func Run(ctx context.Context, p block.Pass, own []byte, rows block.Source, number, workers int) ([]byte, error) {
	types, err := passes.TypesOf(p.Task)
	if err != nil {
		return nil, err
	}
	var args any
	if types.Own != nil || slices.ContainsFunc(p.Views, passes.IsPick) {
		if err := read(own, func(w *checkpoint.Walk) { ownArgs(w, &args, p.Views, types.Own) }); err != nil {
			return nil, err
		}
	}
	result, err := passes.Compute(ctx, p, args, passes.Piece{Source: rows, Number: number, Workers: workers})
	if err != nil {
		return nil, err
	}
	return Encode(result)
}

// MergeResults decodes the results of all pieces of a pass, and calls merge with each in order. It sets the elements of results
// to nil, which frees their memory.
func MergeResults(p block.Pass, results [][]byte, merge func(result any) error) error {
	for i := range results {
		r, err := DecodeResult(p, results[i])
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

// DecodeResult returns the result of a piece, in the result type of the pass's task.
func DecodeResult(p block.Pass, b []byte) (any, error) {
	types, err := passes.TypesOf(p.Task)
	if err != nil {
		return nil, err
	}
	return decodeValue(b, types.Result)
}
