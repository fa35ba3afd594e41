package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is the structure MEMORYSTATUSEX.
type memoryStatus struct {
	length                  uint32
	load                    uint32 // percentage in use
	totalPhys, availPhys    uint64
	totalPage, availPage    uint64
	totalVirtual, available uint64
	availExtendedVirtual    uint64
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

func available() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	if globalMemoryStatus.Find() != nil {
		return 0
	}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0
	}
	return share(s.availPhys, 100)
}
