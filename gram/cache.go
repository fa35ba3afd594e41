package gram

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
)

// A RowCache computes rows of a Gram matrix on demand, and keeps as many rows as its memory holds. The elements have
// the same bits as in the matrix that Gram computes. It isn't safe for concurrent use.
//
// It evicts the row with the fewest requests, including requests that computed the row. Of rows with equal requests it
// evicts the most recently used row: a training that passes over all rows again will need that row last.
type RowCache struct {
	x             *Rows
	kernel        *mercerMap // kernel of x with itself
	workers       int
	capacity      int // number of rows that the memory holds
	slotCount     int // number of slots
	freeSlots     []*slot
	rows          []*slot  // cached rows: a heap with the next row to evict first
	slotOf        []*slot  // slot of each row; nil if the row isn't cached
	requestCounts []uint32 // number of requests of each row
	clock         int64
	computedRows  int64
	mirrors       []mirror

	batch       int     // most rows of the next batch
	latestBatch []*slot // rows of the latest batch
}

// A slot is memory for a row.
type slot struct {
	row          uint32
	usedAt       int64 // clock of its last use
	pinnedAt     int64 // clock when it was last found to be needed soon
	wasRequested bool  // it was requested after it was computed
	heapIndex    int   // in the heap
	values       []float32
}

// A batch of rows is computed together. It has leastBatch rows, which cost little more than one row, up to the number
// of columns of a tile. It grows to mostBatch while predicted rows are requested, because the other rows are packed
// once for the whole batch.
const (
	leastBatch = 16
	mostBatch  = 64
)

// slabBytes is the approximate size of one allocation.
const slabBytes = 64 << 20

// NewRowCache returns a cache of rows of the Gram matrix of x with bytes of memory, computed on workers goroutines. It
// returns an error if there are no rows, or if the memory doesn't hold one row, and ctx's error.
func NewRowCache(ctx context.Context, x *Rows, k Kernel, bytes int64, workers int) (*RowCache, error) {
	workers, err := checkRows(workers, x)
	if err != nil {
		return nil, err
	}
	m, err := newMap(ctx, k, x, x, workers)
	if err != nil {
		return nil, err
	}
	if x.n == 0 {
		return nil, errors.New("there are no rows to multiply")
	}
	c := &RowCache{x: x, kernel: m, workers: workers, slotOf: make([]*slot, x.n), requestCounts: make([]uint32, x.n)}
	c.capacity = int(min(int64(x.n), bytes/c.rowBytes()))
	if c.capacity < 1 {
		return nil, fmt.Errorf("%d bytes are too few for inner products: those of one row with all others take %d", bytes, c.rowBytes())
	}
	c.batch = leastBatch
	c.mirrors = make([]mirror, c.workers)
	return c, nil
}

func (c *RowCache) rowBytes() int64 {
	return int64(kernel.Stride(c.x.n)) * 4
}

// ComputedRows returns the number of rows computed so far.
func (c *RowCache) ComputedRows() int64 { return c.computedRows }

// Row returns row i, which is valid until the next call. ahead yields the rows that will probably be requested next. If
// Row has to compute row i, it computes some of these rows in the same batch.
func (c *RowCache) Row(ctx context.Context, i int, ahead iter.Seq[uint32]) ([]float32, error) {
	if c.x == nil {
		return nil, errors.New("the cache has no rows: make it by NewRowCache")
	}
	if i < 0 || i >= c.x.n {
		return nil, fmt.Errorf("there is no row %d among %d", i, c.x.n)
	}
	c.requestCounts[i]++
	c.clock++
	if s := c.slotOf[i]; s != nil {
		s.usedAt, s.wasRequested = c.clock, true
		heap.Fix((*slotHeap)(c), s.heapIndex)
		return s.values, nil
	}
	c.adapt()
	batch, most := []uint32{uint32(i)}, min(c.batch, max(1, c.capacity/2))
	for r := range ahead {
		if s := c.slotOf[r]; s != nil {
			s.pinnedAt = c.clock
		} else if !slices.Contains(batch, r) {
			batch = append(batch, r)
		}
		if len(batch) >= most {
			break
		}
	}
	slots := c.room(len(batch))
	batch = batch[:len(slots)]
	if err := c.compute(ctx, batch, slots); err != nil {
		c.freeSlots = append(c.freeSlots, slots...)
		return nil, err
	}
	for k, s := range slots {
		s.row, s.usedAt, s.wasRequested = batch[k], c.clock, k == 0
		c.slotOf[s.row] = s
		heap.Push((*slotHeap)(c), s)
	}
	c.latestBatch = slots
	c.computedRows += int64(len(batch))
	return slots[0].values, nil
}

