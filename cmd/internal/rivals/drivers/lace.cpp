// The driver of Lace.
#include "driver.h"

#include <lace.h>

using namespace driver;

TASK_1(int, fork_fib, int, n) {
	if (n < 2) {
		return n;
	}
	SPAWN(fork_fib, n - 1);
	int y = CALL(fork_fib, n - 2);
	int x = SYNC(fork_fib);
	return x + y;
}

TASK_DECL_1(int, fork_queens, board);

TASK_2(int, fork_places, board, b, uint32_t, free) {
	if (free == 0) {
		return 0;
	}
	auto first = b.with(free & -free);
	auto rest = free & (free - 1);
	if (rest == 0) {
		return CALL(fork_queens, first);
	}
	SPAWN(fork_places, b, rest);
	int y = CALL(fork_queens, first);
	int x = SYNC(fork_places);
	return x + y;
}

TASK_IMPL_1(int, fork_queens, board, b) { return b.columns == b.all ? 1 : CALL(fork_places, b, b.free()); }

TASK_1(int, fork_fat, int, depth) {
	if (depth == 0) {
		return 1;
	}
	for (int i = 1; i < fat_children; i++) {
		SPAWN(fork_fat, depth - 1);
	}
	int n = 1 + CALL(fork_fat, depth - 1);
	for (int i = 1; i < fat_children; i++) {
		n += SYNC(fork_fat);
	}
	return n;
}

TASK_1(int, fork_thin, int, depth) {
	if (depth == 0) {
		return 1;
	}
	SPAWN(fork_thin, depth - 1);
	int n = 1 + CALL(fork_thin, depth - 1);
	return n + SYNC(fork_thin);
}

TASK_1(int, count, std::atomic<int> *, ran) { return ++*ran; }

VOID_TASK_2(fan, int, n, std::atomic<int> *, ran) {
	for (int i = 0; i < n; i++) {
		SPAWN(count, ran);
	}
	for (int i = 0; i < n; i++) {
		SYNC(count);
	}
}

int main(int argc, char **argv) {
	auto a = parse(argc, argv);
	int n = a.n;
	lace_start(a.workers, std::max(n, 100000) + 100); // tasks that a worker's deque has room for
	if (a.bench == "fib") {
		answer(a, fib(n), [&] { return RUN(fork_fib, n); });
	} else if (a.bench == "queens") {
		answer(a, queens(empty_board(n)), [&] { return RUN(fork_queens, empty_board(n)); });
	} else if (a.bench == "fat") {
		answer(a, nodes(fat_children, n), [&] { return RUN(fork_fat, n); });
	} else if (a.bench == "thin") {
		answer(a, nodes(2, n), [&] { return RUN(fork_thin, n); });
	} else if (a.bench == "fan" || a.bench == "run" || a.bench == "rare") {
		if (a.bench != "fan") {
			n = 1;
		}
		print(a, [&] {
			if (a.bench == "rare") {
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
			std::atomic<int> ran{0};
			auto took = timed([&] { n == 1 ? (void)RUN(count, &ran) : RUN(fan, n, &ran); });
			expect(ran, n);
			return took;
		});
	} else {
		fail("lace does not do " + a.bench);
	}
	lace_stop();
}
