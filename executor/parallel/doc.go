// Package parallel implements loops, reductions, scans, sorting and searching in parallel.
//
//	o := parallel.Options{Executor: ex}
//	err := parallel.For(ctx, o, 0, len(pixels), func(i int) { pixels[i] = shade(i) })
//	sum, err := parallel.Reduce(ctx, o, weights, func(a, b int) int { return a + b })
//	err = parallel.Sort(ctx, o, keys)
//
// Every function waits until its work is done, and returns the same as a sequential function would. It may be called
// from anywhere, also from a task of the same executor, whose worker then takes part.
//
// Functions passed as arguments are called from several threads at the same time, each time for other elements. A nil
// function panics at the call.
//
// # What to call
//
//	for each index                    For
//	  with a step                     ForStep
//	  in blocks, for short bodies     ForBlocks
//	  in tiles of a matrix            ForTiles
//	for each element                  ForSlice
//	  of an iter.Seq                  ForEach
//	a slice from a slice              Map
//	  from two slices                 Map2
//	  a sequence from an iter.Seq     MapSeq
//	  of the elements to keep         Filter
//	  of any number for an element    FlatMap
//	one value from a slice            Reduce, MapReduce
//	  from indices                    ReduceFor
//	  in maps and other accumulators  Fold
//	the least and the greatest        MinMax, MinFunc, MaxFunc
//	  where they are                  MinIndex, MaxIndex, MinIndexFunc, MaxIndexFunc
//	sums up to each element           Scan, MapScan
//	  or before it                    ExclusiveScan, ExclusiveMapScan
//	the first that …                  IndexFunc
//	  whether there is one            ContainsFunc
//	order                             Sort, SortFunc, SortStableFunc, Merge
//
// Functions with the name of one in package slices do the same as that one, and say where they differ.
//
// # Errors
//
// Each of these functions that takes functions of elements or indices, except those that compare elements, has another
// form with the suffix Err: [ForErr], [MapErr], [ReduceErr] and so on. There the functions are given a context, and
// return an error besides their result:
//
//	err := parallel.ForErr(ctx, o, 0, len(urls), func(ctx context.Context, i int) error {
//		return fetch(ctx, urls[i])
//	})
//
// The context is that of the run. It ends when a function has returned an error, with the error as its cause, and when
// ctx ends. The call returns the first error in time, as the function has returned it. Later ones are left out. If ctx
// ends, the error matches ctx's, and also the first error of a function, if that one says anything else than that the
// context has ended. A panic is never left out.
//
// The sorts, [Merge], and the functions for the least and the greatest element have no Err form, like their namesakes
// in package slices. They compare an element with others again and again, in pairs that nobody should rely on: an
// order that may fail in the middle is seldom one. If the keys have to be read or parsed, make them first, by [MapErr],
// and compare the keys.
//
// While functions do not fail, ForErr takes 6 % longer than For with a body of 3 ns, and 2 % with bodies of 7 ns and
// more. ForSliceErr and MapErr take 18 to 20 % longer than ForSlice and Map with a body of 3 ns, 8 % with one of 7 ns,
// and 3 to 6 % with one of 22 ns. ForBlocksErr, whose function is called for a block, and Reduce and Scan from 10 ns
// on, take as long (AMD EPYC, Go 1.26, 2026-11-25).
//
// # Cancellation
//
// If ctx ends, work that has not begun is left out, and the error matches ctx's. A panic, which becomes a
// [*executor.PanicError], and an error of a function have the same effect. A worker whose function has failed begins no
// other call. Once the run knows of the end, each worker begins no more than this:
//
//   - calls for the rest of 64 elements in all loops, reductions, scans and searches, whatever the Grain. A Grain of 1
//     makes it no call: it suits functions that take long;
//   - [ForEach], [ForTiles], [MapSeq]: no call;
//   - [ForBlocks]: no call, but the blocks in progress are not cut short;
//   - [SortFunc] and [SortStableFunc]: the comparisons for one piece of Grain elements, by default 2048, for 64
//     elements with a pivot, or for the choice of the pivot out of 127; for one merge of 4096 elements in
//     [SortStableFunc], of Grain elements in [Merge].
//
// The run knows of an error at once, and of the end of ctx as soon as a goroutine of package context has run.
// Destination slices are then written in part. Slices to be sorted are sorted in part, but keep all their elements,
// except with [SortStableFunc] after a panic. Functions that return a value return the zero value, or -1 for an index.
package parallel
