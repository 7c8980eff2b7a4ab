// Package cluster runs graphs of registered functions on many machines, over NATS JetStream.
//
// A [Registry] gives functions names. A [Graph] is made of calls of registered functions and of edges between them; it
// is data, and may be sent to other machines. [Run] runs it on a local executor. [Client.Submit] cuts it into
// partitions, and workers of a queue run each partition as one run of an executor: [NewWorker] makes one, and
// cmd/magpie-worker is a program to copy. [Client.Run] is Submit and Wait, and runs a graph that is worth less than one
// partition where it is called, if the client has an executor and the functions.
//
//	reg := cluster.NewRegistry()
//	resize := cluster.Register(reg, "resize", func(ctx context.Context, in Image) (Image, error) { … })
//	album := cluster.RegisterAll(reg, "album", func(ctx context.Context, in []Image) (Album, error) { … })
//
//	g := cluster.NewGraph("album")
//	a := resize.Call(g, cluster.Value(first))
//	b := resize.Call(g, cluster.Value(second))
//	all := album.Call(g, a, b)
//	res, err := cluster.Run(ctx, ex, reg, g)
//	result, err := all.Result(res)
//
// The promise: the effects of a call may happen more than once, and the result of each call is recorded once. So
// functions must be idempotent.
//
// There is no coordinator. All that is known of a run is in the streams of the server, and any worker goes on with what
// another has begun. PROTOCOL.md describes the protocol, and README.md how servers and workers are set up.
//
// The package is in a module of its own, so that other users of Magpie do not depend on NATS. Until there is a release,
// a program needs a checkout of Magpie and two replace directives in its own go.mod, for github.com/magpie-go/magpie
// and for this module: the directive in this module's go.mod has no effect there.
//
// # Functions
//
// The inputs and the result of a function are values of any types that a [Codec] can encode. A submitter and a worker
// have registries of their own, of different versions of a program perhaps. They agree on a function if they have the
// same [Signature]: name, structure of types, codecs. Where a function is missing, or has another signature, the error
// is a [MissingError].
//
// A function is called with values that others may have, so it must not change its inputs. It may be called by several
// calls at the same time. It may be called again for the same call, after a failure of the machine: then [Key] is the
// same. [Rehearse] finds most functions whose results depend on where they run.
//
// # Values
//
// Calls of one executor pass values as they are, as tasks of package graph do: a result that two calls take is the same
// value for both. Between partitions values are encoded, and each partition has its own copy. The values of a [Value]
// are encoded in the graph, and each call that takes one has its own copy.
//
// Of the results of a run are kept those that no other call takes, and those of [Call.Keep].
//
// # Other calls
//
// With [Choose] a call decides which of some others runs. A function of [RegisterSub] adds calls while the graph runs.
// [Call.Hold] bounds how many calls run at a time, [Call.Retries] calls a function again that has failed, [Call.After]
// orders calls that pass no value. Each call runs once in a run, or not at all: there are no loops. A function of
// [RegisterSub] that calls itself takes their place.
//
// # Partitions
//
// A partition waits for the results of others before it begins, and gives its own when it has ended. So partitions are
// cut in such a way that no two wait for each other. [Call.Cost] says what a call is worth, and [ClientConfig.Target]
// what a partition is to be worth. Calls are together, as long as they are worth less: first with the only call that
// they wait for, or that waits for them, of the largest [Call.Size] first; then with those beside them. Calls of one
// [Call.Colocate] key are always together, and so are those that hold one [Semaphore], a call that chooses with those
// that it chooses from, and all calls between these.
package cluster
