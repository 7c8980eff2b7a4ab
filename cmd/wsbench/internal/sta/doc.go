// Package sta is static timing analysis: the times at which the nets of a circuit settle, and those at which they would
// have to, for a clock with a given period.
//
//	t := sta.New(c, period, corners)
//	t.Resize(gate, 2)            // or Connect, Disconnect, Insert, Remove; and then either
//	t.Update().Serial()          // or
//	ex.Run(ctx, t.Update().Graph())
//	worst, total := t.Slack()
//
// # The model
//
// A gate has a size. A larger gate drives a load faster, and is itself a larger load for the gates before it. The delay
// of a gate is linear in its load, the capacitances of the pins and wires that it drives, and in the slew of its
// slowest input; the slew of its output is, too. A net's arrival time is the latest among the inputs of its gate, plus
// the delay. Its required time is the earliest that the gates after it allow, or the period at an output. Slack is
// required time minus arrival time. Rising and falling edges, early arrivals and the delays of wires are left out.
//
// All this is computed in several corners, combinations of process, voltage and temperature: in each, gates and wires
// differ from the nominal ones. The number of corners decides how much work a task has. Tools for real designs analyse
// ten and more, and look up delays in tables.
//
// # Updates
//
// After a change of a gate's size or inputs, an [Update] computes again what may have changed, as a task graph with a
// task for each net and direction. It is that of OpenTimer (commit 1608e74a, Timer::_build_prop_tasks) with gates for
// pins:
//
//   - The load of the drivers of the gate changes, and their delay and slew. Forward tasks compute the slew, delay and
//     arrival time of the gate, its drivers, those it had before, and all gates that these reach: the forward cone. A
//     task follows those of the gates that it reads.
//   - All these delays may have changed. Backward tasks compute the required time of the nets in the forward cone and
//     of all from which the cone is reached: the backward cone. A task follows those of the gates that read the net,
//     or the forward task of the net if no gate reads it.
//
// Both cones are computed whole. Propagation does not stop at a value that has not changed, for the tasks are made
// before any of them runs.
//
// Every task computes its value from others by the same operations as a full analysis. So an update, in whatever order
// its tasks run, leaves the same bits as [Timer.Full].
package sta
