package executor

import "unsafe"

// groupTaskOf returns the task of a Group that it is part of.
func groupTaskOf(it *Item) *groupTask { return (*groupTask)(unsafe.Pointer(it)) }

// groupBatchOf returns the batch that it is part of.
func groupBatchOf(it *Item) *groupBatch { return (*groupBatch)(unsafe.Pointer(it)) }

// groupRunOf returns the run of a Group that b is part of.
func groupRunOf(b *Body) *groupRun { return (*groupRun)(unsafe.Pointer(b)) }

// code returns the address of the function's code.
func (f groupFunction) code() uintptr {
	if f.fn != nil {
		return codeOf(&f.fn)
	}
	return codeOf(&f.cfn)
}

const (
	_ = -unsafe.Offsetof(groupTask{}.Item)
	_ = -unsafe.Offsetof(groupBatch{}.Item)
	_ = -unsafe.Offsetof(groupRun{}.Body)
)
