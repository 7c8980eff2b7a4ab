// The driver of oneTBB.
#include "driver.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

using namespace driver;
namespace tbb = oneapi::tbb;

static int fork_fib(int n) {
	if (n < 2) {
		return n;
	}
	int x, y;
	tbb::task_group g;
	g.run([&x, n] { x = fork_fib(n - 1); });
	y = fork_fib(n - 2);
	g.wait();
	return x + y;
}

static int fork_queens(board b);

static int fork_places(board b, uint32_t free) {
	if (free == 0) {
		return 0;
	}
	auto first = b.with(free & -free);
	auto rest = free & (free - 1);
	if (rest == 0) {
		return fork_queens(first);
	}
	int x, y;
	tbb::task_group g;
	g.run([&x, b, rest] { x = fork_places(b, rest); });
	y = fork_queens(first);
	g.wait();
	return x + y;
}

static int fork_queens(board b) { return b.columns == b.all ? 1 : fork_places(b, b.free()); }

int main(int argc, char **argv) {
	auto a = parse(argc, argv);
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, a.workers);
	tbb::task_arena arena(a.workers);
	int n = a.n;
	if (a.bench == "fib") {
		int want = fib(n), got;
		print(a, [&] {
			auto took = timed([&] { arena.execute([&] { got = fork_fib(n); }); });
			expect(got, want);
			return took;
		});
	} else if (a.bench == "queens") {
		int want = queens(empty_board(n)), got;
		print(a, [&] {
			auto took = timed([&] { arena.execute([&] { got = fork_queens(empty_board(n)); }); });
			expect(got, want);
			return took;
		});
	} else if (a.bench == "fan") {
		print(a, [&] {
			std::atomic<int> ran{0};
			auto took = timed([&] {
				arena.execute([&] {
					tbb::task_group g;
					for (int i = 0; i < n; i++) {
						g.run([&] { ran++; });
					}
					g.wait();
				});
			});
			expect(ran, n);
			return took;
		});
	} else if (a.bench == "dag") {
		auto want = front(n);
		std::vector<uint64_t> grid(n * n);
		using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
		arena.execute([&] {
			tbb::flow::graph g;
			std::vector<std::unique_ptr<node>> nodes;
			for (int i = 0; i < n * n; i++) {
				nodes.push_back(std::make_unique<node>(g, [&grid, n, i](tbb::flow::continue_msg) { put(grid, n, i); }));
				if (i >= n) {
					tbb::flow::make_edge(*nodes[i - n], *nodes[i]);
				}
				if (i % n > 0) {
					tbb::flow::make_edge(*nodes[i - 1], *nodes[i]);
				}
			}
			print(a, [&] {
				std::fill(grid.begin(), grid.end(), 0);
				auto took = timed([&] {
					nodes[0]->try_put(tbb::flow::continue_msg());
					g.wait_for_all();
				});
				if (grid != want) {
					fail("wrong answer: the grid differs");
				}
				return took;
			});
		});
	} else if (a.bench == "sort") {
		auto random = random_numbers(n), s = random, want = random;
		std::sort(want.begin(), want.end());
		print(a, [&] {
			s = random;
			auto took = timed([&] { arena.execute([&] { tbb::parallel_sort(s.begin(), s.end()); }); });
			if (s != want) {
				fail("wrong answer: the numbers are not sorted");
			}
			return took;
		});
	} else if (a.bench == "run" || a.bench == "rare") {
		// Enqueued, so that another thread calls it: arena.execute would call it here.
		tbb::task_arena other(a.workers, 0);
		print(a, [&] {
			if (a.bench == "rare") {
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
			std::atomic<bool> done{false};
			return timed([&] {
				other.enqueue([&] { done = true; done.notify_one(); });
				done.wait(false);
			});
		});
	} else {
		fail("onetbb does not do " + a.bench);
	}
}
