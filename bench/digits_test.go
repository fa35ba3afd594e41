package bench

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/schema"
	"halfspace/train/learner"
)

// mnist reads the first rows of the handwritten digits of LeCun, Cortes and Burges. folder holds their compressed
// files; part is "train" or "test". Features are pixels from 0 to 1, without a bias. Classes are the digits.
func mnist(folder, part string, rows int) (*block.Data, error) {
	images, err := idx(filepath.Join(folder, part+"-images.idx3.gz"), 16, rows*784)
	if err != nil {
		return nil, err
	}
	labels, err := idx(filepath.Join(folder, part+"-labels.idx1.gz"), 8, rows)
	if err != nil {
		return nil, err
	}
	spec := &schema.Spec{Label: "digit"}
	for i := range 784 {
		spec.Features = append(spec.Features, "pixel"+strconv.Itoa(i))
	}
	for c := range 10 {
		spec.Classes = append(spec.Classes, schema.IntClass(int64(c)))
	}
	var blocks []*block.Block
	per := block.Rows(784)
	for first := 0; first < rows; first += per {
		b := block.New(int64(first), min(per, rows-first), 784)
		for r := range b.Len() {
			for i, v := range images[(first+r)*784:][:784] {
				b.X[r*b.Stride+i] = float32(v) / 255
			}
			b.Y[r] = float32(labels[first+r])
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks), nil
}

// idx reads n bytes after the header of a compressed IDX file. The file's first 32 bits must say that it holds bytes,
// in as many dimensions as the header has room for.
func idx(path string, header, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b := make([]byte, header+n)
	if _, err := io.ReadFull(z, b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if binary.BigEndian.Uint32(b) != 0x800+uint32(header/4-1) {
		return nil, errors.New(path + ": not an IDX file of bytes")
	}
	return b[header:], nil
}

// loadClasses reads rows, those of a class against the rest unless it is "".
func loadClasses(path, class string, opt dataset.Options) (*block.Data, error) {
	data, err := dataset.Load(context.Background(), path, opt)
	if err != nil || class == "" {
		return data, err
	}
	for k, c := range data.Spec().Classes {
		if strings.Contains(c.String(), class) {
			return learner.VersusRest(data, k).(*block.Data), nil
		}
	}
	return nil, fmt.Errorf("%s: no class %s", path, class)
}