// adapt makes batches larger if most rows of the latest batch were requested, and smaller otherwise.
func (c *RowCache) adapt() {
	asked := 0
	for _, s := range c.latestBatch {
		if s.wasRequested {
			asked++
		}
	}
	switch {
	case len(c.latestBatch) < c.batch:
	case 4*asked >= 3*c.batch:
		c.batch = min(mostBatch, 2*c.batch)
	default:
		c.batch = max(leastBatch, c.batch/2)
	}
}

// room takes up to n slots, and at least one: free slots, or slots of evicted rows. It evicts a row that is needed soon
// only if all rows are needed soon.
func (c *RowCache) room(n int) (slots []*slot) {
	var kept []*slot
	for len(slots) < n {
		if len(c.freeSlots) == 0 && c.slotCount < c.capacity {
			c.grow()
		}
		if last := len(c.freeSlots) - 1; last >= 0 {
			slots, c.freeSlots = append(slots, c.freeSlots[last]), c.freeSlots[:last]
			continue
		}
		if len(c.rows) == 0 {
			break
		}
		s := heap.Pop((*slotHeap)(c)).(*slot)
		if s.pinnedAt == c.clock {
			kept = append(kept, s)
			continue
		}
		c.slotOf[s.row] = nil
		slots = append(slots, s)
	}
	if len(slots) == 0 {
		c.slotOf[kept[0].row] = nil
		slots, kept = kept[:1], kept[1:]
	}
	for _, s := range kept {
		heap.Push((*slotHeap)(c), s)
	}
	return slots
}

// grow allocates more slots.
func (c *RowCache) grow() {
	n := min(c.capacity-c.slotCount, max(1, int(slabBytes/c.rowBytes())))
	stride := kernel.Stride(c.x.n)
	slab := block.Alloc[float32](n * stride)
	for k := range n {
		c.freeSlots = append(c.freeSlots, &slot{values: slab[k*stride:][:c.x.n]})
	}
	c.slotCount += n
}

// compute sets the slots to rows of the matrix. It multiplies all rows with the rows of the batch, and transposes each
// block into the slots. So each row of x is packed once, by the worker that uses it.
func (c *RowCache) compute(ctx context.Context, batch []uint32, slots []*slot) error {
	apply := *c.kernel
	if c.kernel.Kind == RBF {
		apply.y = make([]float32, len(batch))
		for k, r := range batch {
			apply.y[k] = c.kernel.x[r]
		}
	}
	put := putFor(int64(len(batch)) * c.rowBytes())
	p := newProduct(c.x, c.x.pick(batch), false)
	p.finish = func(worker int, b *part) {
		m := &c.mirrors[worker]
		length := m.transpose(b, func(r int, row []float32) { apply.row(row, b.i+r, b.j) })
		for k := range b.cols {
			put(slots[b.j+k].values[b.i:b.i+b.rows], m.columns[k*length:][:b.rows])
		}
		microkernel.Fence()
	}
	return p.run(ctx, c.workers)
}

// A slotHeap is the rows of a cache as a heap.
type slotHeap RowCache

func (h *slotHeap) Len() int { return len(h.rows) }

func (h *slotHeap) Less(a, b int) bool {
	x, y := h.rows[a], h.rows[b]
	if h.requestCounts[x.row] != h.requestCounts[y.row] {
		return h.requestCounts[x.row] < h.requestCounts[y.row]
	}
	return x.usedAt > y.usedAt
}

func (h *slotHeap) Swap(a, b int) {
	h.rows[a], h.rows[b] = h.rows[b], h.rows[a]
	h.rows[a].heapIndex, h.rows[b].heapIndex = a, b
}

func (h *slotHeap) Push(s any) {
	s.(*slot).heapIndex = len(h.rows)
	h.rows = append(h.rows, s.(*slot))
}

func (h *slotHeap) Pop() any {
	last := len(h.rows) - 1
	s := h.rows[last]
	h.rows = h.rows[:last]
	return s
}
