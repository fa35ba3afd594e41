package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// TestParent: a child reads an array in the memory of this process, by process_vm_readv or by the descriptor, and rounds numbers of 64 bits. A file without its place in
// the variable, and memory that is no memory, are errors.
func TestParent(t *testing.T) {
	const rows, cols = 5000, 19
	path := filepath.Join(t.TempDir(), "X.npy")
	if os.Getenv("HALFSPACE_TEST_CHILD") != "" {
		readAsChild(os.Getenv("HALFSPACE_TEST_CHILD"))
		return
	}
	elements := make([]float32, rows*cols)
	floats, integers := make([]float64, rows*cols), make([]int64, rows*cols)
	for i := range elements {
		elements[i], floats[i], integers[i] = float32(i), float64(i)+1e-9, int64(i)
	}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n", rows, cols)
	content := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header))), header...)
	if err := os.WriteFile(path, append(content, make([]byte, 4*len(elements)+1)...), 0o600); err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skip(err)
	}
	defer memory.Close()
	large := make([]float64, rows*cols)
	large[1000*cols+17] = -1e39
	address := uintptr(unsafe.Pointer(unsafe.SliceData(elements)))
	wide, whole := uintptr(unsafe.Pointer(unsafe.SliceData(floats))), uintptr(unsafe.Pointer(unsafe.SliceData(integers)))
	for _, test := range []struct{ place, want string }{
		{fmt.Sprintf("%s=3:%d:%d", path, os.Getpid(), address), "right"},
		{fmt.Sprintf("/nowhere=4:1:1,%s=3:1:%d", path, address), "right"},
		{fmt.Sprintf("%s=3:%d:%d:f8", path, os.Getpid(), wide), "right"},
		{fmt.Sprintf("%s=3:1:%d:i8", path, whole), "right"},
		{fmt.Sprintf("%s=3:1:%d:f8", path, uintptr(unsafe.Pointer(unsafe.SliceData(large)))), "X.npy: -1e+39 is too large for float32, whose numbers go up to 3.4e+38"},
		{fmt.Sprintf("%s=3:1:%d:u8", path, whole), "1 bytes stand behind the array"},
		{fmt.Sprintf("%s=3:%d:4096:f8", path, os.Getpid()), "input/output error"},
		{fmt.Sprintf("%s=3:%d:4096", path, os.Getpid()), "input/output error"},
		{fmt.Sprintf("%s=77:1:%d", path, address), "bad file descriptor"},
		{fmt.Sprintf("%s=3:%d", path, os.Getpid()), "1 bytes stand behind the array"},
		{"", "1 bytes stand behind the array"},
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestParent$")
		child.Env = append(os.Environ(), "HALFSPACE_TEST_CHILD="+path, parentVariable+"="+test.place)
		child.ExtraFiles = []*os.File{memory}
		out, err := child.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte(test.want)) {
			t.Errorf("%s: %q, %v, and not %q", test.place, out, err, test.want)
		}
	}
	if large[0] != 0 || !slices.IsSorted(elements) || !slices.IsSorted(floats) || !slices.IsSorted(integers) { // they are in use up to here
		t.Error("elements changed")
	}
}

// readAsChild prints whether the array in a file has the numbers of TestParent.
func readAsChild(path string) {
	info, err := os.Stat(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := openArray(path, info)
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := a.read(1000, 3000, []int{0, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	var wrong []string
	for k, c := range []int{0, 4} {
		for r, v := range all[k].(*array.Float32).Float32Values() {
			if v != float32((1000+r)*int(a.cols)+c) {
				wrong = append(wrong, fmt.Sprint(r, c, v))
			}
		}
	}
	if len(wrong) > 0 {
		fmt.Println(strings.Join(wrong, ";"))
		return
	}
	fmt.Println("right")
}
