package npy

import (
	"os"
	"strconv"
	"strings"
)

// parentVariable is the variable of the environment that names arrays in the memory of the parent process. It is a list of
// PATH=DESCRIPTOR:PID:ADDRESS, separated by commas. The file PATH has the header of an array, and a hole of a byte more than the
// elements take. The elements are in the memory of the process PID from ADDRESS on, and DESCRIPTOR is the process's open /proc/self/mem. The parent
// changes no element while the command runs. So a program passes an array without a copy.
const parentVariable = "HALFSPACE_ARRAYS"

// parentMemory is where the elements of an array are in the memory of the parent process.
type parentMemory struct {
	descriptor, pid int
	address         int64
}

// inParent returns where the elements of the array in a file are in the parent's memory, or nil if they are in the file.
func inParent(path string) *parentMemory {
	for _, one := range strings.Split(os.Getenv(parentVariable), ",") {
		name, place, _ := strings.Cut(one, "=")
		numbers := strings.Split(place, ":")
		if name != path || len(numbers) != 3 {
			continue
		}
		descriptor, err1 := strconv.Atoi(numbers[0])
		pid, err2 := strconv.Atoi(numbers[1])
		address, err3 := strconv.ParseInt(numbers[2], 10, 64)
		if err1 == nil && err2 == nil && err3 == nil && descriptor >= 0 && address > 0 {
			return &parentMemory{descriptor, pid, address}
		}
	}
	return nil
}
