package files

import (
	"bytes"
	"encoding/json"
	"io"

	"halfspace/internal/store"
)

// JSONKind says which JSON of halfspace a file holds: "a model", "what check --json printed", or "" for neither.
func JSONKind(path string) string {
	if info, err := store.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // to open a pipe and close it again would end its writer
	}
	f, err := store.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	switch head = bytes.TrimSpace(head[:n]); {
	case !bytes.HasPrefix(head, []byte{'{'}):
		return ""
	case bytes.Contains(head, []byte(`"halfspace-model/`)):
		return "a model"
	case IsProof(path):
		return "what check --json printed"
	}
	return ""
}

// IsProof tells whether a file is what check --json prints.
func IsProof(path string) bool {
	f, err := store.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const most = 4096 // bytes, of which a key may have all
	d := json.NewDecoder(io.LimitReader(f, most))
	open, _ := d.Token()
	key, _ := d.Token()
	return open == json.Delim('{') && key == "separable"
}
