package engine

import (
	"strconv"
	"sync"

	"halfspace/internal/worker"
)

// blockBytes is the number of bytes of a part that this process asks for at once: an engine takes a good part of a second to answer.
const blockBytes = 8 << 20

// mostBlocks is the number of blocks that this process keeps.
const mostBlocks = 16

// blocks are the bytes of parts that were read last.
type blocks struct {
	mu   sync.Mutex
	kept []keptBlock // the last used one at the end
}

type keptBlock struct {
	url   string
	start int64
	bytes []byte
}

// find returns the block of a part that begins at start, or nil. It keeps the block as the last used one.
func (b *blocks) find(url string, start int64) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, k := range b.kept {
		if k.url == url && k.start == start {
			b.kept = append(append(b.kept[:i:i], b.kept[i+1:]...), k)
			return k.bytes
		}
	}
	return nil
}

// keep keeps a block.
func (b *blocks) keep(k keptBlock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(b.kept[max(0, len(b.kept)+1-mostBlocks):], k)
}

// read reads bytes of a part by the adapter; see worker.Parts.
func (a *adapter) read(p worker.Part, to []byte, offset int64) error {
	for len(to) > 0 {
		start := offset / blockBytes * blockBytes
		of := a.blocks.find(p.URL, start)
		if of == nil {
			length := min(blockBytes, p.Size-start)
			texts, err := a.ask(a.ctx,
				message{[]byte("read"), []byte(p.URL), strconv.AppendInt(nil, start, 10), strconv.AppendInt(nil, length, 10)})
			if err != nil {
				return err
			}
			if len(texts) != 1 || int64(len(texts[0])) != length {
				return errGarbled
			}
			of = texts[0]
			a.blocks.keep(keptBlock{p.URL, start, of})
		}
		n := copy(to, of[offset-start:])
		to, offset = to[n:], offset+int64(n)
	}
	return nil
}
