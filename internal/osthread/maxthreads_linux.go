package osthread

import "runtime/debug"

var maximum = threadMaximum{set: debug.SetMaxThreads, guess: 10000} // the runtime's default
