// Package osthread is what the executor and wsbench ask the operating system: who the calling thread is, how it is
// scheduled, and what the process has used and may still use.
//
// Functions about the calling thread are for goroutines that are locked to it with runtime.LockOSThread.
package osthread
