// Package gat is the global allocation table: a small memory-mapped file in which the work-stealing jobs of one user on
// one machine tell each other how many processors they desire, and find how many they are allotted (document 003,
// section 6.2). There is no daemon. Any job may be killed or stopped between any two instructions. The package runs on
// Linux; elsewhere [Join] and [Read] fail with an error that wraps errors.ErrUnsupported, and jobs work alone.
//
// # The file
//
// It has a header, slots with one job each, and two vectors of allotments, one of which is active. [Path] is its
// default place. Jobs lock bytes of the file by locks of the open file description (F_OFD_SETLK):
//
//   - Byte 1+i is locked as long as the job in slot i lives. The kernel frees it when the job's process dies in
//     whatever way, so nothing depends on process ids.
//   - Byte 0 is locked while a job changes anything but its own figures: which slots are in use, the active vector, the
//     header.
//
// Every word is written atomically, with 4 or 8 bytes. A job writes its desire, usage, efficiency and heartbeat without
// a lock.
//
// # Rebalancing
//
// A rebalance holds byte 0. It reads the desires of the live jobs, computes the allotments by [allot.WaterFill], writes
// them to the vector that is not active, and makes that vector the active one by one store. Then it frees the slots of
// dead jobs. A job that dies at any point of it leaves either the old vector active or the new one. The next rebalance
// overwrites the rest of what the dead job has written.
//
// Byte 0 is only ever tried. A job that finds it locked keeps its allotment and tries again at its next update. So a
// job that is stopped (SIGSTOP) while it holds byte 0 stops all rebalancing, and nothing else: the others go on with
// the allotments that they have. New jobs cannot join meanwhile, and the processors of jobs that die are given to
// nobody. Because the lock is held through a stop, no job that goes on after one publishes a vector over a later one.
//
// A job rebalances at an update if its desire has changed, if it counts as stopped, if a job that it watches is dead,
// and at every tenth update. It watches the jobs in the slots after its own, up to the first that lives and has work:
// an idle job, with desire 0, makes no updates and watches nobody. So as long as a job that has work is not stopped,
// each dead job is watched. Its processors are given to others in the cycle after its death, and used by them in the
// next.
//
// # What holds
//
//   - The allotments of the active vector are together no more than the processors, if no more jobs than processors
//     desire any. If more jobs do, each of them is allotted one.
//   - No allotment in the active vector exceeds the desire that its rebalance read. A desire may have fallen since:
//     [Job.Update] and [Job.Allotment] never return more than the job's latest desire.
//   - While no job holds byte 0, no slot is free whose byte is locked, a free slot is allotted nothing, and a slot in
//     use whose byte is not locked is that of a dead job.
//   - An allotment bounds what a job uses only from the job's next update on. When one job's allotment shrinks and
//     another's grows, the second may use a processor up to a cycle before the first has given it back. The usages may
//     be together more than the processors for that time. The allotments may not.
//   - A job whose last update is more than two seconds and more than four cycles old counts as stopped: its desire
//     counts as its minimum, if that is less. The job keeps its slot, and has its place again after its next update.
//     Times are those of CLOCK_MONOTONIC, which all processes share. A time in the future counts as now. Jobs in a time
//     namespace with another offset can look stopped to the others.
//
// # Agreement
//
// All jobs of a table must agree on the number of processors and on the cycle. The first job, when no other is alive,
// writes its own to the header. A later job with others gets an error that wraps [ErrTerms]. So a change of the number
// of processors, as by taskset, takes hold when the last job with the old number has left. A job that is alone changes
// it by leaving and joining.
//
// # Trust
//
// The file belongs to one user and is writable by no other, which is checked. Jobs of one user trust each other: a job
// may desire more than it can use, but is not allotted more than its fair share for it; a job may ignore its allotment;
// a job may write to the file what it likes. Whatever is in the file, no job crashes or hangs because of it: figures
// are bounded when they are read, and a job whose slot, header or mapping is gone gets an error that wraps [ErrLost]
// and is alone from then on. Access to a part of the file that was truncated raises SIGBUS, which becomes that error as
// well.
//
// A table of another version, or of before the machine's last boot, is made anew if no job uses it. A file that does
// not begin like a table is left as it is.
//
// A job that finds, at a tenth update, that the file's name is gone or names another file, joins the table of that
// name, which it makes if need be.
//
// Descriptors are close-on-exec. A process that forks without exec, which no Go program does, would keep the jobs of
// its parent alive.
package gat
