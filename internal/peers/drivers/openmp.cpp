// The driver of OpenMP, as the compiler has it.
#include "driver.h"

#include <omp.h>

using namespace driver;

static int fork_fib(int n) {
	if (n < 2) {
		return n;
	}
	int x, y;
#pragma omp task shared(x)
	x = fork_fib(n - 1);
	y = fork_fib(n - 2);
#pragma omp taskwait
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
#pragma omp task shared(x)
	x = fork_places(b, rest);
	y = fork_queens(first);
#pragma omp taskwait
	return x + y;
}

static int fork_queens(board b) { return b.columns == b.all ? 1 : fork_places(b, b.free()); }

int main(int argc, char **argv) {
	auto a = parse(argc, argv);
	omp_set_num_threads(a.workers);
	int n = a.n;
	if (a.bench == "fib" || a.bench == "queens") {
		bool is_fib = a.bench == "fib";
		int want = is_fib ? fib(n) : queens(empty_board(n)), got;
		print(a, [&] {
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				got = is_fib ? fork_fib(n) : fork_queens(empty_board(n));
			});
			expect(got, want);
			return took;
		});
	} else if (a.bench == "fan") {
		print(a, [&] {
			std::atomic<int> ran{0};
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				for (int i = 0; i < n; i++) {
#pragma omp task shared(ran)
					ran++;
				}
			});
			expect(ran, n);
			return took;
		});
	} else if (a.bench == "dag") {
		auto want = front(n);
		std::vector<uint64_t> grid(n * n);
		std::vector<char> cells((n + 1) * (n + 1)); // cell (i+1, j+1) stands for place (i, j), in dependences
		print(a, [&] {
			std::fill(grid.begin(), grid.end(), 0);
			auto *c = cells.data();
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				for (int i = 0; i < n; i++) {
					for (int j = 0; j < n; j++) {
						auto *up = c + i * (n + 1) + j + 1, *left = c + (i + 1) * (n + 1) + j, *here = left + 1;
						(void)up, (void)left, (void)here;
#pragma omp task depend(in : *up, *left) depend(out : *here) shared(grid)
						put(grid, n, i * n + j);
					}
				}
			});
			if (grid != want) {
				fail("wrong answer: the grid differs");
			}
			return took;
		});
	} else if (a.bench == "run" || a.bench == "rare") {
		print(a, [&] {
			if (a.bench == "rare") {
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
			int ran = 0;
			auto took = timed([&] {
#pragma omp parallel
#pragma omp single
				ran++;
			});
			expect(ran, 1);
			return took;
		});
	} else {
		fail("openmp does not do " + a.bench);
	}
}
