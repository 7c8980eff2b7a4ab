// Package cluster runs graphs of registered functions on many machines, over NATS JetStream.
//
// A [Registry] gives functions names. A [Graph] is made of calls of registered functions and of edges between them; it
// is data, and may be sent to other machines. [Run] runs it on a local executor. [Client.Submit] cuts it into
// partitions, and workers of a queue run each partition as one run of an executor. A graph that is worth less than one
// partition runs where it was submitted.
//
// The promise: the effects of a call may happen more than once, and the result of each call is recorded once. So
// functions must be idempotent.
//
// There is no coordinator. All that is known of a run is in the streams of the server, and any worker goes on with what
// another has begun. PROTOCOL.md describes the protocol.
package cluster
