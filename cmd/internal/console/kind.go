package console

import (
	"bytes"
	"encoding/json"
	"io"

	"halfspace/internal/blob"
)

// JSONKind returns which JSON of halfspace a file holds: "a model", "what check --json printed", or "" for any other
// file.
func JSONKind(path string) string {
	if info, err := blob.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // opening a pipe and closing it again would end its writer
	}
	f, err := blob.Open(path)
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

// IsProof tells whether a file looks like the output of check --json: its first key is "separable".
func IsProof(path string) bool {
	f, err := blob.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const most = 4096 // bytes to read; a key may take all of them
	d := json.NewDecoder(io.LimitReader(f, most))
	open, _ := d.Token()
	key, _ := d.Token()
	return open == json.Delim('{') && key == "separable"
}
