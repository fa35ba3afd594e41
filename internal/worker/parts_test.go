package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// TestForget: a part is known while a training uses it, and takes no memory afterwards.
func TestForget(t *testing.T) {
	var s Parts
	for i := range 100 {
		parts := []Part{{URL: fmt.Sprintf("frame://%d/0.parquet", i), Size: 1, Head: []byte("x")}}
		forget, forgetToo := s.Add(parts), s.Add(parts)
		forget()
		if _, err := s.Stat(parts[0].URL); err != nil || len(s.All()) != 1 {
			t.Errorf("%d parts are known, and another pass uses one: error %v", len(s.All()), err)
		}
		forgetToo()
		if _, err := s.Open(parts[0].URL, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a part that nobody uses: error %v", err)
		}
	}
	if len(s.known) > 0 {
		t.Errorf("%d parts are known that nobody uses", len(s.known))
	}
}
